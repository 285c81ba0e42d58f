"""Conversations in a file, for any number of processes."""

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from anyio import to_thread

from refdesk.conversations import sqlitefile as file
from refdesk.conversations import sqliterows as rows
from refdesk.conversations.kept import Conversation, Forgotten, KeptResults, Key, Said, StoredMessage, Tally
from refdesk.conversations.limits import (
    Clock,
    check_days,
    check_page,
    check_purge,
    no_message,
    nothing_found,
    now,
    oldest,
)
from refdesk.conversations.records import EVER, messages_of, ticks, time_of

T = TypeVar("T")
N = TypeVar("N")


@dataclass(frozen=True, slots=True)
class SQLiteConversations:
    """Keeps conversations in a file, which is made when something is first added."""

    path: Path
    days: float = 0.0
    """How long one is kept that nobody adds to; 0 for ever."""
    clock: Clock = now

    def __post_init__(self) -> None:
        check_days(self.days)

    async def messages(
        self, key: Key, *, last: int | None = None, before: str = ""
    ) -> tuple[StoredMessage, ...]:
        since = self._since
        found = await self._read(
            lambda connection: rows.messages(connection, key, last=last, before=before, since=since), None
        )
        if found is None and before:
            raise no_message(key.conversation, before)
        return found or ()

    async def add(self, key: Key, said: Sequence[Said]) -> tuple[StoredMessage, ...]:
        at, since = self.clock(), self._since
        if not messages_of(said, at):
            return ()

        def work(connection: sqlite3.Connection) -> tuple[StoredMessage, ...]:
            row, used = rows.used(connection, key, ticks(at), since)
            added = messages_of(said, time_of(used))
            rows.add(connection, row, added)
            return added

        return await self._write(work)

    async def found(self, key: Key) -> tuple[KeptResults, ...]:
        since = self._since
        found = await self._read(
            lambda connection: rows.results(connection, rows.find(connection, key, since)), ()
        )
        if not found:
            raise nothing_found(key.conversation)
        return found

    async def keep(self, key: Key, results: Sequence[KeptResults]) -> None:
        at, since = ticks(self.clock()), self._since

        def work(connection: sqlite3.Connection) -> None:
            row, _ = rows.used(connection, key, at, since)
            rows.keep(connection, row, results)
            rows.clear(connection)

        await self._write(work)

    async def conversations(
        self, user: str, *, offset: int = 0, limit: int = 100
    ) -> tuple[Conversation, ...]:
        return await self._page(user, offset, limit)

    async def everyones(self, *, offset: int = 0, limit: int = 100) -> tuple[Conversation, ...]:
        return await self._page(None, offset, limit)

    async def count(self, user: str | None = None) -> Tally:
        since = self._since
        return await self._read(
            lambda connection: rows.count(connection, user, since=since, before=-EVER), Tally()
        )

    async def delete(self, key: Key) -> Tally:
        def work(connection: sqlite3.Connection) -> Tally:
            row = rows.find(connection, key, EVER)
            return Tally() if row is None else rows.delete(connection, row)

        return await self._remove(work, Tally())

    async def purge(self, *, user: str | None = None, before: datetime | None = None) -> Tally:
        check_purge(user, before)
        at = -EVER if before is None else ticks(before)
        return await self._remove(lambda connection: rows.purge(connection, user, at), Tally())

    async def forget(self, documents: Sequence[str], *, answers: bool = False) -> Forgotten:
        return await self._remove(
            lambda connection: rows.forget(connection, documents, answers=answers), Forgotten()
        )

    async def aclose(self) -> None:
        return None

    @property
    def _since(self) -> int:
        since = oldest(self.days, self.clock)
        return EVER if since is None else ticks(since)

    async def _page(self, user: str | None, offset: int, limit: int) -> tuple[Conversation, ...]:
        check_page(offset, limit)
        since = self._since
        return await self._read(
            lambda connection: rows.page(connection, user, offset=offset, limit=limit, since=since), ()
        )

    async def _read(self, work: Callable[[sqlite3.Connection], T], nothing: N) -> T | N:
        def guarded() -> T | N:
            with file.reading(self.path) as connection:
                return nothing if connection is None else work(connection)

        return await to_thread.run_sync(guarded)

    async def _write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        def guarded() -> T:
            with file.writing(self.path) as connection:
                return work(connection)

        return await to_thread.run_sync(guarded)

    async def _remove(self, work: Callable[[sqlite3.Connection], T], nothing: T) -> T:
        """Delete, so that nothing of it is left in the file; without a file there is nothing to delete."""

        def guarded() -> T:
            if not self.path.is_file():
                return nothing
            with file.writing(self.path) as connection:
                removed = work(connection)
            file.overwrite(self.path)
            return removed

        return await to_thread.run_sync(guarded)
