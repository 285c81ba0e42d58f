"""How far a source was read, as it is kept: JSON that a person can read."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from decimal import Decimal
from typing import Any

from refdesk.errors import SourceError
from refdesk.sources.sql.values import earlier, moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """Everything that changed before `at` was read, but for what was written late."""

    shape: str = ""
    """What is read, and how; a cursor of another shape is worth nothing."""
    at: Any = None
    """The newest change that was stored, None for none."""
    id: str = ""
    """Id of that row, for people."""
    walked: datetime | None = None
    """When ids and ACLs were last compared."""

    def __str__(self) -> str:
        at = None if self.at is None else _written(self.at)
        walked = self.walked.isoformat() if self.walked else None
        return json.dumps({"shape": self.shape, "at": at, "id": self.id, "walked": walked})


def read_cursor(text: str, shape: str) -> Cursor:
    """Return a cursor as it was kept; a new one where it is of another shape or cannot be read."""
    try:
        data = json.loads(text or "{}")
        if data.get("shape") != shape:
            return Cursor(shape=shape)
        return Cursor(
            shape=shape,
            at=None if data["at"] is None else _read(*data["at"]),
            id=str(data["id"]),
            walked=datetime.fromisoformat(data["walked"]) if data["walked"] else None,
        )
    except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError):
        return Cursor(shape=shape)


_KINDS: dict[str, Callable[[str], Any]] = {
    "datetime": datetime.fromisoformat,
    "date": date.fromisoformat,
    "decimal": Decimal,
    "int": int,
    "float": float,
    "text": str,
}


def _written(value: Any) -> list[str]:
    match value:
        case datetime():
            return ["datetime", value.isoformat()]
        case date():
            return ["date", value.isoformat()]
        case Decimal():
            return ["decimal", str(value)]
        case bool() | bytes():
            raise SourceError(
                f"`updated_at` is {value!r:.40}.", remedy="Name a column with times or numbers."
            )
        case int():
            return ["int", str(value)]
        case float():
            return ["float", repr(value)]
        case str():
            return ["text", value]
    raise SourceError(f"`updated_at` is {value!r:.40}.", remedy="Name a column with times or numbers.")


def _read(kind: str, value: str) -> Any:
    return _KINDS[kind](value)


def not_after(value: Any, now: datetime, zone: tzinfo) -> Any:
    """Return a change's time, or now where it lies ahead: a wrong clock must not hide what comes later.

    None for what is no time.
    """
    try:
        ahead = moment(value, zone) - now
    except SourceError:
        return None
    return earlier(value, ahead) if ahead > timedelta(0) else value


def later(one: Any, other: Any) -> Any:
    """Return the later of two changes, either of which may be None."""
    if one is None or other is None:
        return other if one is None else one
    try:
        return max(one, other)
    except TypeError:  # the column has got another type
        return other
