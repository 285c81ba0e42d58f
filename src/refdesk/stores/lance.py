"""The embedded store: a folder with Lance tables for chunks and SQLite as control plane."""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

from anyio import to_thread

from refdesk.documents import Collection, DeleteReceipt, Scope
from refdesk.errors import InputError, StoreError
from refdesk.stores import (
    Embedded,
    Entry,
    Failure,
    Reader,
    Remake,
    StoredDocument,
    VectorSet,
    control,
    ledger,
    lock,
    remaking,
    shelves,
    vectors,
    writer,
)
from refdesk.stores.indexes import Limits
from refdesk.stores.reader import LanceReader, open_state
from refdesk.stores.tables import Tables

T = TypeVar("T")

CHUNKS = "chunks"
WAIT_SECONDS = 30.0
LIMITS = Limits()
RETENTION = timedelta(hours=1)
"""How long a reader may keep a state that is not the newest any more."""


async def open_lance(
    path: str | Path, *, read_only: bool = False, wait: float = WAIT_SECONDS, limits: Limits = LIMITS
) -> "LanceStore":
    """Open the library in a folder; it is made where there is none, unless `read_only`.

    `wait` is how many seconds a write waits for another process to finish its own.
    Errors: `NotFound` where there is nothing to read, `StoreError` for a damaged library or another format.
    """
    folder = await to_thread.run_sync(_absolute, path)
    if not read_only and not await to_thread.run_sync(control.is_laid_out, folder):
        await _make(folder, wait)
    await to_thread.run_sync(control.check, folder)
    return LanceStore(folder, Tables(folder / CHUNKS, limits), read_only=read_only, wait=wait)


def _bytes(folder: Path) -> int:
    with control.translated(folder):
        return sum(_length(file) for file in folder.rglob("*"))


def _length(file: Path) -> int:
    try:
        return file.stat().st_size if file.is_file() else 0
    except FileNotFoundError:  # replaced meanwhile
        return 0


def _absolute(path: str | Path) -> Path:
    return Path(path).absolute()


async def _make(folder: Path, wait: float) -> None:
    def make_folder() -> None:
        with control.translated(folder):
            (folder / CHUNKS).mkdir(parents=True, exist_ok=True)

    await to_thread.run_sync(make_folder)
    async with lock.held(folder, wait=wait):
        await to_thread.run_sync(control.create, folder)


