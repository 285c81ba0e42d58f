"""What a caller gives the verbs of a desk: refused where it cannot be meant, before anything is opened."""

import operator
import os
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from refdesk.errors import InputError

T = TypeVar("T")
MOST = 10**9
"""Nothing in a library is counted any higher."""


def texts(given: Any, what: str) -> tuple[str, ...]:
    """Return names, also where one was given alone. Errors: `InputError`."""
    if isinstance(given, str):
        return (given,)
    found = tuple(given) if isinstance(given, Iterable) and not isinstance(given, bytes | Mapping) else None
    if found is None or not all(isinstance(one, str) for one in found):
        raise InputError(f"{what} are {given!r:.80}; a name, or several in a list, are allowed.")
    return found


def text(given: Any, what: str) -> str:
    """Return a text. Errors: `InputError`."""
    if not isinstance(given, str):
        raise InputError(f"{what} is {given!r:.80}; text is allowed.")
    return given


def not_blank(given: Any, what: str) -> str:
    """Return a text that is not blank. Errors: `InputError`."""
    if not text(given, what).strip():
        raise InputError(f"{what} is {given!r:.80}; a name that is not blank is allowed.")
    return str(given)


def path(given: Any, what: str) -> str:
    """Return a path or a URL as text. Errors: `InputError`."""
    return text(os.fspath(given) if isinstance(given, os.PathLike) else given, what)


def whole(given: Any, what: str) -> int:
    """Return a number to count with. Errors: `InputError`."""
    try:
        number = -1 if isinstance(given, bool) else operator.index(given)
    except TypeError:
        number = -1
    if not 0 <= number <= MOST:
        raise InputError(f"{what} is {given!r:.80}; whole numbers from 0 to {MOST:,} are allowed.")
    return number


def function(given: T, what: str) -> T:
    """Return what can be called. Errors: `InputError`."""
    if not callable(given):
        raise InputError(f"{what} is {given!r:.80}; a function is allowed.")
    return given
