"""The steps of pipelines, one file each, named as they are written in YAML."""

from refdesk.pipeline import Repeat, Step, When
from refdesk.steps.answer import Answer
from refdesk.steps.assess import Assess
from refdesk.steps.cite import Cite
from refdesk.steps.condense import Condense
from refdesk.steps.decompose import Decompose
from refdesk.steps.dedupe import Dedupe
from refdesk.steps.distill import Distill
from refdesk.steps.expand import Expand
from refdesk.steps.gate import Gate
from refdesk.steps.ground import Ground
from refdesk.steps.investigate import Loop
from refdesk.steps.invite import Invite
from refdesk.steps.reason import Reason
from refdesk.steps.recall import Recall
from refdesk.steps.remember import Remember
from refdesk.steps.rerank import Rerank
from refdesk.steps.review import Review
from refdesk.steps.rewrite import Rewrite
from refdesk.steps.screen import Screen
from refdesk.steps.search import Search
from refdesk.steps.select import Select
from refdesk.steps.widen import Widen

BUILTIN: tuple[type[Step], ...] = (
    Screen,
    Recall,
    Gate,
    Condense,
    Rewrite,
    Select,
    Expand,
    Decompose,
    Search,
    Reason,
    Rerank,
    Dedupe,
    Widen,
    Distill,
    Assess,
    Answer,
    Loop,
    Review,
    Cite,
    Ground,
    Invite,
    Remember,
    When,
    Repeat,
)
"""All steps that come with refdesk, in the usual order."""

__all__ = [
    "BUILTIN",
    "Answer",
    "Assess",
    "Cite",
    "Condense",
    "Decompose",
    "Dedupe",
    "Distill",
    "Expand",
    "Gate",
    "Ground",
    "Invite",
    "Loop",
    "Reason",
    "Recall",
    "Remember",
    "Repeat",
    "Rerank",
    "Review",
    "Rewrite",
    "Screen",
    "Search",
    "Select",
    "When",
    "Widen",
]
