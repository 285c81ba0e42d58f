"""A reference desk for documents: it answers with checked citations, or says that it does not know."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from refdesk.blocking import BlockingDesk
    from refdesk.blocking import BlockingDesk as open  # noqa: N813
    from refdesk.configuration import load_pipeline
    from refdesk.context import Answer, Citation, Context, Evidence, Turn
    from refdesk.desk import Desk, aopen
    from refdesk.documents import Chunk, Collection, Document, DocumentRecord, Hit, Scope
    from refdesk.errors import PipelineError, RefdeskError
    from refdesk.events import Done, Event, IngestEvent, Token
    from refdesk.ingest import Summary
    from refdesk.loop.tools import Tool, tool
    from refdesk.pipeline import Pipeline, Run, Step
    from refdesk.results import Results
    from refdesk.settings import Settings
    from refdesk.steps import Loop
    from refdesk.support import Grounding

__version__ = "0.1.0"

_HOME = {
    "blocking": ("BlockingDesk",),
    "configuration": ("load_pipeline",),
    "context": ("Answer", "Citation", "Context", "Evidence", "Turn"),
    "desk": ("Desk", "aopen"),
    "documents": ("Chunk", "Collection", "Document", "DocumentRecord", "Hit", "Scope"),
    "errors": ("PipelineError", "RefdeskError"),
    "events": ("Done", "Event", "IngestEvent", "Token"),
    "ingest": ("Summary",),
    "loop.tools": ("Tool", "tool"),
    "pipeline": ("Pipeline", "Run", "Step"),
    "results": ("Results",),
    "settings": ("Settings",),
    "steps": ("Loop",),
    "support": ("Grounding",),
}
_MODULE = {name: module for module, names in _HOME.items() for name in names} | {"open": "blocking"}

__all__ = [
    "Answer",
    "BlockingDesk",
    "Chunk",
    "Citation",
    "Collection",
    "Context",
    "Desk",
    "Document",
    "DocumentRecord",
    "Done",
    "Event",
    "Evidence",
    "Grounding",
    "Hit",
    "IngestEvent",
    "Loop",
    "Pipeline",
    "PipelineError",
    "RefdeskError",
    "Results",
    "Run",
    "Scope",
    "Settings",
    "Step",
    "Summary",
    "Token",
    "Tool",
    "Turn",
    "aopen",
    "load_pipeline",
    "open",
    "tool",
]


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used, so that importing refdesk costs nothing."""
    if name not in _MODULE:
        raise AttributeError(f"module 'refdesk' has no attribute {name!r}")
    return getattr(import_module(f"refdesk.{_MODULE[name]}"), "BlockingDesk" if name == "open" else name)
