"""`Sql`: the rows of a query as a source that is followed."""

import itertools
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Mapping
from contextlib import closing
from datetime import UTC, datetime
from os import PathLike
from typing import Any, TypeVar

from anyio import to_thread

from refdesk.sources import SourceFailure, SourceGone, SourceItem, SourceMark, SourcePresent
from refdesk.sources.sql.cursor import Cursor, read_cursor
from refdesk.sources.sql.form import Config
from refdesk.sources.sql.opening import opened
from refdesk.sources.sql.reader import Listed, Reader
from refdesk.sources.sql.reading import read_config

T = TypeVar("T")
BATCH = 100
"""Rows that are handed on at once."""


class Sql:
    """List the rows of a query, each a document, and follow how they change.

    `source` is a file, the same as plain data, or a `Config`. Ids begin with the source's name, so it knows
    its documents from others in the collection. Errors: `SettingsError` with all that is wrong;
    `MissingExtra`; `SourceError` once the database is read.
    """

    def __init__(self, source: str | PathLike[str] | Mapping[str, Any] | Config) -> None:
        self.config = source if isinstance(source, Config) else read_config(source)
        self._reader: Reader | None = None

    @property
    def name(self) -> str:
        return self.config.name

    @property
    def remove_at_most(self) -> float:
        return self.config.sync.remove_at_most

    def count(self) -> int:
        return self.count_since("")

    def count_since(self, cursor: str) -> int:
        """Count what `changes` lists. A run begins with it: the tables are looked at anew."""
        self._reader = None
        return self._opened().count(self._cursor(cursor))

    async def items(self) -> AsyncIterator[SourceItem | SourceFailure]:
        """List all rows."""
        async for found in self.changes(""):
            if isinstance(found, SourceItem | SourceFailure):
                yield found

    def changes(self, cursor: str) -> AsyncIterator[Listed | SourceMark]:
        return _threaded(lambda: self._opened().changes(self._cursor(cursor)))

    def walks(self, cursor: str) -> bool:
        """Tell whether ids and ACLs are to be compared in this run."""
        every, walked = self.config.sync.walk, self._cursor(cursor).walked
        return every is not None and (walked is None or datetime.now(UTC) - walked >= every)

    def walk(
        self, cursor: str, known: Mapping[str, str | None]
    ) -> AsyncIterator[SourcePresent | SourceFailure | SourceGone | SourceMark]:
        return _threaded(lambda: self._opened().walk(self._cursor(cursor), known))

    def unknown(self) -> AsyncIterator[SourceItem | SourceFailure | SourceGone]:
        return _threaded(lambda: self._opened().unknown())

    def covers(self, source_id: str, url: str | None) -> bool:
        return source_id.startswith(f"{self.name}:")

    def _opened(self) -> Reader:
        self._reader = self._reader or Reader(opened(self.config))
        return self._reader

    def _cursor(self, cursor: str) -> Cursor:
        return read_cursor(cursor, self._opened().source.shape)


async def _threaded(begin: Callable[[], Generator[T, None, None]]) -> AsyncGenerator[T, None]:
    """Yield what an iterator that blocks gives, some at a time from a thread."""
    iterator = await to_thread.run_sync(begin)
    with closing(iterator):
        while batch := await to_thread.run_sync(lambda: list(itertools.islice(iterator, BATCH))):
            for found in batch:
                yield found
