"""Writes: each is one transaction that holds the lock of its collection."""

from collections.abc import Sequence
from dataclasses import dataclass

from anyio import to_thread
from psycopg import sql

from refdesk.documents import DeleteReceipt
from refdesk.errors import NotFound
from refdesk.stores import Entry, Failure, StoredDocument, refusals
from refdesk.stores.postgres import catalogue, chunkrows, ledger, maintaining, records
from refdesk.stores.postgres.catalogue import CURRENT, Place, tables
from refdesk.stores.postgres.connecting import Connection, Database, one

_HELD = f"SELECT count(*), count(*) FILTER (WHERE length > 0) FROM {{chunks}} AS c WHERE {CURRENT}"
_END = f"""
WITH ended AS (INSERT INTO {{dead}} (id, died)
               SELECT c.id, %(died)s FROM {{chunks}} AS c WHERE c.document = ANY(%(keys)s) AND {CURRENT}
               RETURNING id)
SELECT count(*), count(*) FILTER (WHERE c.length > 0) FROM ended JOIN {{chunks}} AS c USING (id)
"""


@dataclass(frozen=True, slots=True)
class Ended:
    """Chunks that are not current any more, each with its vector."""

    chunks: int = 0
    full_text: int = 0
    """Those that keyword search found."""


async def write(
    database: Database,
    collection: str,
    documents: Sequence[StoredDocument],
    *,
    fingerprint: str,
    dimension: int,
) -> None:
    """Add or replace documents; see `Store.write`."""
    await to_thread.run_sync(refuse_malformed, documents, collection, dimension)
    async with database.writing(collection) as connection:
        place = await catalogue.place(connection, collection)
        catalogue.refuse_space(place, fingerprint, dimension)
        await _write(connection, place, documents, fingerprint, dimension)
        await maintaining.now_and_then(connection, place)


def refuse_malformed(documents: Sequence[StoredDocument], collection: str, dimension: int) -> None:
    """Refuse what cannot be written. Errors: `InputError`."""
    for stored in documents:
        refusals.malformed(stored, collection, dimension)
    refusals.twice([stored.document.source_id for stored in documents])


async def _write(
    connection: Connection,
    place: Place,
    documents: Sequence[StoredDocument],
    fingerprint: str,
    dimension: int,
) -> None:
    generation = place.generation + 1
    chunk_set = await _chunk_set(connection, place, fingerprint, dimension)
    keys = await records.identify(connection, place, [each.document.source_id for each in documents])
    await records.end(connection, list(keys.values()), generation)
    await end_chunks(connection, chunk_set, list(keys.values()), generation)
    await add_chunks(connection, chunk_set, documents, keys, born=generation, first=place.next_id)
    await records.add(connection, place, documents, keys, generation)
    await ledger.clear_failures(connection, place, keys)
    await catalogue.publish(connection, place.key, generation)


async def _chunk_set(connection: Connection, place: Place, fingerprint: str, dimension: int) -> int:
    if place.chunk_set is not None:
        return place.chunk_set
    key = await catalogue.add_set(connection, place.key, "current", fingerprint, dimension)
    await connection.execute("UPDATE collections SET chunk_set = %s WHERE key = %s", (key, place.key))
    return key


async def add_chunks(
    connection: Connection,
    chunk_set: int,
    documents: Sequence[StoredDocument],
    keys: dict[str, int],
    *,
    born: int,
    first: int,
) -> None:
    """Add the chunks of documents to a set; their ids begin with `first`."""
    rows = await to_thread.run_sync(lambda: chunkrows.made(documents, keys, born=born, first=first))
    await chunkrows.copy(connection, chunk_set, rows)
    await connection.execute(
        "UPDATE chunk_sets SET next_id = %s WHERE key = %s", (first + rows.count, chunk_set)
    )


