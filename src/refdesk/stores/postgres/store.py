"""The store in Postgres."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import timedelta

from refdesk.documents import Collection, DeleteReceipt, Scope
from refdesk.errors import InputError, StoreError
from refdesk.stores import Embedded, Entry, Failure, Reader, Remake, StoredDocument, VectorSet
from refdesk.stores.postgres import (
    catalogue,
    embedded,
    ledger,
    maintaining,
    migrations,
    reader,
    remaking,
    writing,
)
from refdesk.stores.postgres.address import Address, read_address
from refdesk.stores.postgres.connecting import INDEXED_FROM, WAIT_SECONDS, Connection, Database, connected

CONNECTIONS = 8


async def open_postgres(
    url: str,
    *,
    read_only: bool = False,
    wait: float = WAIT_SECONDS,
    connections: int = CONNECTIONS,
    indexed_from: int = INDEXED_FROM,
) -> "PostgresStore":
    """Open the library in a database: postgresql://user:password@host/database?schema=refdesk.

    Its schema and tables are made where there are none, unless `read_only`. `wait` is how many seconds a
    write waits for another to finish its own; `connections` how many are open at most;
    from `indexed_from` chunks on a collection gets an index for vectors.
    Errors: `InputError` for a URL that cannot be read, `NotFound` where there is nothing to read,
    `StoreError`.
    """
    address = read_address(url)
    async with connected(address) as connection:
        if not read_only:
            await migrations.migrate(connection, address)
        extension = await migrations.check(connection, address)
    database = Database(address, extension, connections=connections, wait=wait, indexed_from=indexed_from)
    return PostgresStore(database, read_only=read_only)


class PostgresStore:
    """See `refdesk.stores.Store`. Use `open_postgres` to make one, in the event loop that uses it."""

    def __init__(self, database: Database, *, read_only: bool) -> None:
        self._database = database
        self._read_only = read_only

    @property
    def address(self) -> Address:
        """Where the library is; shown without a password."""
        return self._database.address

    @property
    def database(self) -> Database:
        """Its connections, for what is kept beside the documents."""
        return self._database

    @property
    def _writable(self) -> Database:
        if self._read_only:
            raise StoreError(
                f"Cannot write in the library {self.address}: it was opened to read only.",
                remedy="Open it without read_only.",
            )
        return self._database

    def _reading(self) -> AbstractAsyncContextManager[Connection]:
        return self._database.reading()

    async def create(self, name: str, *, description: str = "") -> Collection:
        if not name.strip():
            raise InputError(f"Cannot create a collection named {name!r}; a name is needed.")
        async with self._writable.writing(name) as connection:
            await catalogue.create(connection, name, description)
        return await self.collection(name)

    async def collections(self) -> tuple[Collection, ...]:
        async with self._reading() as connection:
            return await catalogue.collections(connection)

    async def collection(self, name: str) -> Collection:
        async with self._reading() as connection:
            await catalogue.place(connection, name)
            (found,) = await catalogue.collections(connection, name)
            return found

    async def drop(self, name: str) -> DeleteReceipt:
        return await writing.drop(self._writable, name)

    async def write(
        self, collection: str, documents: Sequence[StoredDocument], *, fingerprint: str, dimension: int
    ) -> None:
        await writing.write(
            self._writable, collection, documents, fingerprint=fingerprint, dimension=dimension
        )

    async def remake(self, collection: str, *, fingerprint: str, dimension: int, recipe: str) -> Remake:
        key = await remaking.begin(self._writable, collection, fingerprint, dimension, recipe)
        return PostgresRemake(self._database, collection, key)

    async def embedded(
        self, collection: str, source_ids: Sequence[str], *, fingerprint: str
    ) -> Mapping[bytes, Embedded]:
        async with self._reading() as connection:
            place = await catalogue.place(connection, collection)
            return await embedded.embedded(connection, place, source_ids, fingerprint)

    async def vector_sets(self, collection: str) -> tuple[VectorSet, ...]:
        async with self._reading() as connection:
            return await embedded.counted(connection, await catalogue.place(connection, collection))

    async def update(self, collection: str, entries: Sequence[Entry]) -> None:
        await writing.update(self._writable, collection, entries)

    async def delete(self, collection: str, source_ids: Sequence[str]) -> DeleteReceipt:
        return await writing.delete(self._writable, collection, source_ids)

    async def entries(self, collection: str) -> Mapping[str, Entry]:
        async with self._reading() as connection:
            return await ledger.entries(connection, await catalogue.place(connection, collection))

    async def failures(self, collection: str) -> Mapping[str, Failure]:
        async with self._reading() as connection:
            return await ledger.failures(connection, await catalogue.place(connection, collection))

    async def record_failures(self, collection: str, failures: Sequence[Failure]) -> None:
        await writing.note_failures(self._writable, collection, failures)

    async def clear_failures(self, collection: str, source_ids: Sequence[str]) -> None:
        await writing.clear_failures(self._writable, collection, source_ids)

    async def cursors(self, collection: str) -> Mapping[str, str]:
        async with self._reading() as connection:
            return await ledger.cursors(connection, await catalogue.place(connection, collection))

    async def set_cursor(self, collection: str, source: str, cursor: str) -> None:
        await writing.set_cursor(self._writable, collection, source, cursor)

    async def reader(self, scope: Scope) -> Reader:
        return await reader.open_reader(self._database, scope)

    async def size(self) -> int:
        async with self._reading() as connection:
            return await catalogue.size(connection)

    async def optimise(self, *, retention: timedelta = maintaining.RETENTION) -> None:
        await maintaining.optimise(self._writable, retention)

    async def aclose(self) -> None:
        await self._database.aclose()


class PostgresRemake:
    """See `refdesk.stores.Remake`."""

    def __init__(self, database: Database, collection: str, key: int) -> None:
        self._database = database
        self._collection = collection
        self._key = key

    async def missing(self) -> tuple[str, ...]:
        return await remaking.missing(self._database, self._collection, self._key)

    async def write(self, documents: Sequence[StoredDocument]) -> None:
        await remaking.write(self._database, self._collection, self._key, documents)

    async def switch(self) -> bool:
        return await remaking.switch(self._database, self._collection, self._key)

    async def discard(self) -> None:
        await remaking.discard(self._database, self._collection, self._key)
