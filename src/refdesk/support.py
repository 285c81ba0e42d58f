"""The words for what evidence does for an answer: support, spans, claims, grounding."""

from dataclasses import dataclass
from typing import Literal

Support = Literal["supported", "partial", "unsupported", "contradicted", "unchecked"]
"""What the evidence does for a statement; `unchecked` where nobody could tell."""


@dataclass(frozen=True, slots=True)
class SpanSource:
    """A chunk that a span of an answer draws on; `score` is the share of it that the chunk covers, 0 to 1."""

    chunk_id: str
    score: float
    search_query: str = ""
    """What an agentic loop searched for when it first found the chunk; empty where no loop did."""
    search_iteration: int = 0
    """In which turn of it, from 1; 0 where no loop found it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroundedSpan:
    """A span of an answer and how it was judged: `answer.text[start:end] == text`."""

    text: str
    start: int
    end: int
    score: float
    """0 to 1: how sure the judgement is that the span was found under."""
    sources: tuple[SpanSource, ...] = ()
    """Best first; empty where no chunk has anything of it."""
    support: Support = "unchecked"
    """Supported or partial for faithful spans, unsupported or contradicted for hallucinated ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceSpan:
    """A part of the evidence: `document.text[start:end] == quote`."""

    number: int
    """Of the evidence."""
    chunk_id: str
    document_id: str
    collection: str
    start: int
    end: int
    quote: str
    score: float
    """0 to 1: how far it holds the statement that it was looked up for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A statement of an answer and what the evidence does for it: `answer.text[start:end] == text`."""

    text: str
    start: int
    end: int
    support: Support
    score: float | None = None
    """0 to 1: how far the evidence holds it; None where it was not checked."""
    source: EvidenceSpan | None = None
    """What comes nearest to holding it, whatever the answer cites; None where nothing has anything of it."""
    cited: tuple[int, ...] = ()
    """Markers that it carries."""
    misattributed: tuple[int, ...] = ()
    """Those of them whose source does not hold it."""

    @property
    def suggested(self) -> EvidenceSpan | None:
        """The source that could be cited, where one holds it and none is cited, or only wrong ones are."""
        held = self.support in ("supported", "partial")
        return self.source if held and set(self.cited) == set(self.misattributed) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounding:
    """How far an answer is held by its evidence."""

    score: float | None
    """Share of the answer that the evidence holds, 0 to 1; None where it could not be checked."""
    faithful_spans: tuple[GroundedSpan, ...] = ()
    hallucinated_spans: tuple[GroundedSpan, ...] = ()
    token_labels: tuple[int, ...] = ()
    """Per token of a token-level grounder, 1 where it is not supported; empty for others."""
    claims: tuple[Claim, ...] = ()
    """Every statement of the answer, in order, also those that were not checked."""
    reason: str = ""
    """Why it could not be checked."""
    grounder: str = ""
