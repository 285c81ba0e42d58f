"""Join ranked lists of hits to one. Pure functions on hits.

`rrf` is reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009): scores of the arms do not matter,
only ranks. `zscore` adds the arms' scores after bringing each list to mean 0 and deviation 1, which keeps how
far a hit leads. Neither depends on the order in which the lists are given.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from refdesk.documents import Hit
from refdesk.results import RRF_K, numbered

Scores = Mapping[str, float]
"""Chunk id to score."""


def rrf(lists: Sequence[Sequence[Hit]], *, k: int = RRF_K) -> tuple[Hit, ...]:
    """Score each chunk by the sum of 1 / (k + its rank) over the lists that hold it."""
    shares = [{hit.chunk.chunk_id: 1.0 / (k + rank) for rank, hit in enumerate(one, 1)} for one in lists]
    return _fused(lists, shares)


def zscore(lists: Sequence[Sequence[Hit]], *, floors: Sequence[float | None] = ()) -> tuple[Hit, ...]:
    """Score each chunk by the sum of its standardised scores.

    Each list holds the hits of one arm. A chunk that a list lacks gets that list's floor, and where no floor
    is given the list's lowest score: it was not among the best, so it scored at most that. Floors count
    towards mean and deviation. Adding a constant to all scores of an arm without a floor changes nothing, nor
    does multiplying them by one.
    """
    chunks = {hit.chunk.chunk_id for one in lists for hit in one}
    limits = [*floors, *[None] * (len(lists) - len(floors))]
    filled = [_filled(one, chunks, floor) for one, floor in zip(lists, limits, strict=True) if one]
    return _fused(lists, [standardised(scores) for scores in filled])


def standardised(scores: Scores) -> dict[str, float]:
    """Bring scores to mean 0 and deviation 1; equal scores all become 0."""
    if not scores:
        return {}
    mean = math.fsum(scores.values()) / len(scores)
    variance = math.fsum((score - mean) ** 2 for score in scores.values()) / len(scores)
    deviation = math.sqrt(variance)
    flat = deviation <= 1e-9 * max(1.0, abs(mean))
    return {key: 0.0 if flat else (score - mean) / deviation for key, score in scores.items()}


def _filled(hits: Sequence[Hit], chunks: set[str], floor: float | None) -> dict[str, float]:
    scores = {hit.chunk.chunk_id: _arm_score(hit) for hit in hits}
    lowest = min(scores.values()) if floor is None else floor
    return dict.fromkeys(chunks, lowest) | scores


def _arm_score(hit: Hit) -> float:
    score = hit.vector_score if hit.vector_score is not None else hit.keyword_score
    assert score is not None, f"The hit {hit.chunk.chunk_id!r} comes from an arm and has no score of it."
    return score


def _fused(lists: Sequence[Sequence[Hit]], shares: Sequence[Scores]) -> tuple[Hit, ...]:
    fused = [
        replace(hit, fused_score=math.fsum(share.get(name, 0.0) for share in shares))
        for name, hit in _joined(lists).items()
    ]
    return numbered(sorted(fused, key=_best_first))


def _joined(lists: Sequence[Sequence[Hit]]) -> dict[str, Hit]:
    """Return one hit per chunk, with the scores of all arms."""
    joined: dict[str, Hit] = {}
    for hit in (hit for one in lists for hit in one):
        known = joined.setdefault(hit.chunk.chunk_id, hit)
        joined[hit.chunk.chunk_id] = replace(
            known,
            vector_score=hit.vector_score if known.vector_score is None else known.vector_score,
            keyword_score=hit.keyword_score if known.keyword_score is None else known.keyword_score,
        )
    return joined


def _best_first(hit: Hit) -> tuple[float, str, str, int, str]:
    assert hit.fused_score is not None
    chunk = hit.chunk
    return (-hit.fused_score, chunk.collection, hit.source_id, chunk.position, chunk.chunk_id)
