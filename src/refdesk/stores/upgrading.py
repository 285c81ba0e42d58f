"""Libraries of older formats to the newest; what they do not say has to be said."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from anyio import to_thread

from refdesk.principals import Principals, as_acl
from refdesk.stores import acls, control, lock

WAIT_SECONDS = 30.0
WITHOUT_ACLS = 1
"""The format before documents had ACLs."""

ACLS = (
    "CREATE TABLE acls (key INTEGER PRIMARY KEY, principals TEXT NOT NULL UNIQUE)",
    "CREATE TABLE readers (principal TEXT NOT NULL, acl INTEGER NOT NULL REFERENCES acls ON DELETE CASCADE,"
    " PRIMARY KEY (principal, acl)) WITHOUT ROWID",
    "CREATE INDEX readers_of ON readers (acl)",
)
CURSORS = (
    "CREATE TABLE IF NOT EXISTS cursors (collection INTEGER NOT NULL REFERENCES collections"
    " ON DELETE CASCADE, source TEXT NOT NULL, cursor TEXT NOT NULL, PRIMARY KEY (collection, source))"
    " WITHOUT ROWID"
)
COLUMN = (
    "ALTER TABLE documents ADD COLUMN acl INTEGER NOT NULL DEFAULT 0 REFERENCES acls",
    "DROP INDEX documents_counted",
    "CREATE INDEX documents_counted ON documents (collection, language, acl, chunks, tokens)",
    "CREATE INDEX documents_of_acl ON documents (acl, collection)",
)


async def upgrade(library: str | Path, *, acl: Principals, wait: float = WAIT_SECONDS) -> int:
    """Bring a library to the newest format, whole or not at all; return how many documents it was done for.

    `acl` says who may read the documents that are in it, and is not asked for where they say so themselves.
    `wait` is how many seconds another process may still write.
    Errors: `InputError`, `NotFound`, `StoreError`, `StoreLocked`.
    """
    readers = as_acl(acl, "The ACL of the documents")
    folder = await to_thread.run_sync(lambda: Path(library).absolute())
    if await to_thread.run_sync(control.version, folder) != WITHOUT_ACLS:
        await to_thread.run_sync(control.check, folder)
        return 0
    async with lock.held(folder, wait=wait):
        return await to_thread.run_sync(_upgrade, folder, readers)


def _upgrade(folder: Path, readers: Sequence[str]) -> int:
    with control.writing(folder, changes_tables=True) as connection:
        if control.state(connection) != (control.APPLICATION, WITHOUT_ACLS):  # another process was faster
            return 0
        return _with_acls(connection, readers)


def _with_acls(connection: sqlite3.Connection, readers: Sequence[str]) -> int:
    for statement in (*ACLS, *COLUMN, CURSORS):
        connection.execute(statement)
    connection.execute("UPDATE documents SET acl = ?", (acls.put(connection, readers),))
    connection.execute(f"PRAGMA user_version = {control.SCHEMA}")
    (documents,) = connection.execute("SELECT count(*) FROM documents").fetchone()
    return int(documents)
