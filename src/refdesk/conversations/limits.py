"""How long conversations are kept, and what may be asked of them."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

from refdesk.errors import InputError, NotFound

Clock = Callable[[], datetime]


def now() -> datetime:
    return datetime.now(UTC)


def oldest(days: float, clock: Clock) -> datetime | None:
    """Return since when a conversation has to have been used to be kept, None where all are."""
    return clock() - timedelta(days=days) if days else None


def check_days(days: float) -> None:
    """Refuse a number of days that keeps nothing. Errors: `InputError`."""
    if not 0 <= days <= 36500:
        raise InputError(
            f"Conversations were to be kept for {days!r} days; 0 to 36500 are allowed, 0 for ever."
        )


def check_page(offset: int, limit: int) -> None:
    """Refuse a page that no list has. Errors: `InputError`."""
    if offset < 0 or limit < 0:
        raise InputError(f"Offset {offset} and limit {limit} were asked for; neither may be below 0.")


def check_purge(user: str | None, before: datetime | None) -> None:
    """Refuse to purge everything of everyone by omission. Errors: `InputError`."""
    if user is None and before is None:
        raise InputError(
            "Nothing says which conversations are to be purged.", remedy="Name a user, an age, or both."
        )
    if before is not None and before.tzinfo is None:
        raise InputError(f"The time {before} has no time zone.", remedy="Write it with one, such as UTC.")


def nothing_found(conversation: str) -> NotFound:
    return NotFound(
        f"Nothing that was found is kept for the conversation {conversation!r}.",
        remedy="Let `remember` keep it with `retrieval: true` first.",
    )


def no_message(conversation: str, name: str) -> NotFound:
    return NotFound(f"The conversation {conversation!r:.80} has no message {name!r:.80}.")


def cut(names: Sequence[str], before: str, conversation: str) -> int:
    """Return where a message stands among all. Errors: `NotFound`."""
    try:
        return names.index(before)
    except ValueError:
        raise no_message(conversation, before) from None
