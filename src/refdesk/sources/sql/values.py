"""Values as databases give them: flags, lists, numbers, times."""

import json
from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from decimal import Decimal
from typing import Any

from refdesk.documents import Scalar
from refdesk.errors import SourceError

FALSE = frozenset({"", "0", "f", "false", "n", "no", "off"})
TRUE = frozenset({"1", "t", "true", "y", "yes", "on"})
MILLISECONDS, MICROSECONDS = 1e11, 1e14
"""Numbers above these are no seconds since 1970."""


def flag(value: Any) -> bool:
    """Tell whether a column says yes: anything but NULL, 0, nothing and words for no."""
    if isinstance(value, str):
        return value.strip().lower() not in FALSE
    if isinstance(value, bytes):  # BIT(1) of MySQL
        return any(value)
    return bool(value)


def text(value: Any) -> str:
    """Return a value as text; nothing for NULL. Errors: `SourceError` for what is none."""
    match value:
        case None:
            return ""
        case str():
            return value
        case bytes() | bytearray() | memoryview():
            return _decoded(bytes(value))
        case bool():
            return "true" if value else "false"
        case list() | tuple() | set() | frozenset():
            return ", ".join(text(one) for one in value)
        case dict():
            return json.dumps(value, ensure_ascii=False, default=str)
        case datetime() | date():
            return value.isoformat()
    return str(value)


def _decoded(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        raise SourceError(f"{len(value):,} bytes are no text.", remedy="Leave the column out.") from error


def members(value: Any, separator: str = ",", *, exact: bool = False) -> tuple[Any, ...]:
    """Return a list: an array, a JSON list, or text between separators; nothing for NULL.

    What is between separators is trimmed; with `exact` only spaces right behind a separator fall out.
    Errors: `SourceError` for JSON that is no list of simple values.
    """
    if value is None:
        return ()
    if isinstance(value, bytes | bytearray | memoryview):
        value = _decoded(bytes(value))
    if isinstance(value, str):
        value = _listed(value, separator, exact)
    if isinstance(value, Iterable) and not isinstance(value, str | dict):
        found = tuple(one for one in value if one is not None and one != "")
        if not any(isinstance(one, list | dict) for one in found):
            return found
    elif not isinstance(value, dict):
        return (value,)
    raise SourceError(f"{value!r:.60} is no list of simple values.")


def _listed(value: str, separator: str, exact: bool) -> Any:
    if value.lstrip().startswith("["):
        try:
            return json.loads(value)
        except ValueError as error:
            raise SourceError(f"{value!r:.60} is no JSON list: {error}.") from error
    if value.lstrip().startswith("{"):
        raise SourceError(f"{value!r:.60} is no list.")
    if exact:
        first, *others = value.split(separator)
        return [first, *(part.lstrip(" ") for part in others)]
    return [part.strip() for part in value.split(separator)]


def boolean(value: Any) -> bool:
    """Return a value as true or false. Errors: `SourceError` for words that are neither."""
    if isinstance(value, str) and value.strip().lower() not in FALSE | TRUE:
        raise SourceError(f"{value!r:.60} is neither true nor false.")
    return flag(value)


def number(value: Any) -> int | float:
    """Return a value as a number. Errors: `SourceError`."""
    try:
        found = Decimal(text(value).strip() if not isinstance(value, bool) else str(int(value)))
    except ArithmeticError as error:
        raise SourceError(f"{value!r:.60} is no number.") from error
    if not found.is_finite():
        raise SourceError(f"{value!r:.60} is no number.")
    return int(found) if found == found.to_integral_value() else float(found)


def moment(value: Any, zone: tzinfo = UTC) -> datetime:
    """Return a time: a timestamp, date, ISO text, or seconds (milli, micro) since 1970. Without zone: `zone`.

    Errors: `SourceError`.
    """
    try:
        return _moment(value, zone)
    except (ValueError, OverflowError, OSError) as error:
        raise SourceError(f"{value!r:.60} is no time.") from error


def _moment(value: Any, zone: tzinfo) -> datetime:
    match value:
        case datetime():
            return value if value.tzinfo else value.replace(tzinfo=zone)
        case date():
            return datetime.combine(value, time(), zone)
        case bool():
            raise ValueError
        case int() | float() | Decimal():
            return datetime.fromtimestamp(float(value) / unit(float(value)), UTC)
    return _moment(datetime.fromisoformat(text(value).strip()), zone)


def unit(value: float) -> float:
    """Return how many of a number make a second."""
    return 1e6 if abs(value) > MICROSECONDS else 1e3 if abs(value) > MILLISECONDS else 1.0


def earlier(value: Any, by: timedelta) -> Any:
    """Return a value of the same kind that is earlier; where none can be told, the value itself."""
    match value:
        case datetime():
            return value - by
        case date():
            return value - timedelta(days=-(-by // timedelta(days=1)))
        case bool():
            return value
        case int():
            return value - int(by.total_seconds() * unit(value))
        case float():
            return value - by.total_seconds() * unit(value)
        case Decimal():
            return value - Decimal(by.total_seconds() * unit(float(value)))
        case str():
            return _earlier(value, by)
    return value


def _earlier(value: str, by: timedelta) -> str:
    """Return an ISO text that sorts before all that are later than the earlier time."""
    try:
        found = datetime.fromisoformat(value) - by
    except (ValueError, OverflowError):
        return value
    # A shorter text sorts before a longer one that begins with it: no fractions and no zone.
    if len(value) <= len("2024-05-01"):
        return found.date().isoformat()
    precision = "seconds" if value[16:17] == ":" else "minutes"
    return found.replace(tzinfo=None).isoformat(sep=value[10], timespec=precision)


def scalar(value: Any, zone: tzinfo = UTC) -> Scalar | tuple[Scalar, ...] | None:
    """Return a value as metadata has it, by the type that the database gives. NULL is None."""
    match value:
        case None:
            return None
        case str() | bool() | int() | float():
            return value
        case Decimal():
            return number(value)
        case date():
            return moment(value, zone)
        case list() | tuple() | set() | frozenset() if not any(isinstance(one, list | dict) for one in value):
            return tuple(one for one in (_simple(one, zone) for one in value) if one is not None)
        case list() | dict():
            return json.dumps(value, ensure_ascii=False, default=str)
    return text(value)


def _simple(value: Any, zone: tzinfo) -> Scalar | None:
    found = scalar(value, zone)
    return None if isinstance(found, tuple) else found
