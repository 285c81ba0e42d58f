"""Connections to the database of a library, and transactions in it."""

import hashlib
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from pgvector.psycopg.halfvec import register_halfvec_info
from pgvector.psycopg.vector import register_vector_info
from psycopg import AsyncConnection, IsolationLevel, errors, sql
from psycopg.types import TypeInfo
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from refdesk.errors import StoreError, StoreLocked
from refdesk.stores.postgres.address import Address
from refdesk.stores.postgres.translating import RIGHTS, translated

Connection = AsyncConnection[tuple[Any, ...]]

WAIT_SECONDS = 30.0
IDLE_SECONDS = 60.0
INDEXED_FROM = 20_000
"""Chunks from which a set gets an index for vectors; fewer are scanned exactly."""
# What goes wrong is told as an error; without a handler, Python would write it on stderr as well.
logging.getLogger("psycopg").addHandler(logging.NullHandler())

PLANNING = "SET jit = off; SET plan_cache_mode = force_custom_plan"
"""Plans follow the values asked for: a filter may leave half of all documents or one."""
OLDEST_VECTOR = (0, 8)
"""The version of pgvector that finds as many rows as are asked for, however they are filtered."""


DURABLE = """
SELECT set_config('lock_timeout', %(wait)s, true),
       set_config('synchronous_commit',
                  CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on'
                  ELSE current_setting('synchronous_commit') END, true)
"""
"""What is written is on disk when its transaction has ended, whatever the role's settings say."""
HOLDERS = """
SELECT pid, application_name, host(client_addr) FROM pg_locks JOIN pg_stat_activity USING (pid)
WHERE locktype = 'advisory' AND granted AND objsubid = 1
  AND ((classid::bigint << 32) | objid::bigint) = %(number)s
"""


@dataclass(frozen=True, slots=True)
class Extension:
    """The extension `vector` of a database: where its names are, and its types."""

    schema: str
    types: Mapping[str, TypeInfo]


@asynccontextmanager
async def connected(address: Address) -> AsyncIterator[Connection]:
    """Open one connection outside the pool, without a transaction."""
    with translated(address):
        connection = await AsyncConnection.connect(**address.parameters, autocommit=True)  # type: ignore[arg-type]
        try:
            yield connection
        finally:
            await connection.close()


async def extension_of(connection: Connection, address: Address) -> Extension:
    """Return the database's extension `vector`. Errors: `StoreError` where it is missing or too old."""
    found = await one(
        connection,
        "SELECT nspname, extversion FROM pg_extension JOIN pg_namespace AS n ON n.oid = extnamespace"
        " WHERE extname = 'vector'",
    )
    if found is None:
        raise StoreError(
            f"The database of {address} lacks the extension 'vector' (pgvector).",
            remedy="Install pgvector on the server; then let a superuser, or the database's owner, run there:"
            " CREATE EXTENSION vector",
        )
    schema, version = found
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST_VECTOR:
        raise StoreError(
            f"The database of {address} has the extension 'vector' in version {version}; 0.8 or newer is"
            " needed.",
            remedy="Install it on the server; then its owner runs: ALTER EXTENSION vector UPDATE",
        )
    types = {name: await _type(connection, schema, name) for name in ("vector", "halfvec")}
    return Extension(schema, types)


async def _type(connection: Connection, schema: str, name: str) -> TypeInfo:
    found = await TypeInfo.fetch(connection, sql.Identifier(schema, name))
    if found is None:
        raise StoreError(f"The type {schema}.{name} cannot be found or used by this role.", remedy=RIGHTS)
    return found


async def one(connection: Connection, statement: Any, parameters: Any = None) -> tuple[Any, ...] | None:
    """Run a statement and return its first row."""
    return await (await connection.execute(statement, parameters)).fetchone()


async def rows(connection: Connection, statement: Any, parameters: Any = None) -> list[tuple[Any, ...]]:
    """Run a statement and return its rows."""
    return await (await connection.execute(statement, parameters)).fetchall()


def lock_number(*names: str) -> int:
    """Return the number of an advisory lock; the same names always give the same."""
    digest = hashlib.sha256("\0".join(("refdesk", *names)).encode()).digest()
    return int.from_bytes(digest[:8], signed=True)


