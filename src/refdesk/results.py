"""What a search returns: hits, and how they came about; and several lists of hits as one."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from refdesk.documents import Hit, Mode

Fusion = Literal["zscore", "rrf"]
FUSIONS: tuple[Fusion, ...] = ("zscore", "rrf")
ArmName = Literal["vector", "keyword"]
EmptyReason = Literal["blank_query", "no_documents", "filtered_out", "no_tokens", "no_match"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """What one of the searches behind a mode found."""

    name: ArmName
    found: int
    best: float | None
    """Highest score: cosine or BM25, by the arm's name; None where nothing was found."""
    worst: float | None
    seconds: float
    """Wall time; for the vector arm with the embedding of the query."""
    error: str = ""
    """Why it failed, where the hits are those of the other arm."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """How the hits of a search were found, or why there are none."""

    mode: Mode | None = None
    """None where a searcher of the user's own was asked."""
    fusion: Fusion | None = None
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
    hits: tuple[Hit, ...]
    collection: str = ""
    """Where a pipeline searched; empty where several collections were searched together."""
    mode: Mode | None = None
    explanation: Explanation = field(default_factory=Explanation)


RRF_K = 60
"""With a small constant the first hit of a single list beats what two lists agree on."""


def numbered(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """Give hits the ranks of their order."""
    return tuple(replace(hit, rank=rank) for rank, hit in enumerate(hits, 1))


def merged(lists: Sequence[Results]) -> tuple[Hit, ...]:
    """Return the hits of several lists as one, a chunk once, best first, ranks from 1.

    A single list keeps its order. Several are joined by reciprocal rank fusion (Cormack, Clarke and Büttcher,
    SIGIR 2009), since their scores do not compare; the hit that ranked best stands for its chunk.
    """
    filled = [one.hits for one in lists if one.hits]
    if len(filled) == 1 and _in_order(filled[0]):
        return filled[0]
    best: dict[str, Hit] = {}
    shares: dict[str, list[float]] = {}
    for hits in filled:
        unique: dict[str, Hit] = {}
        for hit in hits:
            unique.setdefault(hit.chunk.chunk_id, hit)
        for rank, (name, hit) in enumerate(unique.items(), 1):
            shares.setdefault(name, []).append(1.0 / (RRF_K + rank))
            if name not in best or rank < best[name].rank:
                best[name] = replace(hit, rank=rank)
    scores = {name: math.fsum(parts) for name, parts in shares.items()}
    order = sorted(scores, key=lambda name: (-scores[name], best[name].rank, name))
    joined = len(filled) > 1
    return tuple(
        replace(best[name], rank=rank, fused_score=scores[name] if joined else best[name].fused_score)
        for rank, name in enumerate(order, 1)
    )


def _in_order(hits: Sequence[Hit]) -> bool:
    """Tell whether a list is what `merged` would make of it: every chunk once, ranks from 1."""
    ranked = all(hit.rank == rank for rank, hit in enumerate(hits, 1))
    return ranked and len({hit.chunk.chunk_id for hit in hits}) == len(hits)
