"""The steps of pipelines, one file each, named as they are written in YAML."""

from refdesk.pipeline import Repeat, Step, When
from refdesk.steps.answer import Answer
from refdesk.steps.cite import Cite
from refdesk.steps.condense import Condense
from refdesk.steps.decompose import Decompose
from refdesk.steps.expand import Expand
from refdesk.steps.gate import Gate
from refdesk.steps.rerank import Rerank
from refdesk.steps.rewrite import Rewrite
from refdesk.steps.search import Search
from refdesk.steps.select import Select

BUILTIN: tuple[type[Step], ...] = (
    Gate,
    Condense,
    Rewrite,
    Select,
    Expand,
    Decompose,
    Search,
    Rerank,
    Answer,
    Cite,
    When,
    Repeat,
)
"""All steps that come with refdesk, in the usual order."""

__all__ = [
    "BUILTIN",
    "Answer",
    "Cite",
    "Condense",
    "Decompose",
    "Expand",
    "Gate",
    "Repeat",
    "Rerank",
    "Rewrite",
    "Search",
    "Select",
    "When",
]
