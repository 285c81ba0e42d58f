"""The words of runs: what came of each case, and of a whole run. Everything here is plain data for JSON."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from refdesk.context import Turn
from refdesk.evaluation.datasets.cases import Need

RunStatus = Literal["running", "done", "interrupted", "crashed"]
"""`running` where the process is alive or was killed; whoever reads it later calls it crashed."""

Measures = Mapping[str, float]
"""Name to value, such as `reranked.nDCG@10`, `answer.faithfulness`, `seconds`.

Higher is better but for those in `LOWER_IS_BETTER`. What could not be measured is absent, and `excluded`
says why; it is never 0 or NaN for that."""

COSTS = ("seconds", "tokens", "cost", "requests")
"""What a case takes. Machines and prices move it, so it decides nothing."""
LOWER_IS_BETTER = (*COSTS, "pollution", "false_refusal", "failed")
"""Last parts of the names of measures that are better when they are lower."""


def last_part(measure: str) -> str:
    """Return what is measured: `pollution` of `fused.pollution@5`."""
    return measure.rpartition(".")[2].partition("@")[0]


def is_quality(measure: str) -> bool:
    """Return whether a measure says how good something is, and not what it takes."""
    return last_part(measure) not in COSTS


def lower_is_better(measure: str) -> bool:
    """Return whether a measure is better when it is lower."""
    return last_part(measure) in LOWER_IS_BETTER


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """What one way of searching found for a case: keyword, vector, fused, reranked, or a pipeline."""

    name: str
    documents: tuple[str, ...]
    """Source ids as ranked, a document where its best chunk stands."""
    spans: tuple[tuple[str, int, int], ...] = ()
    """Source id, start and end of each chunk as ranked."""
    ranks: tuple[int | None, ...] = ()
    """For each need of the case the rank of what meets it, None where nothing does; empty where not known."""
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerOutcome:
    """What was answered, and how it was judged."""

    text: str
    refusal: str | None = None
    zone: str = "unknown"
    model: str = ""
    citations: tuple[Mapping[str, Any], ...] = ()
    """Marker, source id, title, quote, support."""
    claims: tuple[Mapping[str, Any], ...] = ()
    """Text, support, cited markers."""
    confidence: float | None = None
    """What the desk knew before anybody judged: the best reranker score, else the grounding's score."""
    judgements: Mapping[str, str] = field(default_factory=dict)
    """Measure to the reason that a judge gave."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseOutcome:
    """What came of one case in one run."""

    case_id: str
    question: str
    tags: tuple[str, ...] = ()
    answerable: bool = True
    needs: tuple[Need, ...] = ()
    """What had to be found, of the case."""
    answers: tuple[str, ...] = ()
    """Right answers, of the case."""
    history: tuple[Turn, ...] = ()
    """What was said before, of the case."""
    measures: Measures = field(default_factory=dict)
    excluded: Mapping[str, str] = field(default_factory=dict)
    """Measure to the reason why it is missing."""
    channels: tuple[Channel, ...] = ()
    answer: AnswerOutcome | None = None
    error: str = ""
    """Why the case failed; its measures are then missing, and the run counts it."""
    warnings: tuple[str, ...] = ()
    trace: tuple[str, ...] = ()
    """One line for each step: name, milliseconds, outcome, what it noted."""
    seconds: float = 0.0
    requests: int = 0
    tokens: int = 0
    cost: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHeader:
    """What a run was: enough to repeat it."""

    name: str
    data: str
    split: str
    data_digest: str
    cases: int
    """How many it was to ask."""
    pipeline: str
    """Its name."""
    pipeline_yaml: str
    settings: Mapping[str, Any]
    """Those that differ from the defaults."""
    versions: Mapping[str, str]
    """Of refdesk, Python and what ranks: embedder's fingerprint, reranker, language model."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """What was asked of it: collection, channels, whether and by what answers were judged."""
    seed: int
    started: str
    """ISO 8601, UTC."""
    sweep: str = ""
    """Name of the sweep that it is of; empty for a run of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run as it was stored."""

    header: RunHeader
    status: RunStatus
    outcomes: Mapping[str, CaseOutcome]
    """By case id, in the order asked."""
    error: str = ""
    """Why it is interrupted or crashed."""
    finished: str = ""
