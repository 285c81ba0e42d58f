"""Where conversations are not to be kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from refdesk.conversations.kept import Conversation, Forgotten, KeptResults, Key, Said, StoredMessage, Tally
from refdesk.errors import NotFound


@dataclass(frozen=True, slots=True)
class NoConversations:
    """Keeps nothing, and finds nothing."""

    async def messages(
        self, key: Key, *, last: int | None = None, before: str = ""
    ) -> tuple[StoredMessage, ...]:
        return ()

    async def add(self, key: Key, said: Sequence[Said]) -> tuple[StoredMessage, ...]:
        return ()

    async def found(self, key: Key) -> tuple[KeptResults, ...]:
        raise NotFound(
            f"Nothing that was found is kept for the conversation {key.conversation!r}: none is kept here.",
            remedy="Set `conversations` to `auto`.",
        )

    async def keep(self, key: Key, results: Sequence[KeptResults]) -> None:
        return None

    async def conversations(
        self, user: str, *, offset: int = 0, limit: int = 100
    ) -> tuple[Conversation, ...]:
        return ()

    async def everyones(self, *, offset: int = 0, limit: int = 100) -> tuple[Conversation, ...]:
        return ()

    async def count(self, user: str | None = None) -> Tally:
        return Tally()

    async def delete(self, key: Key) -> Tally:
        return Tally()

    async def purge(self, *, user: str | None = None, before: datetime | None = None) -> Tally:
        return Tally()

    async def forget(self, documents: Sequence[str], *, answers: bool = False) -> Forgotten:
        return Forgotten()

    async def aclose(self) -> None:
        return None
