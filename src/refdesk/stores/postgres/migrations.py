"""The version of a library's tables: making them, bringing older ones up to date, one process at a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import LiteralString

from psycopg import errors, sql

from refdesk.errors import NotFound, StoreError
from refdesk.stores.postgres import conversation_schema, schema
from refdesk.stores.postgres.address import Address
from refdesk.stores.postgres.connecting import (
    Connection,
    Extension,
    extension_of,
    lock_number,
    one,
    search_path,
)
from refdesk.stores.postgres.translating import RIGHTS

LOCK = "migrations"
"""One for the whole database, since the extension is made in it too."""
# From the catalogue's tables: functions such as to_regnamespace may not see yet what another has just made.
HAS_SCHEMA = "SELECT 1 FROM pg_namespace WHERE nspname = %s"
HAS_META = (
    "SELECT 1 FROM pg_class JOIN pg_namespace AS n ON n.oid = relnamespace"
    " WHERE nspname = %s AND relname = 'meta'"
)
NO_EXTENSION = (
    errors.InsufficientPrivilege,
    errors.FeatureNotSupported,
    errors.UndefinedFile,
    errors.InvalidSchemaName,
)
"""How a server refuses to make an extension."""
META = """
CREATE TABLE {schema}.meta (key text PRIMARY KEY, value text NOT NULL);
INSERT INTO {schema}.meta VALUES ('version', '0');
"""


@dataclass(frozen=True, slots=True)
class Step:
    """What brings the tables to a version from the one before."""

    version: int
    statements: LiteralString


STEPS: tuple[Step, ...] = (
    Step(schema.VERSION, schema.FIRST),
    Step(conversation_schema.VERSION, conversation_schema.TABLES),
    Step(schema.LATER, schema.CHANGES),
)


async def check(connection: Connection, address: Address, steps: Sequence[Step] = STEPS) -> Extension:
    """Refuse a library that cannot be used as it is. Errors: `NotFound`, `StoreError`."""
    await _refuse_encoding(connection, address)
    newest, version = steps[-1].version, await version_of(connection, address)
    if version is None or version == 0:
        raise NotFound(
            f"There is no library in {address}.",
            remedy="Ingest something first: refdesk ingest PATH --library URL",
        )
    if version > newest:
        raise StoreError(
            f"The library {address} has format {version}; this refdesk reads format {newest}.",
            remedy="A newer refdesk wrote it: pip install --upgrade refdesk",
        )
    if version < newest:
        raise StoreError(
            f"The library {address} has the old format {version}; this refdesk reads format {newest}.",
            remedy="Let its owner write to it once: refdesk collections create default --library URL",
        )
    return await extension_of(connection, address)


async def migrate(connection: Connection, address: Address, steps: Sequence[Step] = STEPS) -> None:
    """Make the tables, or bring them to the newest version. Errors: `StoreError`."""
    if (await version_of(connection, address) or 0) >= steps[-1].version:
        return
    await _refuse_encoding(connection, address)
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock(%s)", (lock_number(LOCK),))
        try:
            await _lay_out(connection, address)
            await _raise(connection, address, steps)
        except errors.InsufficientPrivilege as error:
            raise _not_allowed(address, error) from error


async def version_of(connection: Connection, address: Address) -> int | None:
    """Return the version of the tables, None where there are none. Errors: `StoreError`."""
    if not await _exists(connection, HAS_SCHEMA, address):
        return None
    named = sql.Identifier(address.schema, "meta")
    if not await _exists(connection, HAS_META, address):
        await _refuse_others(connection, address)
        return None
    found = await one(connection, sql.SQL("SELECT value FROM {} WHERE key = 'version'").format(named))
    return int(found[0]) if found else None


async def _exists(connection: Connection, statement: LiteralString, address: Address) -> bool:
    return await one(connection, statement, (address.schema,)) is not None


async def _refuse_others(connection: Connection, address: Address) -> None:
    """Refuse a schema with tables of others. Errors: `StoreError`."""
    others = await one(
        connection,
        "SELECT relname FROM pg_class JOIN pg_namespace AS n ON n.oid = relnamespace WHERE nspname = %s"
        " AND relkind IN ('r', 'p', 'v') ORDER BY relname LIMIT 1",
        (address.schema,),
    )
    if others is not None:
        raise StoreError(
            f"The schema {address.schema!r} holds {others[0]!r}, which is not of refdesk.",
            remedy="Name a schema for the library alone: ?schema=NAME in the URL.",
        )


async def _refuse_encoding(connection: Connection, address: Address) -> None:
    encoding = (await one(connection, "SHOW server_encoding") or ("",))[0]
    if encoding != "UTF8":
        raise StoreError(
            f"The database of {address} has the encoding {encoding}; UTF8 is needed.",
            remedy="Create one: createdb --encoding=UTF8 --template=template0 NAME",
        )


async def _lay_out(connection: Connection, address: Address) -> None:
    """Make what is missing for the steps: the schema, the extension, the table of the version."""
    named = sql.Identifier(address.schema)
    if not await _exists(connection, HAS_SCHEMA, address):
        await connection.execute(sql.SQL("CREATE SCHEMA {}").format(named))
    if await one(connection, "SELECT 1 FROM pg_extension WHERE extname = 'vector'") is None:
        await _make_extension(connection, address)
    if await version_of(connection, address) is None:
        await connection.execute(sql.SQL(META).format(schema=named))


async def _make_extension(connection: Connection, address: Address) -> None:
    try:
        async with connection.transaction():
            await connection.execute("CREATE EXTENSION vector")
    except NO_EXTENSION:
        await extension_of(connection, address)  # says what to do


async def _raise(connection: Connection, address: Address, steps: Sequence[Step]) -> None:
    extension = await extension_of(connection, address)
    path = search_path(address.schema, extension.schema)
    await connection.execute(sql.SQL("SET LOCAL search_path = {}").format(path))
    version = await version_of(connection, address) or 0
    for step in steps:
        if step.version > version:
            await connection.execute(_filled(step.statements, address, extension))
            version = step.version
    await connection.execute(_filled(schema.FUNCTIONS, address, extension))
    table = sql.Identifier(address.schema, "meta")
    statement = sql.SQL("UPDATE {} SET value = %s WHERE key = 'version'").format(table)
    await connection.execute(statement, (str(version),))


def _filled(statements: LiteralString, address: Address, extension: Extension) -> sql.Composed:
    return sql.SQL(statements).format(
        schema=sql.Identifier(address.schema),
        schema_name=sql.Literal(address.schema),
        vector_name=sql.Literal(extension.schema),
    )


def _not_allowed(address: Address, error: errors.InsufficientPrivilege) -> StoreError:
    return StoreError(
        f"Cannot make the tables of the library {address}: {error.diag.message_primary}.",
        remedy=f"Let the owner of the database or schema open it once. {RIGHTS}",
    )
