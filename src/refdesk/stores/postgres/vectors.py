"""Search by vector: over the index where many chunks match, else over each of them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from psycopg import sql

from refdesk.errors import EmbeddingMismatch
from refdesk.filters import Filter
from refdesk.stores import refusals
from refdesk.stores.postgres.connecting import Connection, rows
from refdesk.stores.postgres.filter_sql import Sql
from refdesk.stores.postgres.selecting import FEW, Selection, selected
from refdesk.stores.postgres.view import Part, View, live

EF_SEARCH = 200
"""How many candidates the index keeps in mind: more find more of the nearest and take longer."""
MOST_INDEXED = 500
"""Hits up to which the index is asked."""
RESCORED = 2
"""Candidates per hit: the index holds vectors in half precision, which puts near ones out of order."""
TIES = 1_000
"""Hits beyond those asked for that are read from the index at most to put equal scores in order."""

Found = list[tuple[float, int]]
"""Scores and ids of chunks, best first."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement with its parameters, and the settings that it needs."""

    text: sql.Composed
    parameters: tuple[object, ...]
    settings: str = ""


async def near(
    connection: Connection,
    view: View,
    query: NDArray[np.float32],
    *,
    top_k: int,
    filter: Filter | None,
    few: int = FEW,
) -> list[tuple[Part, Found]]:
    """Return the nearest chunks of each part; `query` is a unit vector."""
    found = []
    for selection in await selected(connection, view, filter, few=few):
        _refuse_dimension(selection.part, query)
        found.append((selection.part, await _near(connection, selection, query, top_k)))
    return found


def _refuse_dimension(part: Part, query: NDArray[np.float32]) -> None:
    if part.dimension != len(query):
        raise EmbeddingMismatch(
            f"The query has {len(query)} dimensions, the collection {part.name!r} has {part.dimension}"
            f" ({part.fingerprint}).",
            remedy=f"Ask with the embedder that it was made with. {refusals.reembed(part.name)}",
        )


async def _near(
    connection: Connection, selection: Selection, query: NDArray[np.float32], top_k: int
) -> Found:
    if selection.part.indexed and selection.keys is None and top_k <= MOST_INDEXED:
        found = await run(connection, indexed(selection, query, top_k))
        if len(found) == top_k:
            return found
    return await run(connection, exact(selection, query, top_k))


async def run(connection: Connection, statement: Statement) -> Found:
    """Run a search."""
    if statement.settings:
        await connection.execute(statement.settings)
    found = await rows(connection, statement.text, statement.parameters)
    if statement.settings:
        await connection.execute(RESET)
    return [(score, key) for key, score in found]


def indexed(selection: Selection, query: NDArray[np.float32], top_k: int) -> Statement:
    """Return the search over the index, which goes on until enough chunks match or it gives up."""
    part = selection.part
    there, among = live(part), selection.probed("c.document")
    inner = (
        "SELECT c.id, c.document, c.position, c.vector <#> %s AS distance FROM {chunks} AS c"
        f" WHERE {there.text} AND {among.text}"
        " ORDER BY (c.vector::halfvec({n})) <#> %s::vector::halfvec({n}) FETCH FIRST %s ROWS WITH TIES"
    )
    wanted = RESCORED * top_k
    text = f"SELECT * FROM ({inner}) AS reached LIMIT %s"
    parameters = (query, *there.parameters, *among.parameters, query, wanted, wanted + TIES)
    settings = SETTINGS.format(ef=min(1_000, max(EF_SEARCH, 2 * wanted)))
    return _ordered(part, Sql(text, parameters), top_k, settings)


def exact(selection: Selection, query: NDArray[np.float32], top_k: int) -> Statement:
    """Return the search over every chunk that matches."""
    part = selection.part
    there, among = live(part), selection.among("c.document")
    every = (  # OFFSET keeps the planner from ordering by the index
        "SELECT c.id, c.document, c.position, c.vector <#> %s AS distance FROM {chunks} AS c"
        f" WHERE {there.text} AND {among.text} OFFSET 0"
    )
    text = f"SELECT * FROM ({every}) AS reached ORDER BY reached.distance FETCH FIRST %s ROWS WITH TIES"
    return _ordered(part, Sql(text, (query, *there.parameters, *among.parameters, top_k)), top_k)


def _ordered(part: Part, nearest: Sql, top_k: int, settings: str = "") -> Statement:
    """Order the nearest by score, equal scores by source and position."""
    statement = (
        "SELECT n.id, greatest(-1, least(1, -n.distance)) AS score"
        f" FROM ({nearest.text}) AS n JOIN documents AS e ON e.key = n.document"
        " ORDER BY score DESC, e.source_id, n.position LIMIT %s"
    )
    text = sql.SQL(statement).format(chunks=part.table, n=sql.Literal(part.dimension))
    return Statement(text, (*nearest.parameters, top_k), settings)


SETTINGS = (
    "SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off;"
    " SET LOCAL enable_sort = off; SET LOCAL hnsw.iterative_scan = strict_order;"
    " SET LOCAL hnsw.ef_search = {ef}"
)
RESET = "SET LOCAL enable_seqscan = on; SET LOCAL enable_bitmapscan = on; SET LOCAL enable_sort = on"
