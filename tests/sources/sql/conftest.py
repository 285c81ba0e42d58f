"""The same table in each database that there is."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.sources.sql.tables import Notes

MARIADB = "REFDESK_TEST_MARIADB"
"""Names a database of a running MariaDB or MySQL server that may be filled: mariadb://user:password@host/name"""


@pytest.fixture
def sqlite(tmp_path: Path) -> Notes:
    notes = Notes(f"sqlite:///{tmp_path / 'notes #1.db'}")
    (tmp_path / "notes #1.db").touch()
    notes.create()
    return notes


@pytest.fixture(params=["sqlite", "postgresql", "mariadb"])
def notes(request: pytest.FixtureRequest) -> Iterator[Notes]:
    """Give an empty table in each kind of database."""
    if request.param == "sqlite":
        yield request.getfixturevalue("sqlite")
        return
    if request.param == "postgresql":
        found = Notes(request.getfixturevalue("postgres"))
    elif url := os.environ.get(MARIADB):
        found = Notes(url)
    else:
        pytest.skip(f"{MARIADB} names no server")
    found.create()
    yield found
    if request.param == "mariadb":
        found.run("DROP TABLE notes")
