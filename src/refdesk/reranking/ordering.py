"""Scores to ordered hits, the same for every reranker."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from refdesk.documents import Hit

Scores = Mapping[str, float]
"""Chunk id to score."""


def ordered(hits: Sequence[Hit], relevance: Scores, order: Scores | None = None) -> tuple[Hit, ...]:
    """Return every hit with its `rerank_score`, best first.

    `order` are scores that order the hits where relevance alone does not; they become the `fused_score`.
    """
    scored = [replace(hit, rerank_score=relevance[hit.chunk.chunk_id]) for hit in hits]
    if order is not None:
        scored = [replace(hit, fused_score=order[hit.chunk.chunk_id]) for hit in scored]
    best = sorted(scored, key=lambda hit: _best_first(hit, relevance if order is None else order))
    return tuple(replace(hit, rank=rank) for rank, hit in enumerate(best, 1))


def _best_first(hit: Hit, scores: Scores) -> tuple[float, str, str, int, str]:
    chunk = hit.chunk
    return (-scores[chunk.chunk_id], chunk.collection, hit.source_id, chunk.position, chunk.chunk_id)


def hit_text(hit: Hit) -> str:
    """Return what a cross-encoder reads of a hit: title and headings on one line, then the chunk."""
    parts = (hit.title, *hit.chunk.heading_path)
    line = " > ".join(part for part in dict.fromkeys(parts) if part and part not in hit.chunk.text)
    return f"{line}\n{hit.chunk.text}" if line else hit.chunk.text
