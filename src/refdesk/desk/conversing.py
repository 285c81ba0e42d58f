"""The verbs of a desk for conversations that are kept: `desk.conversations`."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from refdesk.conversations import Conversation, Conversations, Key, StoredMessage, Tally
from refdesk.conversations.kept import check_name
from refdesk.desk.given import whole
from refdesk.errors import InputError, NotFound

AGE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([hdwmy])\s*")
UNITS = {"h": 1 / 24, "d": 1.0, "w": 7.0, "m": 30.0, "y": 365.0}
LONGEST = 36500
"""Days."""


@dataclass(frozen=True, slots=True)
class ConversationVerbs:
    """What a desk keeps of conversations. The user is empty on a desk that knows no users."""

    kept: Callable[[], Conversations]

    async def list(
        self, *, user: str = "", everyone: bool = False, offset: int = 0, limit: int = 100
    ) -> tuple[Conversation, ...]:
        """List a user's conversations, the one used last first; with `everyone` those of all, for upkeep.

        Errors: `InputError`, also for both a user and `everyone`.
        """
        _check_whose(user, everyone)
        first, most = whole(offset, "`offset`"), whole(limit, "`limit`")
        if everyone:
            return await self.kept().everyones(offset=first, limit=most)
        return await self.kept().conversations(user, offset=first, limit=most)

    async def show(
        self, name: str, *, user: str = "", last: int | None = None, before: str = ""
    ) -> tuple[StoredMessage, ...]:
        """Return the messages of a conversation as they were said, oldest first.

        `last` is how many, all for None; `before` the id of a message, to show those before it.
        Errors: `NotFound`, also where it is another user's.
        """
        check_name("message", before)
        most = None if last is None else whole(last, "`last`")
        found = await self.kept().messages(Key(user, name), last=most, before=before)
        if not found and not before and most != 0:
            raise _unknown(name)
        return found

    async def delete(self, name: str, *, user: str = "") -> Tally:
        """Delete a conversation with all that is kept of it. Errors: `NotFound`, as `show`."""
        gone = await self.kept().delete(Key(user, name))
        if not gone.conversations:
            raise _unknown(name)
        return gone

    async def purge(self, *, user: str | None = None, older_than: timedelta | str | None = None) -> Tally:
        """Delete all conversations of a user, for None of everybody those that are old.

        `older_than` is how long they were not used: `30d`, `12h`, `8w`, `6m`, `1y`, or a `timedelta`.
        Errors: `InputError` where neither is given.
        """
        if user is not None:
            check_name("user", user)
        before = None if older_than is None else datetime.now(UTC) - age(older_than)
        return await self.kept().purge(user=user, before=before)

    async def count(self, *, user: str = "", everyone: bool = False) -> Tally:
        """Count what is kept of a user; with `everyone` of all. Errors: `InputError`, as `list`."""
        _check_whose(user, everyone)
        return await self.kept().count(None if everyone else user)


def age(given: timedelta | str) -> timedelta:
    """Read how old something is. Errors: `InputError`."""
    found = AGE.fullmatch(given.lower()) if isinstance(given, str) else None
    read = timedelta(days=min(float(found[1]), 2 * LONGEST) * UNITS[found[2]]) if found else given
    if not isinstance(read, timedelta) or not timedelta(0) <= read <= timedelta(days=LONGEST):
        raise InputError(
            f"The age is {given!r:.80}; up to 100 years are allowed.",
            remedy="Write it like 30d: hours h, days d, weeks w, months m (30 days), years y.",
        )
    return read


def _check_whose(user: str, everyone: bool) -> None:
    check_name("user", user)
    if everyone and user:
        raise InputError(
            f"The user {user!r:.80} is named, and `everyone` means the conversations of all.",
            remedy="Leave out one of `user` and `everyone`.",
        )


def _unknown(name: str) -> NotFound:
    return NotFound(
        f"There is no conversation {name!r:.80}.",
        remedy="See those that are kept: refdesk conversations list",
    )
