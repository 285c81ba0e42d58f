"""Widen hits by the chunks around them."""

from collections.abc import Sequence
from dataclasses import replace

from refdesk.documents import Chunk, Hit
from refdesk.stores import Reader


async def widen(reader: Reader, hits: Sequence[Hit], *, before: int = 1, after: int = 1) -> tuple[Hit, ...]:
    """Return each hit in the midst of its neighbours, in reading order, best hit first.

    A chunk comes once, where it first belongs; a neighbour that is a hit itself keeps its scores, any other
    has rank 0 and no score. Errors: those of the reader.
    """
    own = {hit.chunk.chunk_id: hit for hit in hits}
    widened: dict[str, Hit] = {}
    for hit in hits:
        for chunk in await reader.neighbours(hit.chunk, before=before, after=after):
            widened.setdefault(chunk.chunk_id, own.get(chunk.chunk_id) or _neighbour(hit, chunk))
    return tuple(widened.values())


def _neighbour(hit: Hit, chunk: Chunk) -> Hit:
    return replace(
        hit,
        chunk=chunk,
        rank=0,
        vector_score=None,
        keyword_score=None,
        fused_score=None,
        rerank_score=None,
    )
