"""What was said before, and what was found for it.

`Conversations` is the contract, `refdesk.testing.conversations` its conformance suite. Implementations:

- `sqlite` (default): a file in the library's folder, shared by processes
- `postgres`: tables beside those of a library in a database
- `memory`: in this process, bounded, gone when it ends
- `nothing`: keeps nothing

Every call names whose conversation it is: the same name under another user is another conversation. What was
found is kept without its text, see `KeptHit`.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from refdesk.conversations.kept import (
    Conversation,
    Forgotten,
    KeptHit,
    KeptResults,
    Key,
    Said,
    StoredMessage,
    Tally,
)

__all__ = [
    "Conversation",
    "Conversations",
    "Forgotten",
    "KeptHit",
    "KeptResults",
    "Key",
    "Said",
    "StoredMessage",
    "Tally",
]


class Conversations(Protocol):
    """Keep conversations. A name that was never used is an empty conversation. Errors: `StoreError`."""

    async def messages(
        self, key: Key, *, last: int | None = None, before: str = ""
    ) -> tuple[StoredMessage, ...]:
        """Return the last messages, all for None, oldest first; with `before` those before a message's id.

        Errors: `NotFound` where no message of this conversation has that id.
        """
        ...

    async def add(self, key: Key, said: Sequence[Said]) -> tuple[StoredMessage, ...]:
        """Add what was said at the end, all of it or nothing, and return it as it is kept.

        When this returns, it survives a crash of the process. Blank texts are left out.
        """
        ...

    async def found(self, key: Key) -> tuple[KeptResults, ...]:
        """Return the results that were kept last. Errors: `NotFound` where there are none."""
        ...

    async def keep(self, key: Key, results: Sequence[KeptResults]) -> None:
        """Keep results in place of those kept before; none clears them."""
        ...

    async def conversations(
        self, user: str, *, offset: int = 0, limit: int = 100
    ) -> tuple[Conversation, ...]:
        """List a user's conversations, the one used last first."""
        ...

    async def everyones(self, *, offset: int = 0, limit: int = 100) -> tuple[Conversation, ...]:
        """List the conversations of all users, the one used last first: for upkeep only."""
        ...

    async def count(self, user: str | None = None) -> Tally:
        """Count what is kept of a user, for None of all."""
        ...

    async def delete(self, key: Key) -> Tally:
        """Delete a conversation with all that is kept of it; one that is not there deletes nothing."""
        ...

    async def purge(self, *, user: str | None = None, before: datetime | None = None) -> Tally:
        """Delete conversations: a user's, for None those of all; with `before` those not used since.

        Errors: `InputError` where neither is given.
        """
        ...

    async def forget(self, documents: Sequence[str], *, answers: bool = False) -> Forgotten:
        """Let go of documents, by id: of kept hits, and with `answers` of the answers that cite them."""
        ...

    async def aclose(self) -> None: ...
