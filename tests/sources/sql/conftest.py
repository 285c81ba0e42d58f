"""The same table in each database that there is."""

from pathlib import Path

import pytest
from tests.sources.sql.tables import Notes


@pytest.fixture
def sqlite(tmp_path: Path) -> Notes:
    notes = Notes(f"sqlite:///{tmp_path / 'notes #1.db'}")
    (tmp_path / "notes #1.db").touch()
    notes.create()
    return notes


@pytest.fixture(params=["sqlite", "postgres", "mariadb"])
def notes(request: pytest.FixtureRequest) -> Notes:
    """Give an empty table in each kind of database."""
    found = request.getfixturevalue(request.param)
    if isinstance(found, Notes):
        return found
    made = Notes(found)
    made.create()
    return made
