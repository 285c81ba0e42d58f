"""A reader of a library in Postgres: one published state within a scope. It holds no connection."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from refdesk.documents import Chunk, Document, DocumentRecord, Hit, Scope
from refdesk.errors import InputError, NotFound
from refdesk.filters import Filter
from refdesk.stores.postgres import chunks, keywords, listing, vectors
from refdesk.stores.postgres.connecting import Connection, Database
from refdesk.stores.postgres.vectors import Found
from refdesk.stores.postgres.view import Counted, Part, View, open_view, refuse_passed
from refdesk.stores.ranking import Score, ranked, refuse_spaces, refuse_top_k, unit

_COUNTED: WeakKeyDictionary[Database, Counted] = WeakKeyDictionary()


async def open_reader(database: Database, scope: Scope) -> "PostgresReader":
    """Open the published state for a scope. Errors: `NotFound` for an unknown collection."""
    counted = _COUNTED.setdefault(database, Counted())
    async with database.reading() as connection:
        return PostgresReader(database, await open_view(connection, scope, counted))


class PostgresReader:
    """See `refdesk.stores.Reader`."""

    def __init__(self, database: Database, view: View) -> None:
        self._database = database
        self._view = view

    @asynccontextmanager
    async def _reading(self) -> AsyncIterator[Connection]:
        async with self._database.reading() as connection:
            await refuse_passed(connection, self._view)
            yield connection

    @property
    def languages(self) -> tuple[str, ...]:
        return self._view.languages

    async def vector_search(
        self, vector: NDArray[np.float32], *, top_k: int, filter: Filter | None = None
    ) -> tuple[Hit, ...]:
        refuse_top_k(top_k)
        query = unit(vector)
        async with self._reading() as connection:
            found = await vectors.near(connection, self._view, query, top_k=top_k, filter=filter)
            return await _hits(connection, found, top_k, "vector_score")

    async def keyword_search(
        self, tokens: Sequence[str], *, top_k: int, filter: Filter | None = None
    ) -> tuple[Hit, ...]:
        refuse_top_k(top_k)
        refuse_spaces(tokens)
        wanted = [token for token in tokens if token]
        if not wanted:
            return ()
        async with self._reading() as connection:
            found = await keywords.worded(connection, self._view, wanted, top_k=top_k, filter=filter)
            return await _hits(connection, found, top_k, "keyword_score")

    async def neighbours(self, chunk: Chunk, *, before: int = 1, after: int = 1) -> tuple[Chunk, ...]:
        around: tuple[Chunk, ...] = ()
        async with self._reading() as connection:
            if found := await listing.found(connection, self._view, chunk.document_id):
                first, last = chunk.position - before, chunk.position + after
                around = await chunks.of_document(connection, *found, first, last)
        if not any(each.chunk_id == chunk.chunk_id for each in around):
            raise NotFound(f"There is no chunk {chunk.chunk_id!r} in the collections asked.")
        return around

    async def token_vectors(self, chunk_ids: Sequence[str]) -> Mapping[str, NDArray[np.int8]]:
        async with self._reading() as connection:
            return await chunks.token_vectors(connection, self._view, chunk_ids)

    async def vectors(self, chunk_ids: Sequence[str]) -> Mapping[str, NDArray[np.float32]]:
        async with self._reading() as connection:
            return await chunks.vectors(connection, self._view, chunk_ids)

    async def document(self, document_id: str) -> Document:
        async with self._reading() as connection:
            return await listing.document(connection, self._view, document_id)

    async def chunks(self, document_id: str) -> tuple[Chunk, ...]:
        async with self._reading() as connection:
            place = await listing.located(connection, self._view, document_id)
            return await chunks.of_document(connection, *place)

    async def documents(
        self, *, filter: Filter | None = None, offset: int = 0, limit: int | None = None
    ) -> tuple[DocumentRecord, ...]:
        if offset < 0 or (limit is not None and limit < 0):
            raise InputError(
                f"Cannot list documents with offset={offset}, limit={limit}; 0 or more are allowed."
            )
        async with self._reading() as connection:
            return await listing.listed(connection, self._view, filter, offset, limit)

    async def count(self, filter: Filter | None = None) -> tuple[int, int]:
        async with self._reading() as connection:
            return await listing.count(connection, self._view, filter)


async def _hits(
    connection: Connection, found: Sequence[tuple[Part, Found]], top_k: int, score: Score
) -> tuple[Hit, ...]:
    """Return the best of what was found in all parts."""
    least = sorted((value for _, some in found for value, _ in some), reverse=True)[:top_k][-1:] or [0.0]
    scored = [
        each
        for part, some in found
        for each in await chunks.hits(connection, part, [one for one in some if one[0] >= least[0]])
    ]
    return ranked(scored, top_k, score)
