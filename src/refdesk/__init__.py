"""A reference desk for documents: it answers with checked citations, or says that it does not know."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from refdesk.blocking import BlockingDesk
    from refdesk.blocking import BlockingDesk as open  # noqa: N813
    from refdesk.context import Answer, Citation, Evidence
    from refdesk.desk import Desk, aopen
    from refdesk.documents import Chunk, Collection, Document, DocumentRecord, Hit, Scope
    from refdesk.errors import RefdeskError
    from refdesk.events import AnswerEvent, Done, IngestEvent, Token
    from refdesk.ingest import Summary
    from refdesk.retrieval import Results
    from refdesk.settings import Settings

__version__ = "0.1.0"

_HOME = {
    "blocking": ("BlockingDesk",),
    "context": ("Answer", "Citation", "Evidence"),
    "desk": ("Desk", "aopen"),
    "documents": ("Chunk", "Collection", "Document", "DocumentRecord", "Hit", "Scope"),
    "errors": ("RefdeskError",),
    "events": ("AnswerEvent", "Done", "IngestEvent", "Token"),
    "ingest": ("Summary",),
    "retrieval": ("Results",),
    "settings": ("Settings",),
}
_MODULE = {name: module for module, names in _HOME.items() for name in names} | {"open": "blocking"}

__all__ = [
    "Answer",
    "AnswerEvent",
    "BlockingDesk",
    "Chunk",
    "Citation",
    "Collection",
    "Desk",
    "Document",
    "DocumentRecord",
    "Done",
    "Evidence",
    "Hit",
    "IngestEvent",
    "RefdeskError",
    "Results",
    "Scope",
    "Settings",
    "Summary",
    "Token",
    "aopen",
    "open",
]


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used, so that importing refdesk costs nothing."""
    if name not in _MODULE:
        raise AttributeError(f"module 'refdesk' has no attribute {name!r}")
    return getattr(import_module(f"refdesk.{_MODULE[name]}"), "BlockingDesk" if name == "open" else name)
