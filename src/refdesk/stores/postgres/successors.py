"""Sets of chunks that are made beside those that are read. Functions over an open transaction.

Chunks of one that shall not be read have died in generation 0, before any reader.
"""

from psycopg import sql

from refdesk.stores.postgres.catalogue import Place, tables
from refdesk.stores.postgres.connecting import Connection, one, rows
from refdesk.stores.postgres.texts import plain

NEVER = 0

_UNNOTED = """
INSERT INTO {dead} (id, died) SELECT id, 0 FROM {chunks}
WHERE document NOT IN (SELECT document FROM remade WHERE chunk_set = %(made)s) ON CONFLICT DO NOTHING
"""
_DIFFERING = """
DELETE FROM remade WHERE chunk_set = %(made)s
AND chunks <> (SELECT count(*) FROM {chunks} AS c LEFT JOIN {dead} AS x ON x.id = c.id
               WHERE c.document = remade.document AND x.id IS NULL)
"""


async def successor(connection: Connection, place: Place) -> int | None:
    """Return the key of the set that is made for a collection, None where there is none."""
    found = await one(
        connection, "SELECT key FROM chunk_sets WHERE collection = %s AND state = 'successor'", (place.key,)
    )
    return int(found[0]) if found else None


async def uncovered(connection: Connection, place: Place) -> tuple[str, ...]:
    """Return the sources of a collection that its successor lacks."""
    found = await rows(
        connection,
        "SELECT d.source_id FROM records AS r JOIN documents AS d ON d.key = r.document"
        " WHERE r.collection = %s AND r.died IS NULL"
        " AND NOT EXISTS (SELECT 1 FROM remade WHERE document = r.document) ORDER BY d.source_id",
        (place.key,),
    )
    return tuple(plain(source_id) for (source_id,) in found)


async def take_out_unnoted(connection: Connection, made: int) -> None:
    """Take out chunks of documents that were replaced or deleted since; count those whose chunks are not all
    there as missing again."""
    for statement in (_UNNOTED, _DIFFERING):
        filled = sql.SQL(statement).format(**tables(made))
        await connection.execute(filled, {"made": made})
