"""Conversations beside the library in a database, for any number of machines."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime

from refdesk.conversations import Conversation, Forgotten, KeptResults, Key, Said, StoredMessage, Tally
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
from refdesk.stores.postgres import conversation_rows as table
from refdesk.stores.postgres.connecting import Connection, Database

LOCK = "conversations"


@dataclass(frozen=True, slots=True)
class PostgresConversations:
    """Keeps conversations in the schema of a library.

    `database` gives the library, made where there is none, when something is to be kept. `existing` gives it
    to read, None where there is none; without it, `database` does.
    """

    database: Callable[[], Awaitable[Database]]
    existing: Callable[[], Awaitable[Database | None]] | None = None
    days: float = 0.0
    """How long one is kept that nobody adds to; 0 for ever."""
    clock: Clock = now

    def __post_init__(self) -> None:
        check_days(self.days)

    async def messages(
        self, key: Key, *, last: int | None = None, before: str = ""
    ) -> tuple[StoredMessage, ...]:
        async with self._reading() as connection:
            if connection is not None:
                return await table.messages(connection, key, last=last, before=before, since=self._since)
        if before:
            raise no_message(key.conversation, before)
        return ()

    async def add(self, key: Key, said: Sequence[Said]) -> tuple[StoredMessage, ...]:
        at, since = self.clock(), self._since
        if not messages_of(said, at):
            return ()
        async with self._writing(key) as connection:
            row, used = await table.used(connection, key, ticks(at), since)
            added = messages_of(said, time_of(used))
            await table.add(connection, row, added)
        return added

    async def found(self, key: Key) -> tuple[KeptResults, ...]:
        found: tuple[KeptResults, ...] = ()
        async with self._reading() as connection:
            if connection is not None:
                found = await table.results(connection, await table.find(connection, key, self._since))
        if not found:
            raise nothing_found(key.conversation)
        return found

    async def keep(self, key: Key, results: Sequence[KeptResults]) -> None:
        at, since = ticks(self.clock()), self._since
        async with self._writing(key) as connection:
            row, _ = await table.used(connection, key, at, since)
            await table.keep(connection, row, results)
            await table.clear(connection, [row])

    async def conversations(
        self, user: str, *, offset: int = 0, limit: int = 100
    ) -> tuple[Conversation, ...]:
        return await self._page(user, offset, limit)

    async def everyones(self, *, offset: int = 0, limit: int = 100) -> tuple[Conversation, ...]:
        return await self._page(None, offset, limit)

    async def count(self, user: str | None = None) -> Tally:
        async with self._reading() as connection:
            if connection is None:
                return Tally()
            return await table.count(connection, user, since=self._since)

    async def delete(self, key: Key) -> Tally:
        if await self._existing() is None:
            return Tally()
        async with self._writing(key) as connection:
            row = await table.find(connection, key)
            return await table.delete(connection, [] if row is None else [row])

    async def purge(self, *, user: str | None = None, before: datetime | None = None) -> Tally:
        check_purge(user, before)
        at = -EVER if before is None else ticks(before)
        if await self._existing() is None:
            return Tally()
        async with self._writing() as connection:
            return await table.purge(connection, user, at)

    async def forget(self, documents: Sequence[str], *, answers: bool = False) -> Forgotten:
        if await self._existing() is None:
            return Forgotten()
        async with self._writing() as connection:
            return await table.forget(connection, documents, answers=answers)

    async def aclose(self) -> None:
        """Nothing: the connections are the library's."""

    @property
    def _since(self) -> int:
        since = oldest(self.days, self.clock)
        return EVER if since is None else ticks(since)

    async def _page(self, user: str | None, offset: int, limit: int) -> tuple[Conversation, ...]:
        check_page(offset, limit)
        async with self._reading() as connection:
            if connection is None:
                return ()
            return await table.page(connection, user, offset=offset, limit=limit, since=self._since)

    async def _existing(self) -> Database | None:
        return await (self.existing or self.database)()

    @asynccontextmanager
    async def _reading(self) -> AsyncIterator[Connection | None]:
        """Open a transaction that cannot write; None where there is no library."""
        database = await self._existing()
        if database is None:
            yield None
            return
        async with database.reading() as connection:
            yield connection

    @asynccontextmanager
    async def _writing(self, key: Key | None = None) -> AsyncIterator[Connection]:
        """Open a transaction; those on one conversation wait for each other, so that order stays."""
        names = (key.user, key.conversation) if key else ()
        async with (await self.database()).writing(LOCK, *names) as connection:
            yield connection
