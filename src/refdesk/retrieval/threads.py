"""The documents around a hit in its thread: the posts before and behind a post."""

from dataclasses import dataclass, replace

from refdesk.documents import DocumentRecord, Hit, Metadata, Scalar
from refdesk.filters import And, Compare, Equals, Not
from refdesk.stores import Reader

REACH = 20
"""How far numbers of neighbours may be apart, for each that is wanted: what was deleted leaves gaps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """Which documents belong together, in which order they come, and how many are wanted."""

    by: str
    """Metadata that the documents of a thread share."""
    order: str
    """Metadata that numbers them."""
    before: int = 1
    behind: int = 1


async def around(reader: Reader, hit: Hit, thread: Thread) -> tuple[Hit, ...] | None:
    """Return the beginnings of the documents before and behind a hit's, in order, without rank or score.

    Only what the reader may read is there. None where the hit's metadata has no thread or number. Errors:
    those of the reader.
    """
    place = _place(hit.metadata, thread)
    if place is None:
        return None
    before = await _beside(reader, hit, thread, place, -thread.before)
    behind = await _beside(reader, hit, thread, place, thread.behind)
    found = [await _beginning(reader, hit, record) for record in (*reversed(before), *behind)]
    return tuple(one for one in found if one is not None)


@dataclass(frozen=True, slots=True)
class _Place:
    thread: Scalar
    number: float


def _place(metadata: Metadata, thread: Thread) -> _Place | None:
    name, number = metadata.get(thread.by), metadata.get(thread.order)
    if name is None or isinstance(name, tuple):
        return None
    if isinstance(number, bool) or not isinstance(number, int | float):
        return None
    return _Place(name, number)


async def _beside(
    reader: Reader, hit: Hit, thread: Thread, place: _Place, wanted: int
) -> tuple[DocumentRecord, ...]:
    """Return the nearest documents on one side, nearest first: before the hit where `wanted` is negative."""
    if not wanted:
        return ()
    conditions = (
        Equals(thread.by, place.thread),
        Compare(thread.order, ">" if wanted > 0 else "<", place.number),
        Compare(thread.order, "<=" if wanted > 0 else ">=", place.number + wanted * REACH),
        Not(Equals("document_id", hit.chunk.document_id)),
    )
    distances = [
        (abs(there.number - place.number), record.source_id, record)
        for record in await reader.documents(filter=And(conditions))
        if record.collection == hit.chunk.collection and (there := _place(record.metadata, thread))
    ]
    return tuple(record for *_, record in sorted(distances, key=lambda one: one[:2])[: abs(wanted)])


async def _beginning(reader: Reader, hit: Hit, record: DocumentRecord) -> Hit | None:
    """Return the first chunk of a document as a neighbour of a hit; None where it has none."""
    chunks = await reader.chunks(record.document_id)
    if not chunks:
        return None
    return replace(
        hit,
        chunk=chunks[0],
        title=record.title,
        url=record.url,
        source_id=record.source_id,
        metadata=record.metadata,
        rank=0,
        vector_score=None,
        keyword_score=None,
        fused_score=None,
        rerank_score=None,
    )
