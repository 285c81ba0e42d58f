"""Removing what no reader can hold any more, merging postings, making indexes."""

from contextlib import suppress
from datetime import timedelta

from psycopg import sql

from refdesk.errors import NotFound
from refdesk.stores.postgres import catalogue, wiping
from refdesk.stores.postgres.catalogue import Place, chunks_table, postings_table, tables
from refdesk.stores.postgres.connecting import Connection, Database, one, rows
from refdesk.stores.postgres.successors import NEVER, successor, take_out_unnoted
from refdesk.stores.postgres.texts import plain

RETENTION = timedelta(hours=1)
"""How long a reader may keep a state that is not the newest any more."""
EACH = 100
"""Writes of a collection after which one of them also removes what is out of date."""
MUCH = 10
"""An index is made anew where a tenth of its chunks or more were removed."""
LOCK = "maintenance"


async def now_and_then(connection: Connection, place: Place) -> None:
    """Remove what is out of date after every so many writes of a collection; it is part of the write."""
    if place.generation % EACH == EACH - 1:
        await _purge(connection, place, RETENTION)


async def optimise(database: Database, retention: timedelta) -> None:
    """Bring all collections up to date; see `Store.optimise`."""
    async with database.reading() as connection:
        found = await rows(connection, "SELECT name FROM collections WHERE name IS NOT NULL ORDER BY name")
    for (name,) in found:
        with suppress(NotFound):  # dropped meanwhile
            removed = await _tidy(database, plain(name), retention)
            await _index(database, plain(name), removed if retention else 0)  # a wipe makes it anew itself
    async with database.writing(LOCK) as connection:
        await _remove_dropped(connection, retention)
    if not retention:
        await wiping.wipe(database)


