"""Chunks as the reader sees them: by id, of a document, and as hits."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from psycopg import sql

from refdesk.documents import Chunk, Hit
from refdesk.stores import metadata as meta
from refdesk.stores.postgres.connecting import Connection, rows
from refdesk.stores.postgres.filter_sql import Sql, joined
from refdesk.stores.postgres.texts import escaped, plain
from refdesk.stores.postgres.vectors import Found
from refdesk.stores.postgres.view import Part, View, at, live, seen
from refdesk.stores.ranking import Scored

COLUMNS = "c.chunk_id, d.document_id, c.position, c.start_at, c.end_at, c.text, c.heading_path, c.page"
WIDTH = 8


def _chunk(row: Sequence[Any], part: Part) -> Chunk:
    chunk_id, document_id, position, start, end, text, headings, page = row
    return Chunk(
        chunk_id=chunk_id,
        document_id=document_id,
        collection=part.name,
        position=position,
        start=start,
        end=end,
        text=plain(text),
        heading_path=tuple(map(plain, headings)),
        page=page,
    )


async def hits(connection: Connection, part: Part, found: Found) -> list[Scored]:
    """Return what was found as hits, with their scores beside them."""
    if not found:
        return []
    version = at("r", part.generation)
    statement = (
        f"SELECT c.id, {COLUMNS}, d.source_id, r.title, r.url, r.metadata FROM {{}} AS c"
        " JOIN documents AS d ON d.key = c.document JOIN records AS r ON r.document = c.document"
        f" WHERE c.id = ANY(%s::integer[]) AND {version.text}"
    )
    ids = [key for _, key in found]
    query = sql.SQL(statement).format(part.table)
    by_id = {key: row for key, *row in await rows(connection, query, (ids, *version.parameters))}
    return [(score, _hit(by_id[key], part)) for score, key in found]


def _hit(row: Sequence[Any], part: Part) -> Hit:
    source_id, title, url, metadata = row[WIDTH:]
    return Hit(
        chunk=_chunk(row[:WIDTH], part),
        title=plain(title),
        url=None if url is None else plain(url),
        source_id=plain(source_id),
        metadata=meta.load(metadata),
    )


async def of_document(
    connection: Connection, key: int, part: Part, first: int = 0, last: int | None = None
) -> tuple[Chunk, ...]:
    """Return the chunks of a document between two positions, both included, in order."""
    if not part.chunk_set:
        return ()
    there, until = live(part), "" if last is None else " AND c.position <= %s"
    statement = (
        f"SELECT {COLUMNS} FROM {{}} AS c JOIN documents AS d ON d.key = c.document"
        f" WHERE c.document = %s AND c.position >= %s{until} AND {there.text} ORDER BY c.position"
    )
    parameters = (key, first, *(() if last is None else (last,)), *there.parameters)
    found = await rows(connection, sql.SQL(statement).format(part.table), parameters)
    return tuple(_chunk(row, part) for row in found)


async def vectors(
    connection: Connection, view: View, chunk_ids: Sequence[str]
) -> dict[str, NDArray[np.float32]]:
    """Return the vectors of chunks that are seen."""
    found = await _named(connection, view, chunk_ids, "c.vector")
    return {chunk_id: np.array(vector.to_numpy(), np.float32) for _, chunk_id, vector in found}


async def token_vectors(
    connection: Connection, view: View, chunk_ids: Sequence[str]
) -> dict[str, NDArray[np.int8]]:
    """Return the token vectors of chunks that are seen and have some."""
    columns = "c.token_vectors, c.token_vector_count"
    found = await _named(connection, view, chunk_ids, columns)
    return {
        chunk_id: matrix(data, count, part.dimension)
        for part, chunk_id, data, count in found
        if data is not None
    }


def matrix(data: bytes, count: int, dimension: int) -> NDArray[np.int8]:
    """Return token vectors, shape (tokens, dimension); `dimension` is for texts without tokens."""
    if not count:
        return np.zeros((0, dimension), np.int8)
    return np.frombuffer(data, np.int8).reshape(count, -1)


async def _named(
    connection: Connection, view: View, chunk_ids: Iterable[str], columns: str
) -> list[tuple[Any, ...]]:
    """Return part, id and columns of chunks that are seen."""
    names, found = [escaped(each) for each in chunk_ids], list[tuple[Any, ...]]()
    for part in view.parts:
        if part.chunk_set and names:
            there = joined("AND", (live(part), _of_seen(view, part)))
            statement = (
                f"SELECT c.chunk_id, {columns} FROM {{}} AS c WHERE c.chunk_id = ANY(%s) AND {there.text}"
            )
            query = sql.SQL(statement).format(part.table)
            found += [(part, *row) for row in await rows(connection, query, (names, *there.parameters))]
    return found


def _of_seen(view: View, part: Part) -> Sql:
    there = seen(view, part)
    text = f"EXISTS (SELECT 1 FROM records AS r WHERE r.document = c.document AND {there.text})"
    return Sql(text, there.parameters)
