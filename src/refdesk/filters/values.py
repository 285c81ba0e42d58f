"""Values with their kind: what is equal, what comes first."""

import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from refdesk.documents import Scalar
from refdesk.errors import InputError

Kind = Literal["text", "number", "bool", "date"]

_DATE = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:?\d\d)?)?", re.ASCII
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Typed:
    """A scalar with its kind; values of one kind are equal and ordered as `value` is.

    Dates are microseconds since 1970 in UTC; a date without a zone is taken as UTC.
    """

    kind: Kind
    value: str | int | float


def instant(text: str) -> int | None:
    """Return the microseconds since 1970 that an ISO 8601 date means, or None where the text is no date."""
    if not _DATE.fullmatch(text):
        return None
    try:
        return _microseconds(datetime.fromisoformat(text))
    except ValueError:
        return None


def _microseconds(moment: datetime) -> int:
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (aware - _EPOCH) // timedelta(microseconds=1)


def typed(value: Scalar) -> Typed:
    """Return a value with its kind. Errors: `InputError` for values that cannot be kept."""
    match value:
        case bool():
            return Typed("bool", int(value))
        case int() if -(2**63) <= value < 2**63:
            return Typed("number", value)
        case float() if math.isfinite(value):
            return Typed("number", value)
        case datetime():
            return Typed("date", _microseconds(value))
        case str():
            return _typed_text(value)
    raise InputError(
        f"Cannot use the value {value!r}: text, finite numbers of 64 bits, booleans and dates are allowed."
    )


def _typed_text(value: str) -> Typed:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"Cannot use the text {value!r}: it is no valid Unicode.") from error
    moment = instant(value)
    return Typed("text", value) if moment is None else Typed("date", moment)