async def end_chunks(connection: Connection, chunk_set: int, keys: Sequence[int], died: int) -> Ended:
    """Let the chunks of documents end with a generation."""
    statement = sql.SQL(_END).format(**tables(chunk_set))
    found = await one(connection, statement, {"died": died, "keys": list(keys)})
    return Ended(*found) if found else Ended()


async def delete(database: Database, collection: str, source_ids: Sequence[str]) -> DeleteReceipt:
    """Delete documents and notes of failures; see `Store.delete`."""
    async with database.writing(collection) as connection:
        place = await catalogue.place(connection, collection)
        keys = await records.known(connection, place, source_ids)
        noted = await ledger.failures(connection, place)
        refusals.unknown_sources(
            collection, [one for one in source_ids if one not in keys and one not in noted]
        )
        documents, ended = await _delete(connection, place, list(keys.values()))
        failures = await ledger.clear_failures(connection, place, source_ids)
    return _receipt(collection, tuple(dict.fromkeys(source_ids)), documents, ended, failures)


def _receipt(
    collection: str, source_ids: tuple[str, ...], documents: int, ended: Ended, failures: int
) -> DeleteReceipt:
    return DeleteReceipt(
        collection=collection,
        source_ids=source_ids,
        documents=documents,
        chunks=ended.chunks,
        vectors=ended.chunks,
        full_text=ended.full_text,
        ledger=documents,
        failures=failures,
    )


async def _delete(connection: Connection, place: Place, keys: Sequence[int]) -> tuple[int, Ended]:
    generation = place.generation + 1
    documents = await records.end(connection, keys, generation)
    ended = Ended()
    if place.chunk_set is not None:
        ended = await end_chunks(connection, place.chunk_set, keys, generation)
    await catalogue.publish(connection, place.key, generation)
    return documents, ended


async def update(database: Database, collection: str, entries: Sequence[Entry]) -> None:
    """Change what is known of documents besides their text; see `Store.update`."""
    async with database.writing(collection) as connection:
        place = await catalogue.place(connection, collection)
        keys = await records.known(connection, place, [entry.source_id for entry in entries])
        for entry in entries:
            if entry.source_id not in keys:
                raise NotFound(f"There is no document {entry.source_id!r} in the collection {collection!r}.")
        await records.change(connection, entries, keys, place.generation + 1)
        await ledger.clear_failures(connection, place, keys)
        await catalogue.publish(connection, place.key, place.generation + 1)


async def drop(database: Database, name: str) -> DeleteReceipt:
    """Delete a collection; what it holds goes when no reader can hold it any more."""
    async with database.writing(name) as connection:
        place = await catalogue.place(connection, name)
        sources = tuple(await ledger.entries(connection, place))
        failures = await ledger.failures(connection, place)
        ended = await _held(connection, place)
        await connection.execute(
            "UPDATE collections SET name = NULL, dropped_at = clock_timestamp() WHERE key = %s", (place.key,)
        )
    return _receipt(name, sources, len(sources), ended, len(failures))


async def _held(connection: Connection, place: Place) -> Ended:
    """Count the chunks of a collection."""
    if place.chunk_set is None:
        return Ended()
    found = await one(connection, sql.SQL(_HELD).format(**tables(place.chunk_set)))
    return Ended(*found) if found else Ended()


async def note_failures(database: Database, collection: str, failed: Sequence[Failure]) -> None:
    """Note failures; see `Store.record_failures`."""
    async with database.writing(collection) as connection:
        await ledger.note_failures(connection, await catalogue.place(connection, collection), failed)


async def clear_failures(database: Database, collection: str, source_ids: Sequence[str]) -> None:
    """Remove notes of failures; see `Store.clear_failures`."""
    async with database.writing(collection) as connection:
        await ledger.clear_failures(connection, await catalogue.place(connection, collection), source_ids)


async def set_cursor(database: Database, collection: str, source: str, cursor: str) -> None:
    """Note how far a source has been read; see `Store.set_cursor`."""
    async with database.writing(collection) as connection:
        place = await catalogue.place(connection, collection)
        await ledger.set_cursor(connection, place, source, cursor)
