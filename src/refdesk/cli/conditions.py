"""`--filter KEY=VALUE` to a filter."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from refdesk.filters import Filter


def joined(conditions: Sequence[str] | None) -> "Filter | None":
    """Return the filter that wants all conditions, or None without any. Errors: `InputError`."""
    from refdesk.filters import And, parse_filter

    return And(tuple(parse_filter(one) for one in conditions)) if conditions else None
