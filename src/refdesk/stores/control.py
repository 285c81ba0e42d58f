"""The control file of a library: opening it, its version, its transactions.

A reading transaction sees one state from its first statement on, however long it lasts; a writing one is
on disk, synced, when its block is left. Every connection belongs to one caller at a time.
"""

import re
import shlex
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

from refdesk.errors import InputError, NotFound, StoreError, StoreLocked
from refdesk.filters.values import instant

FILE = "control.sqlite"
SCHEMA = 2
APPLICATION = 0x7264736B
"""Marks the file as ours, in SQLite's application_id."""
BUSY_SECONDS = 10.0
NEARBY = 20
"""Characters around one that is no valid Unicode, for messages."""

DISK_FULL = "Free some disk space; what was stored before is still there."
REBUILD = "Restore the folder from a backup, or delete it and ingest again."


def is_laid_out(folder: Path) -> bool:
    """Tell whether there is a control file, of whatever version. Errors: `StoreError` for a damaged one."""
    if not (folder / FILE).exists():
        return False
    with reading(folder) as connection:
        return state(connection) != (0, 0)


def create(folder: Path) -> None:
    """Make the control file; the caller holds the write lock. Errors: `StoreError`."""
    with translated(folder):
        connection = _connect(folder, mode="rwc")
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("BEGIN IMMEDIATE")
            _lay_out(connection)
            connection.execute("COMMIT")
        finally:
            connection.close()


def state(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return what the file says of itself: whose it is, and its format; (0, 0) before it is laid out."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return application, version


def _lay_out(connection: sqlite3.Connection) -> None:
    if state(connection) != (0, 0):
        return
    schema = files("refdesk.stores").joinpath("schema.sql").read_text("utf-8")
    for statement in re.sub("--.*", "", schema).split(";"):
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {SCHEMA}")


def version(folder: Path) -> int:
    """Return the format of a library. Errors: `NotFound`, `StoreError`."""
    if not (folder / FILE).is_file():
        raise _nothing_in(folder)
    with reading(folder) as connection:
        return state(connection)[1]


def check(folder: Path) -> None:
    """Refuse a folder without a control file that this version can use. Errors: `NotFound`, `StoreError`."""
    if not (folder / FILE).is_file():
        raise _nothing_in(folder)
    with reading(folder) as connection:
        application, found = state(connection)
    if (application, found) == (0, 0):  # being made, or left so by a process that ended; a write mends it
        raise _nothing_in(folder)
    if application != APPLICATION:
        raise StoreError(f"{str(folder / FILE)!r} is not the control file of a library.", remedy=REBUILD)
    if found > SCHEMA:
        raise StoreError(
            f"The library {str(folder)!r} has format {found}; this refdesk reads format {SCHEMA}.",
            remedy="A newer refdesk wrote it: pip install --upgrade refdesk",
        )
    if found < SCHEMA:
        raise StoreError(
            f"The library {str(folder)!r} has the old format {found}, which does not say who may read its"
            f" documents; this refdesk reads format {SCHEMA}.",
            remedy=f"Say it for all of them: refdesk --library {shlex.quote(str(folder))} upgrade --acl NAME,"
            " where the name `public` is everyone. Or delete the folder and ingest again.",
        )


def _nothing_in(folder: Path) -> NotFound:
    return NotFound(
        f"There is no library in {str(folder)!r}.", remedy="Ingest something first: refdesk ingest PATH"
    )


def connect(folder: Path) -> sqlite3.Connection:
    """Open a connection that only reads; any thread may use it, one at a time."""
    return _connect(folder, mode="ro")


def _connect(folder: Path, *, mode: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{(folder / FILE).resolve().as_uri()}?mode={mode}",
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        connection.create_function("instant", 1, _instant_or_null, deterministic=True)
        for setting in (
            "foreign_keys = ON",
            "synchronous = FULL",
            "secure_delete = ON",
            "cache_size = -16000",
        ):
            connection.execute(f"PRAGMA {setting}")
    except BaseException:
        connection.close()
        raise
    return connection


def _instant_or_null(text: str | None) -> int | None:
    return None if text is None else instant(text)


@contextmanager
def reading(folder: Path) -> Iterator[sqlite3.Connection]:
    """Open one reading transaction."""
    with translated(folder):
        connection = connect(folder)
        try:
            connection.execute("BEGIN")
            yield connection
        finally:
            connection.close()


@contextmanager
def writing(folder: Path, *, changes_tables: bool = False) -> Iterator[sqlite3.Connection]:
    """Open one writing transaction: all of it is kept and synced, or none of it."""
    with translated(folder):
        connection = _connect(folder, mode="rw")
        try:
            if changes_tables:  # SQLite adds no column that refers to other tables while it checks them
                connection.execute("PRAGMA foreign_keys = OFF")
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")
        finally:
            connection.close()


@contextmanager
def translated(folder: Path) -> Iterator[None]:
    """Turn what SQLite and the file system raise into `StoreError`; text they cannot take is `InputError`."""
    try:
        yield
    except UnicodeEncodeError as error:
        part = error.object[max(0, error.start - NEARBY) : error.end + NEARBY]
        raise InputError(f"Cannot use the text {part!r} in a library: it is no valid Unicode.") from error
    except sqlite3.OperationalError as error:
        raise _operational(folder, error) from error
    except sqlite3.DatabaseError as error:
        raise StoreError(f"The library {str(folder)!r} is damaged: {error}.", remedy=REBUILD) from error
    except OSError as error:
        raise StoreError(f"Cannot use the library {str(folder)!r}: {error}.") from error


def _operational(folder: Path, error: sqlite3.OperationalError) -> StoreError:
    message = f"Cannot use the library {str(folder)!r}: {error}."
    if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreLocked(message, remedy="Another process is writing: try again.")
    if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_FULL:
        return StoreError(message, remedy=DISK_FULL)
    return StoreError(message, remedy="Check that the folder and its files can be read and written.")