async def _tidy(database: Database, name: str, retention: timedelta) -> int:
    """Remove and merge; return how many chunks were removed."""
    async with database.writing(name) as connection:
        place = await catalogue.place(connection, name)
        removed = await _purge(connection, place, retention)
        await _remove_left(connection, place, retention)
        made = await successor(connection, place)
        if made is not None:
            await take_out_unnoted(connection, made)
            await _purge_chunks(connection, made, NEVER)
        if place.chunk_set is not None:
            await connection.execute(
                sql.SQL(_MERGE).format(postings=postings_table(place.chunk_set)),
                {"small": BLOCK // 2, "block": BLOCK, "many": MANY},
            )
    return removed


async def _index(database: Database, name: str, removed: int) -> None:
    """Make the index for vectors, or make it anew where much was removed from it."""
    async with database.writing(name) as connection:
        place = await catalogue.place(connection, name)
        if place.chunk_set is not None:
            await tend(
                connection,
                place.chunk_set,
                place.dimension,
                database.indexed_from,
                removed=removed,
            )


async def tend(
    connection: Connection,
    chunk_set: int,
    dimension: int,
    indexed_from: int,
    *,
    removed: int = 0,
) -> None:
    """Bring statistics of a set up to date, and make its index for vectors where it is large enough, also
    where much was removed from it."""
    counted = await one(connection, sql.SQL("SELECT count(*) FROM {}").format(chunks_table(chunk_set)))
    chunks = int(counted[0]) if counted else 0
    renewed = removed > 0 and removed * MUCH >= chunks
    await connection.execute(
        "SELECT tend_chunks(%s, %s, %s, %s)",
        (chunk_set, dimension, chunks >= indexed_from, renewed),
    )


_PASSED = """
SELECT coalesce(max(generation), 0) FROM publications
WHERE collection = %(collection)s AND at <= clock_timestamp() - %(retention)s::interval
"""
_PURGE = (
    "DELETE FROM records WHERE collection = %(collection)s AND died <= %(passed)s",
    "DELETE FROM texts AS t USING documents AS d WHERE d.key = t.document AND d.collection = %(collection)s"
    " AND t.died <= %(passed)s",
    "DELETE FROM documents AS d WHERE d.collection = %(collection)s"
    " AND NOT EXISTS (SELECT 1 FROM records AS r WHERE r.document = d.key)",
    "DELETE FROM publications WHERE collection = %(collection)s AND generation < %(passed)s",
)


async def _purge(connection: Connection, place: Place, retention: timedelta) -> int:
    """Remove what died before any state that a reader can hold; return how many chunks that were."""
    found = await one(connection, _PASSED, {"collection": place.key, "retention": retention})
    passed = int(found[0]) if found else 0
    for statement in _PURGE:
        await connection.execute(statement, {"collection": place.key, "passed": passed})
    if place.chunk_set is None:
        return 0
    return await _purge_chunks(connection, place.chunk_set, passed)


_DOOMED = "SELECT coalesce(array_agg(id), '{{}}') FROM {dead} WHERE died <= %(passed)s"
_SHORTEN = """
UPDATE {postings} AS p SET (ids, tfs, lengths) = (
  SELECT coalesce(array_agg(i ORDER BY i), '{{}}'), coalesce(array_agg(t ORDER BY i), '{{}}'),
         coalesce(array_agg(l ORDER BY i), '{{}}')
  FROM unnest(p.ids, p.tfs, p.lengths) AS u (i, t, l) WHERE i <> ALL (%(doomed)s::integer[]))
WHERE EXISTS (SELECT 1 FROM unnest(p.ids) AS i WHERE i = ANY (%(doomed)s::integer[]))
"""
_PURGE_CHUNKS = (
    _SHORTEN,
    "DELETE FROM {postings} WHERE ids = '{{}}'",
    "DELETE FROM {chunks} WHERE id = ANY (%(doomed)s::integer[])",
    "DELETE FROM {dead} WHERE id = ANY (%(doomed)s::integer[])",
)


async def _purge_chunks(connection: Connection, chunk_set: int, passed: int) -> int:
    """Remove dead chunks and their postings together: postings alone would count as being read."""
    names = {**tables(chunk_set), "postings": postings_table(chunk_set)}
    doomed = await one(connection, sql.SQL(_DOOMED).format(**names), {"passed": passed})
    if not doomed or not doomed[0]:
        return 0
    for statement in _PURGE_CHUNKS:
        await connection.execute(sql.SQL(statement).format(**names), {"doomed": doomed[0]})
    return len(doomed[0])


BLOCK = 4096
"""Chunks of a full block of postings."""
MANY = 4
"""Small blocks of a term that are left as they are."""
_MERGE = """
WITH crowded AS (SELECT term FROM {postings} WHERE cardinality(ids) < %(small)s
                 GROUP BY term HAVING count(*) > %(many)s),
     old AS (DELETE FROM {postings} AS p USING crowded AS c
             WHERE p.term = c.term AND cardinality(p.ids) < %(small)s
             RETURNING p.term, p.ids, p.tfs, p.lengths),
     flat AS (SELECT term, u.* FROM old, unnest(ids, tfs, lengths) AS u (i, t, l)),
     parted AS (SELECT *, (row_number() OVER (PARTITION BY term ORDER BY i) - 1) / %(block)s AS part
                FROM flat)
INSERT INTO {postings} (term, block, ids, tfs, lengths)
SELECT term, min(i), array_agg(i ORDER BY i), array_agg(t ORDER BY i), array_agg(l ORDER BY i)
FROM parted GROUP BY term, part
"""


async def _remove_left(connection: Connection, place: Place, retention: timedelta) -> None:
    """Remove the sets that were replaced before any state that a reader can hold."""
    found = await rows(
        connection,
        "SELECT key FROM chunk_sets WHERE collection = %s AND state = 'left'"
        " AND left_at <= clock_timestamp() - %s::interval",
        (place.key, retention),
    )
    for (key,) in found:
        await catalogue.remove_set(connection, key)


async def _remove_dropped(connection: Connection, retention: timedelta) -> None:
    """Remove collections that were dropped before any state that a reader can hold, with all they hold."""
    found = await rows(
        connection,
        "SELECT key FROM collections WHERE name IS NULL AND dropped_at <= clock_timestamp() - %s::interval",
        (retention,),
    )
    for (key,) in found:
        sets = await rows(connection, "SELECT key FROM chunk_sets WHERE collection = %s", (key,))
        await connection.execute("UPDATE collections SET chunk_set = NULL WHERE key = %s", (key,))
        for (each,) in sets:
            await catalogue.remove_set(connection, each)
        await connection.execute("DELETE FROM collections WHERE key = %s", (key,))
