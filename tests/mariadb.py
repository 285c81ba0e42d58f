"""A real MariaDB for the tests that need one: started once if it is installed, a database for each test."""

import itertools
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit, urlunsplit

import pytest
import sqlalchemy

from refdesk.sources.sql.connecting import DRIVERS

NUMBERS = itertools.count()
SERVER = "REFDESK_TEST_MARIADB"
"""Names a running server to be used instead, as a URL of one who may create databases."""
PLACES = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"))
NEEDED = "MariaDB is not installed: apt-get install mariadb-server-core mariadb-client-core"
UNSAFE = ("--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=0", "--innodb-buffer-pool-size=64M")
"""What a server does not need that lives for some tests."""
PATIENCE = 60.0
"""Seconds until a server has to answer."""


@pytest.fixture(scope="session")
def mariadb_server() -> Iterator[str]:
    """Give the URL of a server's database `mysql`; tests are skipped where there is none."""
    if url := os.environ.get(SERVER):
        yield url
        return
    server, install = (shutil.which(name, path=PLACES) for name in ("mariadbd", "mariadb-install-db"))
    if not server or not install:
        pytest.skip(NEEDED)
    with TemporaryDirectory(prefix="refdesk-mariadb-") as folder, running(server, install, folder) as url:
        yield url


@contextmanager
def running(server: str, install: str, folder: str) -> Iterator[str]:
    """Run a server on an empty folder, to be reached by a socket in it alone."""
    data, place, log = (f"{folder}/{name}" for name in ("data", "socket", "log"))
    # A server that starts removes what looks like a table of its own from the folder for temporary ones.
    places = (f"--datadir={data}", f"--tmpdir={folder}")
    options = [*places, *UNSAFE, *(["--user=root"] if os.geteuid() == 0 else [])]
    made = (install, "--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db", *options)
    subprocess.run(made, check=True, capture_output=True)
    begun = (server, "--no-defaults", f"--socket={place}", "--skip-networking", f"--log-error={log}")
    process = subprocess.Popen([*begun, *options], stderr=subprocess.DEVNULL)
    try:
        wait(process, place, Path(log))
        yield f"mariadb://root@localhost/mysql?unix_socket={place}"
    finally:
        process.terminate()
        process.wait()


def wait(process: subprocess.Popen[bytes], place: str, log: Path) -> None:
    """Return once a server listens."""
    end = time.monotonic() + PATIENCE
    while not listens(place):
        if process.poll() is not None or time.monotonic() > end:
            raise RuntimeError(f"MariaDB does not answer:\n{log.read_text()[-2000:]}")
        time.sleep(0.05)


def listens(place: str) -> bool:
    with socket.socket(socket.AF_UNIX) as tried:
        return tried.connect_ex(place) == 0


@pytest.fixture
def mariadb(mariadb_server: str) -> Iterator[str]:
    """Give the URL of an empty database, with the collation that TYPO3 wants, gone after the test."""
    name = f"test_{os.getpid()}_{next(NUMBERS)}"
    run(mariadb_server, f"CREATE DATABASE {name} CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci")
    yield urlunsplit(urlsplit(mariadb_server)._replace(path=f"/{name}"))
    run(mariadb_server, f"DROP DATABASE {name}")


def run(url: str, *statements: str) -> None:
    """Run statements on a connection of their own."""
    scheme, _, rest = url.partition(":")
    engine = sqlalchemy.create_engine(f"{DRIVERS[scheme]}:{rest}", poolclass=sqlalchemy.NullPool)
    with engine.begin() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)
