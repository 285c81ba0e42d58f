"""What a filter means for one document; a store that evaluates filters itself gives the same result."""

import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

from refdesk.documents import Metadata, Scalar
from refdesk.errors import InputError
from refdesk.filters.language import (
    DOCUMENT_FIELDS,
    And,
    Compare,
    Equals,
    Exists,
    Filter,
    In,
    Not,
    Operator,
    Or,
)
from refdesk.filters.values import Typed, typed

MAX_DEPTH = 64
"""How deep filters may be nested; how wide is not limited."""

ORDERS: Mapping[Operator, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Record(Protocol):
    """What a filter looks at: `Document`, `DocumentRecord`."""

    @property
    def source_id(self) -> str: ...
    @property
    def document_id(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def url(self) -> str | None: ...
    @property
    def media_type(self) -> str: ...
    @property
    def language(self) -> str: ...
    @property
    def metadata(self) -> Metadata: ...


def values_of(record: Record, key: str) -> tuple[Scalar, ...] | None:
    """Return the values that a document has for a key, or None where it lacks the key."""
    found = getattr(record, key) if key in DOCUMENT_FIELDS else record.metadata.get(key)
    if found is None:
        return None
    return found if isinstance(found, tuple) else (found,)


def matches(filter: Filter, record: Record) -> bool:
    """Tell whether a document passes a filter. Errors: `InputError`, see `check`."""
    check(filter)
    return _matches(filter, record)


def _matches(filter: Filter, record: Record) -> bool:
    match filter:
        case And(filters):
            return all(_matches(each, record) for each in filters)
        case Or(filters):
            return any(_matches(each, record) for each in filters)
        case Not(inner):
            return not _matches(inner, record)
        case Exists(key):
            return values_of(record, key) is not None
    return _one_holds(filter, tuple(map(typed, values_of(record, filter.key) or ())))


def _one_holds(filter: Equals | In | Compare, found: tuple[Typed, ...]) -> bool:
    match filter:
        case Equals(_, value):
            return typed(value) in found
        case In(_, values):
            return not set(map(typed, values)).isdisjoint(found)
        case Compare(_, symbol, value):
            wanted = typed(value)
            return any(one.kind == wanted.kind and ORDERS[symbol](one.value, wanted.value) for one in found)


def check(filter: Filter) -> None:
    """Refuse a filter that cannot be evaluated. Errors: `InputError`."""
    waiting = [(filter, 1)]
    while waiting:
        each, depth = waiting.pop()
        if depth > MAX_DEPTH:
            raise InputError(f"The filter is nested more than {MAX_DEPTH} deep.")
        _check_values(each)
        waiting += [(inner, depth + 1) for inner in _inner(each)]


def _inner(filter: Filter) -> tuple[Filter, ...]:
    match filter:
        case And(filters) | Or(filters):
            return filters
        case Not(inner):
            return (inner,)
    return ()


def _check_values(filter: Filter) -> None:
    match filter:
        case Equals(_, value):
            typed(value)
        case In(_, values):
            for value in values:
                typed(value)
        case Compare(key, symbol, value):
            _check_order(key, symbol, value)


def _check_order(key: str, symbol: str, value: Scalar) -> None:
    if symbol not in ORDERS:
        raise InputError(f"Unknown operator {symbol!r} for {key!r}. Known operators: {', '.join(ORDERS)}.")
    if typed(value).kind == "bool":
        raise InputError(f"Cannot compare {key!r} {symbol} {value!r}: true and false have no order.")


def comparisons(filter: Filter) -> Iterator[Compare]:
    """Yield the comparisons inside a filter, for stores that name a clash of kinds."""
    if isinstance(filter, Compare):
        yield filter
    for inner in _inner(filter):
        yield from comparisons(inner)


def clash(comparison: Compare, kinds: frozenset[str]) -> InputError | None:
    """Return the error for a comparison that can hold for no document, given the kinds its key has."""
    wanted = typed(comparison.value).kind
    if not kinds or wanted in kinds:
        return None
    return InputError(
        f"Cannot compare {comparison.key!r} {comparison.operator} {comparison.value!r}: this is a {wanted}, "
        f"the documents have {' and '.join(sorted(kinds))} there."
    )
