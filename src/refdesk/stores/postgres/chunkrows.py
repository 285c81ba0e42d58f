"""Chunks and their postings as rows: made without a connection, then copied in one go each."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from psycopg import sql

from refdesk.stores import StoredDocument, bm25
from refdesk.stores.postgres.catalogue import chunks_table, postings_table
from refdesk.stores.postgres.connecting import Connection
from refdesk.stores.postgres.texts import escaped, term

CHUNKS = (
    *(("id", "int4"), ("document", "int8"), ("born", "int8"), ("chunk_id", "text"), ("position", "int4")),
    *(
        ("start_at", "int4"),
        ("end_at", "int4"),
        ("page", "int4"),
        ("text", "text"),
        ("heading_path", "text[]"),
    ),
    *(("length", "int4"), ("vector", "vector"), ("token_vectors", "bytea"), ("token_vector_count", "int4")),
    *(("strategy", "text"), ("digest", "bytea")),
)
POSTINGS = (("term", "text"), ("block", "int4"), ("ids", "int4[]"), ("tfs", "int4[]"), ("lengths", "int4[]"))


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of some documents."""

    chunks: Sequence[tuple[Any, ...]]
    postings: Sequence[tuple[Any, ...]]

    @property
    def count(self) -> int:
        return len(self.chunks)


def made(documents: Sequence[StoredDocument], keys: Mapping[str, int], *, born: int, first: int) -> Rows:
    """Return the rows of documents; ids of chunks begin with `first`."""
    chunks: list[tuple[Any, ...]] = []
    found: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
    for stored in documents:
        for row, tokens in _chunks(stored, keys[stored.document.source_id], born, first + len(chunks)):
            chunks.append(row)
            for token, times in Counter(tokens).items():
                found[term(token)].append((row[0], times, len(tokens)))
    return Rows(chunks, [(word, found[word][0][0], *_columns(found[word])) for word in sorted(found)])


def _columns(postings: Sequence[tuple[int, int, int]]) -> tuple[list[int], ...]:
    return tuple(list(column) for column in zip(*postings, strict=True))


def _chunks(
    stored: StoredDocument, key: int, born: int, first: int
) -> Iterator[tuple[tuple[Any, ...], list[str]]]:
    for number, chunk in enumerate(stored.chunks):
        tokens = bm25.split(stored.tokens[number])
        late = stored.token_vectors[number] if stored.token_vectors else None
        yield (
            (
                *(first + number, key, born, escaped(chunk.chunk_id), chunk.position, chunk.start, chunk.end),
                *(
                    chunk.page,
                    escaped(chunk.text),
                    [escaped(each) for each in chunk.heading_path],
                    len(tokens),
                ),
                stored.vectors[number].astype(np.float32, copy=False),
                None if late is None else late.astype(np.int8, copy=False).tobytes(),
                None if late is None else len(late),
                escaped(stored.strategy) or None,
                stored.digests[number] if stored.digests else None,
            ),
            tokens,
        )


async def copy(connection: Connection, chunk_set: int, rows: Rows) -> None:
    """Add rows to the tables of a set."""
    await _copy(connection, chunks_table(chunk_set), CHUNKS, rows.chunks)
    await _copy(connection, postings_table(chunk_set), POSTINGS, rows.postings)


async def _copy(
    connection: Connection,
    table: sql.Identifier,
    columns: Sequence[tuple[str, str]],
    rows: Sequence[tuple[Any, ...]],
) -> None:
    names = sql.SQL(", ").join(sql.Identifier(name) for name, _ in columns)
    statement = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT binary)").format(table, names)
    async with connection.cursor() as cursor, cursor.copy(statement) as copy:
        copy.set_types([kind for _, kind in columns])
        for row in rows:
            await copy.write_row(row)