class LanceStore:
    """See `refdesk.stores.Store`. Use `open_lance` to make one."""

    def __init__(self, folder: Path, chunks: Tables, *, read_only: bool, wait: float) -> None:
        self.folder = folder
        self._chunks = chunks
        self._read_only = read_only
        self._wait = wait

    async def _write(self, work: Callable[[], T]) -> T:
        if self._read_only:
            raise StoreError(
                f"Cannot write in the library {str(self.folder)!r}: it was opened to read only.",
                remedy="Open it without read_only.",
            )

        def guarded() -> T:
            with control.translated(self.folder):
                return work()

        async with lock.held(self.folder, wait=self._wait):
            return await to_thread.run_sync(guarded)

    async def _read(self, work: Callable[..., T], *arguments: object) -> T:
        def guarded() -> T:
            with control.reading(self.folder) as connection:
                return work(connection, *arguments)

        return await to_thread.run_sync(guarded)

    async def create(self, name: str, *, description: str = "") -> Collection:
        if not name.strip():
            raise InputError(f"Cannot create a collection named {name!r}; a name is needed.")
        await self._write(lambda: writer.create(self.folder, name, description))
        return await self.collection(name)

    async def collections(self) -> tuple[Collection, ...]:
        return await self._read(shelves.collections)

    async def collection(self, name: str) -> Collection:
        return await self._read(shelves.collection, name)

    async def drop(self, name: str) -> DeleteReceipt:
        return await self._write(lambda: writer.drop(self.folder, self._chunks, name))

    async def write(
        self, collection: str, documents: Sequence[StoredDocument], *, fingerprint: str, dimension: int
    ) -> None:
        await self._write(
            lambda: writer.write(
                self.folder, self._chunks, collection, documents, fingerprint=fingerprint, dimension=dimension
            )
        )

    async def remake(self, collection: str, *, fingerprint: str, dimension: int, recipe: str) -> Remake:
        key = await self._write(
            lambda: remaking.begin(self.folder, collection, fingerprint, dimension, recipe)
        )
        return LanceRemake(self, collection, key)

    async def embedded(
        self, collection: str, source_ids: Sequence[str], *, fingerprint: str
    ) -> Mapping[bytes, Embedded]:
        return await to_thread.run_sync(
            vectors.embedded, self.folder, self._chunks, collection, source_ids, fingerprint
        )

    async def vector_sets(self, collection: str) -> tuple[VectorSet, ...]:
        return await to_thread.run_sync(vectors.counted, self.folder, self._chunks, collection)

    async def update(self, collection: str, entries: Sequence[Entry]) -> None:
        await self._write(lambda: writer.update(self.folder, collection, entries))

    async def delete(self, collection: str, source_ids: Sequence[str]) -> DeleteReceipt:
        return await self._write(lambda: writer.delete(self.folder, self._chunks, collection, source_ids))

    async def entries(self, collection: str) -> Mapping[str, Entry]:
        return await self._read(
            lambda connection: ledger.entries(connection, shelves.shelf(connection, collection))
        )

    async def failures(self, collection: str) -> Mapping[str, Failure]:
        return await self._read(
            lambda connection: ledger.failures(connection, shelves.shelf(connection, collection))
        )

    async def record_failures(self, collection: str, failures: Sequence[Failure]) -> None:
        await self._write(lambda: writer.note_failures(self.folder, collection, failures))

    async def clear_failures(self, collection: str, source_ids: Sequence[str]) -> None:
        await self._write(lambda: writer.clear_failures(self.folder, collection, source_ids))

    async def cursors(self, collection: str) -> Mapping[str, str]:
        return await self._read(
            lambda connection: ledger.cursors(connection, shelves.shelf(connection, collection))
        )

    async def set_cursor(self, collection: str, source: str, cursor: str) -> None:
        await self._write(lambda: writer.set_cursor(self.folder, collection, source, cursor))

    async def reader(self, scope: Scope) -> Reader:
        def opened() -> Reader:
            return LanceReader(self.folder, open_state(self.folder, self._chunks, scope))

        return await to_thread.run_sync(opened)

    async def size(self) -> int:
        return await to_thread.run_sync(_bytes, self.folder)

    async def optimise(self, *, retention: timedelta = RETENTION) -> None:
        def work() -> None:
            remaking.tidy(self.folder, self._chunks, wiping=not retention)
            for _ in range(1 if retention else 2):  # the first keeps the state that it began with
                writer.optimise(self.folder, self._chunks, retention)

        await self._write(work)

    async def aclose(self) -> None:
        """Nothing is held between calls; readers end by themselves."""


class LanceRemake:
    """See `refdesk.stores.Remake`."""

    def __init__(self, store: LanceStore, collection: str, key: int) -> None:
        self._store = store
        self._collection = collection
        self._key = key

    async def missing(self) -> tuple[str, ...]:
        return await self._store._read(remaking.missing, self._collection, self._key)

    async def write(self, documents: Sequence[StoredDocument]) -> None:
        store = self._store
        await store._write(
            lambda: remaking.write(store.folder, store._chunks, self._collection, self._key, documents)
        )

    async def switch(self) -> bool:
        store = self._store
        return await store._write(
            lambda: remaking.switch(store.folder, store._chunks, self._collection, self._key)
        )

    async def discard(self) -> None:
        folder = self._store.folder
        await self._store._write(lambda: remaking.discard(folder, self._collection, self._key))
