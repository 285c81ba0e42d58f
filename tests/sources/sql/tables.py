"""A table of notes in a real database, and a source over it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy

from refdesk.sources import SourceFailure, SourceGone, SourceItem, SourceMark, SourcePresent
from refdesk.sources.sql import Sql
from refdesk.sources.sql.connecting import DRIVERS

Found = SourceItem | SourceFailure | SourceGone | SourceMark | SourcePresent
EARLY = datetime(2024, 1, 1, 12)
CREATE = """CREATE TABLE notes (
  id integer PRIMARY KEY, title varchar(200), body text, changed {time}, deleted integer DEFAULT 0,
  readers varchar(200))"""
MAP: Mapping[str, Any] = {
    "id": "id",
    "title": "title",
    "text": "body",
    "updated_at": "changed",
    "deleted": "deleted",
    "acl": "readers",
}


@dataclass(frozen=True)
class Notes:
    """A table, changed as its owner does."""

    url: str

    def run(self, statement: str, *rows: Mapping[str, Any]) -> None:
        scheme, _, rest = self.url.partition(":")
        engine = sqlalchemy.create_engine(
            f"{DRIVERS[scheme.partition('+')[0]]}:{rest}", poolclass=sqlalchemy.NullPool
        )
        with engine.begin() as connection:
            connection.execute(sqlalchemy.text(statement), list(rows) or None)

    def create(self) -> None:
        time = {"postgresql": "timestamp", "mysql": "datetime(6)", "mariadb": "datetime(6)"}
        self.run("DROP TABLE IF EXISTS notes")
        self.run(CREATE.format(time=time.get(self.url.partition(":")[0].partition("+")[0], "timestamp")))

    def add(
        self, *numbers: int, changed: datetime | str | None = EARLY, readers: str | None = "public"
    ) -> None:
        self.run(
            "INSERT INTO notes (id, title, body, changed, readers)"
            " VALUES (:id, :title, :body, :changed, :readers)",
            *(
                {
                    "id": number,
                    "title": f"Note {number}",
                    "body": f"The body of note {number}.",
                    "changed": str(changed) if changed and self.url.startswith("sqlite") else changed,
                    "readers": readers,
                }
                for number in numbers
            ),
        )

    def source(self, **changes: Any) -> Sql:
        data = {"version": 1, "name": "notes", "url": self.url, "query": "SELECT * FROM notes", "map": MAP}
        return Sql({**data, **changes})


Pick = Callable[[Found], bool]


async def changes(source: Sql, cursor: str = "") -> list[Found]:
    return [one async for one in source.changes(cursor)]


async def walk(source: Sql, cursor: str = "", known: Sequence[str] = ()) -> list[Found]:
    return [one async for one in source.walk(cursor, dict.fromkeys(known))]


def ids(found: Sequence[Found]) -> list[str]:
    """Return the ids of what was listed, without marks."""
    return [one.source_id for one in found if not isinstance(one, SourceMark)]


def cursor(found: Sequence[Found]) -> str:
    """Return the cursor at the end."""
    last = found[-1]
    assert isinstance(last, SourceMark)
    return last.cursor


def item(found: Found) -> SourceItem:
    assert isinstance(found, SourceItem), found
    return found


def failure(found: Found) -> SourceFailure:
    assert isinstance(found, SourceFailure), found
    return found
