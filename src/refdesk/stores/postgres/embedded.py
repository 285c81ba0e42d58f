"""The vectors that a collection holds: by the text that they were made of, and counted."""

from collections.abc import Sequence

import numpy as np
from psycopg import sql

from refdesk.stores import Embedded, VectorSet
from refdesk.stores.postgres import records
from refdesk.stores.postgres.catalogue import CURRENT, Place, tables
from refdesk.stores.postgres.chunks import matrix
from refdesk.stores.postgres.connecting import Connection, rows
from refdesk.stores.postgres.successors import uncovered
from refdesk.stores.postgres.texts import plain


async def embedded(
    connection: Connection, place: Place, source_ids: Sequence[str], fingerprint: str
) -> dict[bytes, Embedded]:
    """Return what was made of texts; see `Store.embedded`."""
    keys = await records.known(connection, place, source_ids)
    if place.chunk_set is None or place.fingerprint != fingerprint or not keys:
        return {}
    statement = (
        "SELECT c.digest, c.vector, c.token_vectors, c.token_vector_count FROM {chunks} AS c"
        f" WHERE c.document = ANY(%s) AND c.digest IS NOT NULL AND {CURRENT}"
    )
    found = await rows(connection, _filled(statement, place.chunk_set), (list(keys.values()),))
    return {
        digest: Embedded(
            vector=np.array(vector.to_numpy(), np.float32),
            token_vectors=None if late is None else matrix(late, count, place.dimension),
        )
        for digest, vector, late, count in found
    }


def _filled(statement: str, chunk_set: int) -> sql.Composed:
    return sql.SQL(statement).format(**tables(chunk_set))


async def counted(connection: Connection, place: Place) -> tuple[VectorSet, ...]:
    """Count the vectors of a collection; see `Store.vector_sets`."""
    found = await rows(
        connection,
        "SELECT key, fingerprint, state = 'current' AS current FROM chunk_sets"
        " WHERE collection = %s AND state <> 'left' ORDER BY current DESC",
        (place.key,),
    )
    return tuple([await _set(connection, place, *row) for row in found])


async def _set(connection: Connection, place: Place, key: int, fingerprint: str, current: bool) -> VectorSet:
    noted = "" if current else " AND c.document IN (SELECT document FROM remade WHERE chunk_set = %(key)s)"
    statement = (
        f"SELECT coalesce(c.strategy, ''), count(*) FROM {{chunks}} AS c WHERE {CURRENT}{noted} GROUP BY 1"
    )
    counts = await rows(connection, _filled(statement, key), {"key": key})
    return VectorSet(
        fingerprint=plain(fingerprint),
        current=current,
        strategies={plain(name): count for name, count in counts},
        missing=0 if current else len(await uncovered(connection, place)),
    )
