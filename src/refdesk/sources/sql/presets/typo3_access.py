"""Who may read a page or an element of TYPO3: the restrictions on the way to it, taken together."""

from collections.abc import Iterable
from functools import reduce

from refdesk.documents import PUBLIC

LOGGED_OUT, LOGGED_IN = "-1", "-2"
"""Values of `fe_group`: hide at login, show at any login."""


def readers(chain: Iterable[str], groups: frozenset[str]) -> tuple[str, ...]:
    """Return the principals that pass every restriction, each a list of groups as `fe_group` has it.

    A principal is `fe_group:UID`, `fe_group:-2` for anyone who is logged in, or `public`. Only who passes all
    by one group is named: one who has the first of two groups and the second is hidden rather than guessed.
    What only those see who are not logged in is public. Groups that are not in `groups` let nobody in.
    """
    allowed = reduce(
        _both, (found for one in chain if (found := _restriction(one, groups)) is not None), None
    )
    if allowed is None or LOGGED_OUT in allowed:
        return (PUBLIC,)
    return tuple(f"fe_group:{one}" for one in sorted(allowed, key=int))


def _restriction(written: str, groups: frozenset[str]) -> frozenset[str] | None:
    """Return the groups that a list lets in, None for one that lets everyone in."""
    named = frozenset(part.strip() for part in written.split(",") if part.strip())
    if not named or "0" in named or {LOGGED_IN, LOGGED_OUT} <= named:
        return None
    return named & (groups | {LOGGED_IN, LOGGED_OUT})


def _both(one: frozenset[str] | None, other: frozenset[str]) -> frozenset[str]:
    """Return the groups that pass two restrictions."""
    if one is None:
        return other
    passed = one & other
    if LOGGED_IN in one:
        passed |= other - {LOGGED_OUT}
    if LOGGED_IN in other:
        passed |= one - {LOGGED_OUT}
    return passed
