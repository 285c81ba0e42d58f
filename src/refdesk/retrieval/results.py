"""What a search returns: hits, and how they came about."""

from dataclasses import dataclass
from typing import Literal

from refdesk.documents import Hit, Mode

Fusion = Literal["zscore", "rrf"]
FUSIONS: tuple[Fusion, ...] = ("zscore", "rrf")
EmptyReason = Literal["blank_query", "no_documents", "filtered_out", "no_tokens", "no_match"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """What one of the searches behind a mode found."""

    name: Literal["vector", "keyword"]
    found: int
    best: float | None
    """Highest score: cosine or BM25, by the arm's name; None where nothing was found."""
    worst: float | None
    seconds: float
    """Wall time; for the vector arm with the embedding of the query."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """How the hits of a search were found, or why there are none."""

    mode: Mode
    fusion: Fusion | None
    """None where one arm was asked and nothing had to be joined."""
    tokens: tuple[str, ...] = ()
    """What the keyword arm searched for."""
    languages: tuple[str, ...] = ()
    """Languages that the query was analysed for."""
    arms: tuple[Arm, ...] = ()
    shared: int = 0
    """Hits that both arms found on their own."""
    documents: int = 0
    """Documents in scope, before the filter."""
    chunks: int = 0
    matching_documents: int = 0
    """Documents in scope that the filter leaves."""
    matching_chunks: int = 0
    seconds: float = 0.0
    reason: EmptyReason | None = None
    """Why there are no hits, as a stable word; None where there are some."""
    message: str = ""
    """The same in a sentence."""

    @property
    def removed_documents(self) -> int:
        """Documents that the filter took out."""
        return self.documents - self.matching_documents


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """The hits of one question, best first, ranks from 1."""

    question: str
    mode: Mode
    hits: tuple[Hit, ...]
    explanation: Explanation
