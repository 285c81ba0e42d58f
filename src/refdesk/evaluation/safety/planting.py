"""Plant documents beside a library's own: in a collection of their own, which is removed whatever happens."""

import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio

from refdesk.desk import Desk
from refdesk.documents import PUBLIC, Scope
from refdesk.errors import NotFound, StoreError
from refdesk.evaluation.safety.probes import PlantedDocument
from refdesk.sources.text import Text

PREFIX = "eval-safety-"
WHAT = "Planted by `refdesk eval safety` for a moment; it may be deleted."


@dataclass(frozen=True, slots=True, kw_only=True)
class Planting:
    """Planted documents as they are stored."""

    collection: str
    hostile: frozenset[str]
    """Source ids."""
    chunks: frozenset[str]
    """Chunk ids of the hostile ones."""


NOTHING_PLANTED = Planting(collection="", hostile=frozenset(), chunks=frozenset())


@asynccontextmanager
async def planted(desk: Desk, documents: Sequence[PlantedDocument]) -> AsyncIterator[Planting]:
    """Ingest documents into a new collection, and remove it at the end, also where the work is broken off.

    They are readable by the desk's principals alone, or by everyone where it has none.
    Errors: `StoreError` where they cannot be stored, or where the collection cannot be removed.
    """
    name = f"{PREFIX}{secrets.token_hex(6)}"
    try:
        await desk.create_collection(name, description=WHAT)
        yield await _ingested(desk, name, documents)
    finally:
        with anyio.CancelScope(shield=True):
            await _removed(desk, name)


async def leftovers(desk: Desk) -> tuple[str, ...]:
    """Return the collections that a killed process could not remove, or that another one uses now."""
    return tuple(one.name for one in await desk.collections() if one.name.startswith(PREFIX))


async def _ingested(desk: Desk, name: str, documents: Sequence[PlantedDocument]) -> Planting:
    texts = [
        Text(one.text, source_id=one.id, title=one.title, media_type="text/markdown") for one in documents
    ]
    summary = await desk.ingest(*texts, collection=name, acl=desk.settings.principals or PUBLIC)
    if summary.failures:
        told = "; ".join(f"{one.source_id}: {one.message}" for one in summary.failures)
        raise StoreError(f"Planted documents could not be ingested: {told}")
    hostile = frozenset(one.id for one in documents if one.hostile)
    reader = await desk.services.reader(Scope((name,), desk.settings.principals))
    stored = [one for one in await reader.documents() if one.source_id in hostile]
    chunks = [chunk.chunk_id for one in stored for chunk in await reader.chunks(one.document_id)]
    return Planting(collection=name, hostile=hostile, chunks=frozenset(chunks))


async def _removed(desk: Desk, name: str) -> None:
    try:
        await desk.delete_collection(name)
    except NotFound:
        return
    except StoreError as error:
        raise StoreError(
            f"The collection {name!r} with planted documents could not be removed: {error.message}",
            remedy=f"Remove it: refdesk collections delete {name}",
        ) from error
