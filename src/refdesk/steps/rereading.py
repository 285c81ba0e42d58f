"""Kept hits as they are now, for the one who asks now."""

from collections.abc import Sequence
from dataclasses import replace

from refdesk.conversations import KeptHit, KeptResults
from refdesk.documents import Chunk, DocumentRecord, Hit
from refdesk.errors import NotFound
from refdesk.filters import And, Filter, In
from refdesk.pipeline import Services
from refdesk.results import Results, numbered
from refdesk.stores import Reader


async def reread(
    services: Services, kept: Sequence[KeptResults], filter: Filter | None
) -> tuple[Results, ...]:
    """Read kept hits again, with their scores of then.

    Left out is what the asker may not read or did not ask for (collections, filter), and what is not there
    any more as it was found.
    """
    known = {one.name for one in await services.collections()}
    found: dict[str, Hit] = {}
    for name in sorted({hit.collection for one in kept for hit in one.hits} & known):
        reader = await services.reader([name])
        wanted = [hit for one in kept for hit in one.hits if hit.collection == name]
        found |= await _hits(reader, wanted, filter)
    return tuple(_results(one, found) for one in kept)


async def _hits(reader: Reader, wanted: Sequence[KeptHit], filter: Filter | None) -> dict[str, Hit]:
    """Return hits by chunk id, without the scores."""
    ids = {hit.document_id for hit in wanted}
    named: Filter = In("document_id", tuple(sorted(ids)))
    records = await reader.documents(filter=named if filter is None else And((named, filter)))
    found = {}
    for record in records:
        for chunk in await _chunks(reader, record.document_id):
            found[chunk.chunk_id] = _hit(record, chunk)
    return {hit.chunk_id: found[hit.chunk_id] for hit in wanted if hit.chunk_id in found}


async def _chunks(reader: Reader, document: str) -> tuple[Chunk, ...]:
    try:
        return await reader.chunks(document)
    except NotFound:  # it was deleted or hidden just now
        return ()


def _hit(record: DocumentRecord, chunk: Chunk) -> Hit:
    return Hit(
        chunk=chunk,
        title=record.title,
        url=record.url,
        source_id=record.source_id,
        metadata=record.metadata,
    )


def _results(kept: KeptResults, found: dict[str, Hit]) -> Results:
    hits = [_scored(found[hit.chunk_id], hit) for hit in kept.hits if hit.chunk_id in found]
    return Results(question=kept.question, hits=numbered(hits), collection=kept.collection, mode=kept.mode)


def _scored(hit: Hit, kept: KeptHit) -> Hit:
    return replace(
        hit,
        vector_score=kept.vector_score,
        keyword_score=kept.keyword_score,
        fused_score=kept.fused_score,
        rerank_score=kept.rerank_score,
    )
