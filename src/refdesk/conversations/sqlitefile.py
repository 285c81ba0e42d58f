"""The file of conversations: opening it, its version, its transactions.

Several processes may use it at once: writes wait for each other, reads for nobody. What was deleted is
overwritten, in the file and in its log.
"""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from importlib.resources import files
from pathlib import Path

from refdesk.errors import StoreError, StoreLocked

FILE = "conversations.sqlite"
SCHEMA = 1
APPLICATION = 0x72646376
"""Marks the file as ours, in SQLite's application_id."""
BUSY_SECONDS = 30.0


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection | None]:
    """Open one reading transaction; None where there is no file, or nothing in it yet."""
    if not path.is_file():
        yield None
        return
    with translated(path), closing(_connect(path, "rw")) as connection:
        connection.execute("BEGIN")
        yield connection if _is_laid_out(path, connection) else None


@contextmanager
def writing(path: Path) -> Iterator[sqlite3.Connection]:
    """Open one writing transaction, synced at its end; a missing file is made."""
    with translated(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with closing(_connect(path, "rwc")) as connection:
            _use_log(connection)
            connection.execute("BEGIN IMMEDIATE")
            if not _is_laid_out(path, connection):
                _lay_out(connection)
            yield connection
            connection.execute("COMMIT")


def overwrite(path: Path) -> None:
    """Bring deletions from the log into the file and empty the log, where no reader holds it."""
    with translated(path), closing(_connect(path, "rw")) as connection, suppress(sqlite3.OperationalError):
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.resolve().as_uri()}?mode={mode}", uri=True, timeout=BUSY_SECONDS, isolation_level=None
    )
    try:
        for setting in ("foreign_keys = ON", "synchronous = FULL", "secure_delete = ON"):
            connection.execute(f"PRAGMA {setting}")
    except BaseException:
        connection.close()
        raise
    return connection


def _use_log(connection: sqlite3.Connection) -> None:
    """Let readers go on while there is a writer. A file that is being made by another has it already."""
    if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        connection.execute("PRAGMA journal_mode = WAL")


def _is_laid_out(path: Path, connection: sqlite3.Connection) -> bool:
    """Tell whether there is something in the file. Errors: `StoreError` for what another program made."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if (application, version) == (APPLICATION, SCHEMA):
        return True
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if (application, version, tables) == (0, 0, 0):
        return False
    if application == APPLICATION:
        raise StoreError(
            f"The conversations in {str(path)!r} have format {version}; this refdesk reads format {SCHEMA}.",
            remedy="Use the refdesk that wrote them, or delete the file.",
        )
    raise StoreError(
        f"{str(path)!r} is no file of conversations.", remedy="Move it away; a new one is made when needed."
    )


def _lay_out(connection: sqlite3.Connection) -> None:
    schema = files("refdesk.conversations").joinpath("schema.sql").read_text("utf-8")
    for statement in re.sub("--.*", "", schema).split(";"):
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {SCHEMA}")


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn what SQLite and the file system raise into `StoreError`."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise _operational(path, error) from error
    except sqlite3.DatabaseError as error:
        raise StoreError(
            f"The conversations in {str(path)!r} are damaged: {error}.",
            remedy="Restore the file from a backup, or delete it: the documents are not in it.",
        ) from error
    except OSError as error:
        raise StoreError(f"Cannot use the conversations in {str(path)!r}: {error}.") from error


def _operational(path: Path, error: sqlite3.OperationalError) -> StoreError:
    message, code = f"Cannot use the conversations in {str(path)!r}: {error}.", error.sqlite_errorcode & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreLocked(message, remedy="Another process is writing: try again.")
    if code == sqlite3.SQLITE_FULL:
        return StoreError(message, remedy="Free some disk space; what was said before is still there.")
    return StoreError(message, remedy="Check that the folder and the file can be read and written.")
