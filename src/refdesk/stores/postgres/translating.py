"""What psycopg raises, as errors of refdesk that say what to do. No message shows a password."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors
from psycopg_pool import PoolClosed, PoolTimeout, TooManyRequests

from refdesk.errors import InputError, RefdeskError, StoreError, StoreLocked
from refdesk.stores.control import DISK_FULL, NEARBY
from refdesk.stores.postgres.address import Address

RIGHTS = "Grant the role what it needs: docs/stores-postgres.md has the SQL."
REACH = "Check that the server runs and takes connections there: psql with the same URL."
AGAIN = "Try again; what was stored before is still there."
BUSY = "Another process is writing: try again."
FEWER = "Allow more connections on the server (max_connections), or open fewer."

PRIMARY = "The server takes no writes (a standby?): name its primary in the URL."

REMEDIES: tuple[tuple[type[psycopg.Error], str], ...] = (
    (errors.InvalidPassword, "Check user and password in the URL."),
    (errors.InvalidAuthorizationSpecification, "Check user and password in the URL, and pg_hba.conf."),
    (errors.InvalidCatalogName, "Create the database, or name another in the URL: createdb NAME"),
    (errors.InsufficientPrivilege, RIGHTS),
    (errors.ReadOnlySqlTransaction, PRIMARY),
    (errors.FeatureNotSupported, PRIMARY),  # of all that is asked here, only writes on a standby
    (errors.DiskFull, DISK_FULL),
    (errors.TooManyConnections, FEWER),
    (errors.QueryCanceled, "The server ended it: raise statement_timeout of the role."),
    (errors.ProgramLimitExceeded, "Shorten it: Postgres takes no value as large as this."),
    (errors.UndefinedTable, "Open it again: its tables were changed or dropped meanwhile."),
)
SAID: tuple[tuple[str, str], ...] = (
    ("password", "Check user and password in the URL."),
    ("role", "Check the user in the URL."),
    ("database", "Create the database, or name another in the URL: createdb NAME"),
    ("clients already", FEWER),
)
"""Of errors of connecting, which have no code: a word in them, and what to do."""


@contextmanager
def translated(address: Address) -> Iterator[None]:
    """Turn what psycopg raises into `StoreError`; text that cannot be sent is `InputError`."""
    try:
        yield
    except RefdeskError:
        raise
    except UnicodeEncodeError as error:
        part = str(error.object)[max(0, error.start - NEARBY) : error.end + NEARBY]
        raise InputError(f"Cannot use the text {part!r} in a library: it is no valid Unicode.") from error
    except PoolClosed as error:
        raise StoreError(f"The library {address} was closed.", remedy="Open it again.") from error
    except psycopg.Error as error:
        raise in_words(address, error) from error
    except OSError as error:
        raise StoreError(f"Cannot use the library {address}: {error}.", remedy=REACH) from error


def in_words(address: Address, error: psycopg.Error) -> StoreError:
    """Return an error of psycopg as ours."""
    message = f"Cannot use the library {address}: {_said(error)}."
    if isinstance(error, errors.LockNotAvailable | errors.DeadlockDetected | errors.SerializationFailure):
        return StoreLocked(message, remedy=BUSY)
    if isinstance(error, PoolTimeout | TooManyRequests):
        return StoreError(message, remedy="All its connections are in use: open it with more, or ask less.")
    for kind, remedy in REMEDIES:
        if isinstance(error, kind):
            return StoreError(message, remedy=remedy)
    if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return StoreError(message, remedy=_of_connecting(str(error)))
    return StoreError(message, remedy=AGAIN)


def _said(error: psycopg.Error) -> str:
    text = error.diag.message_primary or str(error)
    return " ".join(text.split()).rstrip(".?")


def _of_connecting(text: str) -> str:
    if "FATAL" in text:
        for word, remedy in SAID:
            if word in text:
                return remedy
    return REACH
