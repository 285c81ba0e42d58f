"""Leaving nothing of what was removed in the files of the tables.

A freed row stays in its page until something is written over it, so the tables are written anew. Whoever
reads them waits meanwhile.
"""

import anyio
from psycopg import errors, sql

from refdesk.errors import StoreError, StoreLocked
from refdesk.stores.postgres.connecting import Connection, Database, connected, rows

TRIES, PAUSE = 5, 0.5
"""How often, and after how many seconds, it is looked again whether a transaction still sees old rows."""
WIPE = "refdesk collections wipe"
_TABLES = """
SELECT c.relname, pg_has_role(c.relowner, 'MEMBER'), pg_get_userbyid(c.relowner)
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = %s AND c.relkind = 'r' ORDER BY c.relname
"""
_DEAD = "SELECT coalesce(sum(n_dead_tup), 0) FROM pg_stat_user_tables WHERE schemaname = %s"


async def wipe(database: Database) -> None:
    """Write all tables anew without what was removed from them.

    Errors: `StoreError` for a role that does not own them, and where another transaction still sees rows that
    were removed; `StoreLocked` where tables are in use for too long.
    """
    async with connected(database.address) as connection:
        names = await _owned(connection, database)
        await connection.execute("SELECT set_config('lock_timeout', %s, false)", (database.patience,))
        for name in names:
            await _rewrite(connection, database, name)
        await _refuse_seen(connection, database, names)


async def _owned(connection: Connection, database: Database) -> list[str]:
    found = await rows(connection, _TABLES, (database.schema,))
    others = sorted({owner for _, mine, owner in found if not mine})
    if others:
        raise StoreError(
            f"What was deleted cannot be wiped from the files of {database.address}: its tables belong to the"
            f" role {others[0]!r}. It is gone for every reader, and vacuum frees its rows in time.",
            remedy=f"Let the owner run: {WIPE}",
        )
    return [name for name, _, _ in found]


async def _rewrite(connection: Connection, database: Database, name: str) -> None:
    try:
        await connection.execute(sql.SQL("VACUUM (FULL) {}").format(sql.Identifier(database.schema, name)))
    except errors.UndefinedTable:  # of a collection that was removed meanwhile
        return
    except errors.LockNotAvailable as error:
        raise StoreLocked(
            f"Cannot wipe {database.address}: the table {name!r} is in use.", remedy=f"Run it again: {WIPE}"
        ) from error


async def _refuse_seen(connection: Connection, database: Database, names: list[str]) -> None:
    """Refuse to call wiped what another transaction keeps. Errors: `StoreError`."""
    tables = sql.SQL(", ").join(sql.Identifier(database.schema, name) for name in names)
    for _ in range(TRIES):
        await connection.execute(sql.SQL("VACUUM (SKIP_LOCKED) {}").format(tables))
        ((seen,),) = await rows(connection, _DEAD, (database.schema,))
        if not seen:
            return
        await anyio.sleep(PAUSE)
    raise StoreError(
        f"{seen} removed rows are still in the files of {database.address}: another transaction, such as a"
        " backup, still sees them.",
        remedy=f"When it has ended, run again: {WIPE}",
    )
