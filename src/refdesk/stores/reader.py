"""A reader of the embedded store: one published state within a scope."""

import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
from anyio import to_thread
from numpy.typing import NDArray

from refdesk.documents import Chunk, Document, DocumentRecord, Hit, Scope
from refdesk.errors import InputError, NotFound
from refdesk.filters import Filter
from refdesk.stores import control, filter_sql, records, rows, search, shelves, tables
from refdesk.stores.search import Part, State
from refdesk.stores.shelves import Shelf
from refdesk.stores.tables import Tables

T = TypeVar("T")


def open_state(folder: Path, chunks: Tables, scope: Scope) -> State:
    """Open the published state. Errors: `NotFound` for an unknown collection."""
    with control.translated(folder):
        connection = control.connect(folder)
        try:
            connection.execute("BEGIN")
            found = [shelves.shelf(connection, name) for name in dict.fromkeys(scope.collections)]
            parts = tuple(Part(shelf, *records.counts(connection, shelf.key)) for shelf in found)
            languages = shelves.languages(connection, [shelf.key for shelf in found])
        except BaseException:
            connection.close()
            raise
        return State(connection, chunks, parts, languages)


class LanceReader:
    """See `refdesk.stores.Reader`. Ends with the last reference to it."""

    def __init__(self, folder: Path, state: State) -> None:
        self._folder = folder
        self._state = state
        self._one_at_a_time = threading.Lock()
        weakref.finalize(self, state.connection.close)

    @property
    def languages(self) -> tuple[str, ...]:
        return self._state.languages

    async def _run(self, work: Callable[[], T]) -> T:
        def guarded() -> T:
            with self._one_at_a_time, control.translated(self._folder):
                return work()

        return await to_thread.run_sync(guarded)

    async def vector_search(
        self, vector: NDArray[np.float32], *, top_k: int, filter: Filter | None = None
    ) -> tuple[Hit, ...]:
        return await self._run(lambda: search.by_vector(self._state, vector, top_k=top_k, filter=filter))

    async def keyword_search(
        self, tokens: Sequence[str], *, top_k: int, filter: Filter | None = None
    ) -> tuple[Hit, ...]:
        return await self._run(lambda: search.by_keyword(self._state, tokens, top_k=top_k, filter=filter))

    async def neighbours(self, chunk: Chunk, *, before: int = 1, after: int = 1) -> tuple[Chunk, ...]:
        def work() -> tuple[Chunk, ...]:
            around = self._chunks(chunk.document_id, chunk.position - before, chunk.position + after)
            if not any(each.chunk_id == chunk.chunk_id for each in around):
                raise NotFound(f"There is no chunk {chunk.chunk_id!r} in the collections asked.")
            return around

        return await self._run(work)

    async def token_vectors(self, chunk_ids: Sequence[str]) -> Mapping[str, NDArray[np.int8]]:
        def work() -> dict[str, NDArray[np.int8]]:
            columns = ["chunk_id", "token_vectors", "token_count"]
            return {
                row["chunk_id"]: rows.token_vectors(
                    row["token_vectors"], row["token_count"], part.shelf.dimension
                )
                for part in self._state.parts
                if part.chunks
                for row in tables.scan(self._state.table(part), columns, tables.named(chunk_ids)).to_pylist()
                if row["token_vectors"] is not None
            }

        return await self._run(work)

    async def vectors(self, chunk_ids: Sequence[str]) -> Mapping[str, NDArray[np.float32]]:
        def work() -> dict[str, NDArray[np.float32]]:
            found: dict[str, NDArray[np.float32]] = {}
            for part in self._state.parts:
                if part.chunks:
                    some = tables.scan(
                        self._state.table(part), ["chunk_id", "vector"], tables.named(chunk_ids)
                    )
                    found |= zip(some["chunk_id"].to_pylist(), rows.matrix(some["vector"]), strict=True)
            return found

        return await self._run(work)

    async def document(self, document_id: str) -> Document:
        return await self._run(
            lambda: records.document(self._state.connection, self._located(document_id)[0])
        )

    async def chunks(self, document_id: str) -> tuple[Chunk, ...]:
        return await self._run(lambda: self._chunks(document_id))

    async def documents(
        self, *, filter: Filter | None = None, offset: int = 0, limit: int | None = None
    ) -> tuple[DocumentRecord, ...]:
        if offset < 0 or (limit is not None and limit < 0):
            raise InputError(
                f"Cannot list documents with offset={offset}, limit={limit}; 0 or more are allowed."
            )
        return await self._run(lambda: self._listed(filter, offset, limit))

    def _listed(self, filter: Filter | None, skip: int, limit: int | None) -> tuple[DocumentRecord, ...]:
        found: list[DocumentRecord] = []
        by_name = sorted(search.matching(self._state, filter), key=lambda each: each[0].shelf.name)
        for part, keys in by_name:
            left = None if limit is None else limit - len(found)
            found += records.listed(self._state.connection, part.shelf.key, keys, offset=skip, limit=left)
            skip = max(0, skip - (part.documents if keys is None else len(keys)))
        return tuple(found)

    async def count(self, filter: Filter | None = None) -> tuple[int, int]:
        if filter is None:
            parts = self._state.parts
            return sum(part.documents for part in parts), sum(part.chunks for part in parts)

        def work() -> tuple[int, int]:
            keys = filter_sql.matching(self._state.connection, self._state.keys, filter)
            return records.totals(self._state.connection, keys)

        return await self._run(work)

    def _located(self, document_id: str) -> tuple[int, Shelf]:
        found = records.located(self._state.connection, self._state.keys, document_id)
        if found is None:
            raise NotFound(f"There is no document {document_id!r} in the collections asked.")
        key, collection = found
        return key, next(part.shelf for part in self._state.parts if part.shelf.key == collection)

    def _chunks(self, document_id: str, first: int = 0, last: int | None = None) -> tuple[Chunk, ...]:
        key, shelf = self._located(document_id)
        if shelf.version == 0:
            return ()
        found = tables.scan(
            self._state.chunks.at(shelf.folder, shelf.version),
            rows.CHUNK_COLUMNS,
            tables.between(key, first, last),
        )
        chunks = [
            rows.chunk(row, document_id=document_id, collection=shelf.name) for row in found.to_pylist()
        ]
        return tuple(sorted(chunks, key=lambda chunk: chunk.position))
