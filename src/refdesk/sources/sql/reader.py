"""One run over a database: what changed, what is there, and single rows. Everything here blocks."""

import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from refdesk.errors import RefdeskError
from refdesk.plugins import load_extra
from refdesk.sources import SourceFailure, SourceGone, SourceItem, SourceMark, SourcePresent
from refdesk.sources.sql.connecting import EXTRA, Lost
from refdesk.sources.sql.cursor import Cursor, later, not_after
from refdesk.sources.sql.opening import Opened
from refdesk.sources.sql.plan import Row
from refdesk.sources.sql.rows import Reading
from refdesk.sources.sql.values import earlier, moment

MARKED = 1000
"""Rows after which it is said how far the reading has come."""
TOGETHER = 200
"""Rows that are read by their ids at once."""
UNKNOWN = "\0"
"""The version of what is not known; no database keeps such a text."""
TRIES = 4
"""How often a broken connection is opened again without a row in between."""

Listed = SourceItem | SourceFailure | SourceGone


@dataclass
class Reader:
    """Reads one source once."""

    source: Opened
    missed: list[tuple[Any, ...]] = field(default_factory=list)
    """Keys of the rows that the walk met and that were not known so."""
    told: bool = False
    """Whether it was said that rows have no id."""
    wait: float = 1.0
    """Seconds before a broken connection is opened again; doubled each time."""

    def count(self, cursor: Cursor) -> int:
        """Count the rows that `changes` reads."""
        query, connection = self.source.query, self.source.connection
        return sum(int(connection.one(query.count(*part))) for part, _ in self._parts(cursor))

    def changes(self, cursor: Cursor) -> Generator[Listed | SourceMark, None, None]:
        """List the rows that changed since the cursor, the oldest change first, with marks in between."""
        reading, now, name = self.source.reading(), self._now(), self.source.config.name
        yield from self._nameless()
        at, row_id, column = cursor.at, cursor.id, self.source.map.updated_at
        for conditions, order in self._parts(cursor):
            for number, row in enumerate(self._rows(conditions, order), 1):
                yield self._listed(reading, row)
                if column and row[column.name] is not None:
                    change = not_after(row[column.name], now, reading.zone)
                    at, row_id = later(at, change), str(row[self.source.keys[0]])[:200]
                    if number % MARKED == 0:
                        yield SourceMark(name, str(replace(cursor, at=at, id=row_id)))
        yield SourceMark(name, str(replace(cursor, at=at, id=row_id)))

    def walk(
        self, cursor: Cursor, known: Mapping[str, str | None]
    ) -> Generator[SourcePresent | SourceFailure | SourceGone | SourceMark, None, None]:
        """List all rows by id and ACL; the mark at the end says that none is missing."""
        source, reading = self.source, self.source.reading()
        self.missed.clear()
        if not self.told:
            yield from self._nameless()
        present = source.query.present(source.keys)
        for row in source.connection.stream(source.query.select(source.slim).where(present)):
            try:
                identity = reading.identity(row)
            except RefdeskError as error:
                yield self._failure("", error)
                continue
            source_id = f"{reading.name}:{identity}"
            if reading.gone(row):
                yield SourceGone(source_id)
                continue
            if known.get(source_id, UNKNOWN) not in (None, reading.version(row)):
                self.missed.append(tuple(row[key] for key in source.keys))
            yield SourcePresent(source_id, reading.acl(row, identity))
        yield SourceMark(reading.name, str(replace(cursor, walked=datetime.now(UTC))))

    def unknown(self) -> Generator[Listed, None, None]:
        """List the rows that the walk met and did not know, or not in this version."""
        source, reading = self.source, self.source.reading() if self.missed else None
        for start in range(0, len(self.missed), TOGETHER):
            keys = self.missed[start : start + TOGETHER]
            condition = source.query.among(source.keys, keys)
            for row in source.connection.stream(source.query.select(source.whole).where(condition)):
                assert reading is not None
                yield self._listed(reading, row)

    def _parts(self, cursor: Cursor) -> list[tuple[list[Any], tuple[str, ...]]]:
        """Return conditions and orders: rows that do not say when they changed, then those that do."""
        query, keys, column = self.source.query, self.source.keys, self.source.map.updated_at
        present = query.present(keys)
        if column is None:
            return [([present], keys)]
        since = [query.since(column.name, self._start(cursor))] if cursor.at is not None else []
        dated = [present, query.present([column.name]), *since]
        return [([present, query.absent([column.name])], keys), (dated, (column.name, *keys))]

    def _start(self, cursor: Cursor) -> Any:
        return earlier(cursor.at, self.source.config.sync.overlap)

    def _rows(self, conditions: Sequence[Any], order: Sequence[str]) -> Iterator[Row]:
        """Yield rows in order, a page per statement; go on where a broken connection ended."""
        query, page, columns = self.source.query, self.source.config.sync.page, self.source.whole
        last: list[Any] = []
        tries = 0
        while True:
            after = [query.after(order, last)] if last else []
            statement = query.ordered(query.select(columns).where(*conditions, *after), order, page)
            found = 0
            try:
                for row in self.source.connection.stream(statement):
                    last, found, tries = [row[name] for name in order], found + 1, 0
                    yield row
            except Lost:
                tries += 1
                if not last or tries == TRIES:
                    raise
                time.sleep(self.wait * 2**tries)
                continue
            if found < page:
                return

    def _listed(self, reading: Reading, row: Row) -> Listed:
        """Return what a row comes to. Whatever is wrong with it, it stops no other."""
        identity = ""
        try:
            identity = reading.identity(row)
            if reading.gone(row):
                return SourceGone(f"{reading.name}:{identity}")
            finish = self.source.plan.finish
            return reading.item(finish(row) if finish else row, identity)
        except RefdeskError as error:
            return self._failure(identity, error)
        except Exception as error:  # of a preset that did not expect such a row
            return SourceFailure(f"{reading.name}:{identity}", "unexpected", repr(error))

    def _nameless(self) -> Iterator[SourceFailure]:
        """Yield one failure for all rows without an id."""
        query, self.told = self.source.query, True
        count = self.source.connection.one(query.count(query.absent(self.source.keys)))
        if count:
            names = ", ".join(self.source.keys)
            message = f"{count:,} row{'s have' if count > 1 else ' has'} no id: {names} is NULL."
            yield SourceFailure(f"{self.source.config.name}:", "incomplete", message)

    def _failure(self, identity: str, error: RefdeskError) -> SourceFailure:
        return SourceFailure(f"{self.source.config.name}:{identity}", "incomplete", str(error))

    def _now(self) -> datetime:
        """Return what time it is for the database."""
        connection = self.source.connection
        if connection.dialect == "sqlite":
            return datetime.now(UTC)
        clock = "UTC_TIMESTAMP(6)" if connection.dialect == "mysql" else "CURRENT_TIMESTAMP"
        return moment(connection.one(load_extra("sqlalchemy", EXTRA).text(f"SELECT {clock}")))
