"""Making the chunks of a collection anew, in a set that one transaction puts in the place of the old."""

from collections.abc import Sequence
from dataclasses import replace

from anyio import to_thread

from refdesk.stores import StoredDocument, bm25, refusals
from refdesk.stores.postgres import catalogue, maintaining, records, writing
from refdesk.stores.postgres.catalogue import Made, Place
from refdesk.stores.postgres.connecting import Connection, Database, one
from refdesk.stores.postgres.successors import NEVER, successor, take_out_unnoted, uncovered
from refdesk.stores.postgres.texts import escaped, plain


async def begin(database: Database, collection: str, fingerprint: str, dimension: int, recipe: str) -> int:
    """Return the key of the set that is made in this way; one that is made in another goes."""
    async with database.writing(collection) as connection:
        place = await catalogue.place(connection, collection)
        found = await one(
            connection,
            "SELECT key FROM chunk_sets WHERE collection = %s AND state = 'successor'"
            " AND (fingerprint, dimension, recipe) = (%s, %s, %s)",
            (place.key, escaped(fingerprint), dimension, escaped(recipe)),
        )
        if found:
            return int(found[0])
        await _discard(connection, place)
        return await catalogue.add_set(connection, place.key, "successor", fingerprint, dimension, recipe)


async def _discard(connection: Connection, place: Place) -> None:
    """Remove the successor of a collection, if there is one; no reader has seen it."""
    key = await successor(connection, place)
    if key is not None:
        await catalogue.remove_set(connection, key)


async def discard(database: Database, collection: str, key: int) -> None:
    """Give up a successor; see `Remake.discard`."""
    async with database.writing(collection) as connection:
        place, _ = await _both(connection, collection, key)
        await _discard(connection, place)


async def _both(connection: Connection, collection: str, key: int) -> tuple[Place, Made]:
    """Return a collection and its successor. Errors: `NotFound`, `StoreError` where it is gone."""
    place = await catalogue.place(connection, collection)
    found = await one(
        connection,
        "SELECT key, fingerprint, dimension, next_id FROM chunk_sets"
        " WHERE key = %s AND collection = %s AND state = 'successor'",
        (key, place.key),
    )
    if found is None:
        raise refusals.no_successor(collection)
    return place, Made(found[0], plain(found[1]), found[2], found[3])


async def missing(database: Database, collection: str, key: int) -> tuple[str, ...]:
    """Return the sources that a successor lacks; see `Remake.missing`."""
    async with database.reading() as connection:
        place, _ = await _both(connection, collection, key)
        return await uncovered(connection, place)


async def write(database: Database, collection: str, key: int, documents: Sequence[StoredDocument]) -> None:
    """Add chunks to a successor; see `Remake.write`."""
    async with database.writing(collection) as connection:
        place, made = await _both(connection, collection, key)
        await to_thread.run_sync(writing.refuse_malformed, documents, collection, made.dimension)
        keys = await _unchanged(connection, place, documents)
        current = [stored for stored in documents if stored.document.source_id in keys]
        if not current:
            return
        await writing.end_chunks(connection, made.key, list(keys.values()), NEVER)
        await writing.add_chunks(
            connection, made.key, current, keys, born=place.generation, first=made.next_id
        )
        await _note(connection, made, current, keys)


async def _unchanged(
    connection: Connection, place: Place, documents: Sequence[StoredDocument]
) -> dict[str, int]:
    """Return the keys of those documents that are stored just so, but for their digest."""
    given = {stored.document.source_id: stored.document for stored in documents}
    keys = await records.known(connection, place, given)
    stored = await records.current(connection, place, keys.values())
    return {
        source_id: key
        for source_id, key in keys.items()
        if (found := stored[key]) == replace(given[source_id], digest=found.digest)
    }


async def _note(
    connection: Connection, made: Made, documents: Sequence[StoredDocument], keys: dict[str, int]
) -> None:
    """Note that the chunks of documents have been made anew."""
    noted = [
        (
            *(keys[stored.document.source_id], made.key, escaped(stored.document.digest)),
            *(len(stored.chunks), sum(len(bm25.split(each)) for each in stored.tokens)),
        )
        for stored in documents
    ]
    async with connection.cursor() as cursor:
        await cursor.executemany(
            "INSERT INTO remade (document, chunk_set, digest, chunks, tokens) VALUES (%s, %s, %s, %s, %s)"
            " ON CONFLICT (document) DO UPDATE SET chunk_set = excluded.chunk_set, digest = excluded.digest,"
            " chunks = excluded.chunks, tokens = excluded.tokens",
            noted,
        )


async def switch(database: Database, collection: str, key: int) -> bool:
    """Put a successor in the place of its collection's chunks, counted and indexed; see `Remake.switch`."""
    async with database.writing(collection) as connection:
        place, made = await _both(connection, collection, key)
        await take_out_unnoted(connection, made.key)
        if await uncovered(connection, place):
            return False
        await maintaining.tend(connection, made.key, made.dimension, database.indexed_from)
        await _succeed(connection, place, made)
    return True


_KEPT = (
    *("document", "collection", "title", "url", "media_type", "language", "metadata", "acl", "pages"),
    *("headings", "warnings", "characters", "page_count", "updated_at"),
)
_RECORDS = f"""
WITH old AS (UPDATE records SET died = %(generation)s
             WHERE collection = %(collection)s AND died IS NULL RETURNING *)
INSERT INTO records (born, digest, chunks, tokens, {", ".join(_KEPT)})
SELECT %(generation)s, m.digest, m.chunks, m.tokens, {", ".join(f"old.{name}" for name in _KEPT)}
FROM old JOIN remade AS m ON m.document = old.document AND m.chunk_set = %(made)s
"""
_FACTS = """
INSERT INTO facts (record, key, kind, value_text, value_number)
SELECT new.key, f.key, f.kind, f.value_text, f.value_number
FROM records AS new JOIN records AS old ON old.document = new.document AND old.died = new.born
JOIN facts AS f ON f.record = old.key
WHERE new.collection = %(collection)s AND new.born = %(generation)s
"""
_SETS = (
    "DELETE FROM remade WHERE chunk_set = %(made)s",
    "UPDATE chunk_sets SET state = 'left', left_at = clock_timestamp() WHERE collection = %(collection)s"
    " AND state = 'current'",
    "UPDATE chunk_sets SET state = 'current', recipe = '' WHERE key = %(made)s",
    "UPDATE collections SET chunk_set = %(made)s WHERE key = %(collection)s",
)


async def _succeed(connection: Connection, place: Place, made: Made) -> None:
    generation = place.generation + 1
    given = {"generation": generation, "collection": place.key, "made": made.key}
    for statement in (_RECORDS, _FACTS, *_SETS):
        await connection.execute(statement, given)
    await catalogue.publish(connection, place.key, generation)
