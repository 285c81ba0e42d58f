"""Plain mappings as filters, for callers who want all of some values."""

from collections.abc import Mapping
from typing import Any

from refdesk.errors import InputError
from refdesk.filters.language import And, Equals, Filter, In

Filters = Filter | Mapping[str, Any] | None


def as_filter(filters: Filters) -> Filter | None:
    """Turn a mapping into a filter that wants all its keys: a list means one of its values.

    Errors: `InputError` for anything that is neither.
    """
    if filters is None or isinstance(filters, Filter):
        return filters
    if not isinstance(filters, Mapping):
        raise InputError(
            f"Cannot filter by {filters!r}; allowed are a mapping such as {{'year': 2024}} and a Filter.",
            remedy="refdesk.filters.parse_filter reads text such as 'year>=2024'.",
        )
    return And(tuple(_condition(key, value) for key, value in filters.items())) if filters else None


def _condition(key: str, value: Any) -> Filter:
    if isinstance(value, list | tuple | set | frozenset):
        return In(key, tuple(value))
    return Equals(key, value)
