"""A reader of the embedded store: one published state within a scope."""

import sqlite3
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TypeVar

import numpy as np
import pyarrow as pa
from anyio import to_thread
from numpy.typing import NDArray

from refdesk.documents import Chunk, Document, DocumentRecord, Hit, Scope
from refdesk.errors import InputError, NotFound
from refdesk.filters import Filter
from refdesk.stores import acls, control, records, rows, search, shelves, tables
from refdesk.stores.records import Tally
from refdesk.stores.revoking import Watch
from refdesk.stores.search import Part, State
from refdesk.stores.shelves import Shelf
from refdesk.stores.tables import Tables

T = TypeVar("T")


def open_state(folder: Path, chunks: Tables, scope: Scope) -> State:
    """Open the published state. Errors: `NotFound` for an unknown collection."""
    with control.translated(folder), ExitStack() as opened:
        newest = _connection(folder, opened)
        watch = Watch(newest, scope)  # before the state is: what is written between counts as written after
        connection = _connection(folder, opened)
        connection.execute("BEGIN")
        found = [shelves.shelf(connection, name) for name in dict.fromkeys(scope.collections)]
        seen = acls.readable(connection, scope)
        counted = [records.tallies(connection, shelf.key, seen) for shelf in found]
        state = State(
            connection=connection,
            chunks=chunks,
            parts=tuple(_part(*each) for each in zip(found, counted, strict=True)),
            languages=_languages([one for tallies in counted for one in tallies if one.shown]),
            seen=seen,
            watch=watch,
        )
        opened.pop_all()
        return state


def _connection(folder: Path, opened: ExitStack) -> sqlite3.Connection:
    connection = control.connect(folder)
    opened.callback(connection.close)
    return connection


def _part(shelf: Shelf, tallies: Sequence[Tally]) -> Part:
    return Part(
        shelf=shelf,
        documents=sum(one.documents for one in tallies),
        chunks=sum(one.chunks for one in tallies),
        tokens=sum(one.tokens for one in tallies),
        shown=sum(one.shown for one in tallies),
        shown_chunks=sum(one.shown_chunks for one in tallies),
    )


def _languages(tallies: Sequence[Tally]) -> tuple[str, ...]:
    """Return the known languages of what may be read, most frequent first."""
    counts: Counter[str] = Counter()
    for one in tallies:
        counts[one.language] += one.shown
    known = [name for name in counts if name != "und"]
    return tuple(sorted(known, key=lambda name: (-counts[name], name)))


class LanceReader:
    """See `refdesk.stores.Reader`. Ends with the last reference to it."""

    def __init__(self, folder: Path, state: State) -> None:
        self._folder = folder
        self._state = state
        self._one_at_a_time = threading.Lock()
        for connection in (state.connection, state.watch.connection):
            weakref.finalize(self, connection.close)

    @property
    def languages(self) -> tuple[str, ...]:
        return self._state.languages

    async def _run(self, work: Callable[[], T]) -> T:
        def guarded() -> T:
            with self._one_at_a_time, control.translated(self._folder):
                self._state.look()
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
            missing = NotFound(f"There is no chunk {chunk.chunk_id!r} in the collections asked.")
            try:
                around = self._chunks(chunk.document_id, chunk.position - before, chunk.position + after)
            except NotFound:
                raise missing from None
            if not any(each.chunk_id == chunk.chunk_id for each in around):
                raise missing
            return around

        return await self._run(work)

    async def token_vectors(self, chunk_ids: Sequence[str]) -> Mapping[str, NDArray[np.int8]]:
        def work() -> dict[str, NDArray[np.int8]]:
            return {
                row["chunk_id"]: rows.token_vectors(
                    row["token_vectors"], row["token_count"], part.shelf.dimension
                )
                for part, found in self._named(chunk_ids, ["token_vectors", "token_count"])
                for row in found.to_pylist()
                if row["token_vectors"] is not None
            }

        return await self._run(work)

    async def vectors(self, chunk_ids: Sequence[str]) -> Mapping[str, NDArray[np.float32]]:
        def work() -> dict[str, NDArray[np.float32]]:
            found: dict[str, NDArray[np.float32]] = {}
            for _, some in self._named(chunk_ids, ["vector"]):
                found |= zip(some["chunk_id"].to_pylist(), rows.matrix(some["vector"]), strict=True)
            return found

        return await self._run(work)

    def _named(self, chunk_ids: Sequence[str], columns: Sequence[str]) -> Iterable[tuple[Part, pa.Table]]:
        """Yield the readable rows of these chunks."""
        for part in self._state.parts:
            if part.chunks:
                wanted = ["chunk_id", "doc_key", *columns]
                found = tables.scan(self._state.table(part), wanted, tables.named(chunk_ids))
                readable = self._state.among(found["doc_key"].to_pylist())
                yield part, found.filter(tables.only(sorted(readable)))

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
        def work() -> tuple[int, int]:
            state = self._state
            if filter is None and not state.watch.revoked:
                return sum(part.shown for part in state.parts), sum(part.shown_chunks for part in state.parts)
            counted = [
                (part.shown, part.shown_chunks) if keys is None else records.totals(state.connection, keys)
                for part, keys in search.matching(state, filter)
            ]
            return sum(documents for documents, _ in counted), sum(chunks for _, chunks in counted)

        return await self._run(work)

    def _located(self, document_id: str) -> tuple[int, Shelf]:
        state = self._state
        found = records.located(state.connection, state.keys, state.seen, document_id)
        if found is None or found[0] in state.watch.revoked:
            raise NotFound(f"There is no document {document_id!r} in the collections asked.")
        key, collection = found
        return key, next(part.shelf for part in state.parts if part.shelf.key == collection)

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