class Database:
    """The pool of connections to one library. Names of tables need no schema in its transactions."""

    def __init__(
        self,
        address: Address,
        extension: Extension,
        *,
        connections: int,
        wait: float,
        indexed_from: int = INDEXED_FROM,
    ) -> None:
        self.address = address
        self.extension = extension
        self.indexed_from = indexed_from
        self._wait = wait
        self._pool: AsyncConnectionPool[Connection] = AsyncConnectionPool(
            kwargs=dict(address.parameters),
            min_size=0,
            max_size=connections,
            open=False,
            configure=self._configure,
            check=AsyncConnectionPool.check_connection,
            max_idle=IDLE_SECONDS,
            timeout=WAIT_SECONDS,
            name="refdesk",
        )
        self._closed = False

    @property
    def schema(self) -> str:
        return self.address.schema

    @property
    def patience(self) -> str:
        """How long a write waits for another, as a setting of Postgres."""
        return f"{max(1, round(self._wait * 1000))}ms"

    async def _configure(self, connection: Connection) -> None:
        path = search_path(self.schema, self.extension.schema)
        await connection.set_autocommit(True)
        await connection.execute(sql.SQL("SET search_path = {}").format(path))
        await connection.execute(PLANNING)
        await connection.set_autocommit(False)
        register_vector_info(connection, self.extension.types["vector"])
        register_halfvec_info(connection, self.extension.types["halfvec"])

    @asynccontextmanager
    async def _transaction(self, level: IsolationLevel, *, read_only: bool) -> AsyncIterator[Connection]:
        with translated(self.address):
            connection = await self._taken()
            try:
                await connection.set_isolation_level(level)
                await connection.set_read_only(read_only)
                async with connection:
                    yield connection
            finally:
                await self._pool.putconn(connection)

    async def _taken(self) -> Connection:
        if self._closed:
            raise StoreError(f"The library {self.address} was closed.", remedy="Open it again.")
        await self._pool.open()
        try:
            return await self._pool.getconn()
        except PoolTimeout:
            async with connected(self.address):  # tells why, where no connection can be made
                raise

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Connection]:
        """Open a transaction that sees one state and cannot write. Errors: `StoreError`."""
        async with self._transaction(IsolationLevel.REPEATABLE_READ, read_only=True) as connection:
            yield connection

    @asynccontextmanager
    async def writing(self, *names: str) -> AsyncIterator[Connection]:
        """Open a transaction that holds the lock of these names: all of it is kept and synced, or none.

        What others wrote before is seen. Errors: `StoreLocked` where another holds the lock for too long.
        """
        async with self._transaction(IsolationLevel.READ_COMMITTED, read_only=False) as connection:
            await connection.execute(DURABLE, {"wait": self.patience})
            await self._lock(connection, lock_number(self.schema, *names))
            yield connection

    async def _lock(self, connection: Connection, number: int) -> None:
        try:
            await connection.execute("SELECT pg_advisory_xact_lock(%s)", (number,))
        except errors.LockNotAvailable as error:
            await connection.rollback()
            raise await self._held(connection, number) from error

    async def _held(self, connection: Connection, number: int) -> StoreLocked:
        holders = await rows(connection, HOLDERS, {"number": number})
        pid, name, host = holders[0] if holders else (None, "", None)
        who = f"{name or 'a client'} on {host or 'the server'} (process {pid} there)" if pid else "another"
        stop = f"let the server stop it: SELECT pg_terminate_backend({pid})" if pid else "stop it"
        return StoreLocked(
            f"Cannot write in the library {self.address}: {who} is writing; waited {self._wait:g} s.",
            remedy=f"Wait until it is done, or {stop}; the lock frees itself when it ends.",
        )

    async def aclose(self) -> None:
        """Close all connections; readers cannot be used any more."""
        self._closed = True
        await self._pool.close()


def search_path(schema: str, extension: str) -> sql.Composed:
    """Return the schemas in which names are looked up; temporary tables last: none is taken for ours."""
    names: Sequence[str] = (schema, extension, "pg_temp")
    return sql.SQL(", ").join(map(sql.Identifier, dict.fromkeys(names)))
