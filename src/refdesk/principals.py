"""Names of those who may read: users and groups, as an ACL and a scope have them.

Two names are the same where every character is: nothing is folded, trimmed or split.
"""

from collections.abc import Iterable
from typing import Any
from unicodedata import category

from refdesk.documents import PUBLIC
from refdesk.errors import InputError

Principals = str | Iterable[str] | None
"""A name, several, or None where nobody is named."""

CONTROLS = frozenset(("Cc", "Cs", "Zl", "Zp"))
"""Kinds of characters that no store keeps or no line shows."""
REMEDY = f"Write the name of a user or group, or {PUBLIC!r} for everyone."


def as_principals(given: Any, what: str) -> tuple[str, ...]:
    """Return names in the order given, each once; none for None. Errors: `InputError` for what is no name."""
    if given is None:
        return ()
    names = [given] if isinstance(given, str) else _listed(given, what)
    for name in names:
        if problem := wrong(name):
            raise InputError(f"{what} has {name!r:.80}, which {problem}.", remedy=REMEDY)
    return tuple(dict.fromkeys(names))


def as_acl(given: Any, what: str) -> tuple[str, ...]:
    """Return the principals that are to read something. Errors: `InputError`, also where none is named."""
    names = as_principals(given, what)
    if not names:
        raise InputError(f"{what} names nobody, so nobody could read it.", remedy=REMEDY)
    return names


def wrong(name: Any) -> str:
    """Return why something is no name of a principal, empty where it is one."""
    if not isinstance(name, str):
        return "is no text"
    if not name.strip():
        return "is blank"
    if name != name.strip():
        return "has blanks around it"
    if any(category(character) in CONTROLS for character in name):
        return "has control characters, or is no valid Unicode"
    return ""


def _listed(given: Any, what: str) -> list[Any]:
    if isinstance(given, Iterable) and not isinstance(given, bytes | dict):
        return list(given)
    raise InputError(f"{what} is {given!r:.80}; names of users and groups are allowed.", remedy=REMEDY)
