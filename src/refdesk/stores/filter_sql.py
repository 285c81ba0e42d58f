"""Filters as SQL over the control file: every key and value is a parameter.

Gives the same documents as `refdesk.filters.matches`; a property test holds the two together.
"""

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import get_args

from refdesk.documents import Scalar
from refdesk.errors import InputError
from refdesk.filters import DOCUMENT_FIELDS, And, Compare, Equals, Exists, Filter, In, Not, Or, check
from refdesk.filters.meaning import clash, comparisons
from refdesk.filters.values import Kind, Typed, typed
from refdesk.stores.acls import Readable

Value = str | int | float

WIDE = 100
"""Number of values from which they are looked up in a set instead of passed as parameters."""
MOST_PARAMETERS = 30_000
"""SQLite takes 32,766."""


@dataclass(slots=True)
class _Query:
    """Collects parameters, in the order in which the text names them."""

    parameters: list[Value] = field(default_factory=list)
    wide: list[frozenset[Typed]] = field(default_factory=list)

    def bind(self, *values: Value) -> None:
        self.parameters += values


def select(
    connection: sqlite3.Connection, collections: Sequence[int], seen: Readable, filter: Filter
) -> list[int]:
    """Return the keys of the readable documents that a checked filter selects, ascending."""
    query = _Query()
    marks = _marks(len(collections))
    query.bind(*collections)
    condition = _condition(filter, query)
    if len(query.parameters) > MOST_PARAMETERS:
        raise InputError(
            f"The filter has {len(query.parameters)} values; {MOST_PARAMETERS} are allowed.",
            remedy="Use one `In` for many values of a key: it takes any number.",
        )
    for number, values in enumerate(query.wide):
        connection.create_function(f"one_of_{number}", 2, _membership(values), deterministic=True)
    statement = (
        f"SELECT key FROM documents AS d WHERE collection IN ({marks}) AND {seen.condition} AND {condition}"
        " ORDER BY key"
    )
    return [key for (key,) in connection.execute(statement, query.parameters)]


def refuse(
    connection: sqlite3.Connection, collections: Sequence[int], seen: Readable, filter: Filter
) -> None:
    """Refuse a filter for all collections together.

    Errors: `InputError` for a filter that cannot be evaluated, or a comparison that no document can pass
    because its key holds another kind of value in all that may be read.
    """
    check(filter)
    for comparison in comparisons(filter):
        if error := clash(comparison, _kinds(connection, collections, seen, comparison.key)):
            raise error


def _kinds(
    connection: sqlite3.Connection, collections: Sequence[int], seen: Readable, key: str
) -> frozenset[str]:
    if key in DOCUMENT_FIELDS:
        return frozenset(("text", "date"))
    statement = (  # per kind, since the first document of a kind is enough
        "SELECT 1 FROM facts JOIN documents AS d ON d.key = document WHERE facts.key = ? AND kind = ?"
        f" AND d.collection IN ({_marks(len(collections))}) AND {seen.condition} LIMIT 1"
    )
    return frozenset(
        kind for kind in get_args(Kind) if connection.execute(statement, (key, kind, *collections)).fetchone()
    )


def _marks(count: int) -> str:
    return ", ".join("?" * count)


def _membership(values: frozenset[Typed]) -> Callable[[str, Value], bool]:
    """Return a set too wide for parameters as a function for SQL."""
    pairs = {(each.kind, each.value) for each in values}
    return lambda kind, value: (kind, value) in pairs


def _condition(filter: Filter, query: _Query) -> str:
    match filter:
        case And(filters):
            return _joined([_condition(each, query) for each in filters], "AND", empty="1")
        case Or(filters):
            return _joined([_condition(each, query) for each in filters], "OR", empty="0")
        case Not(inner):
            return f"(NOT {_condition(inner, query)})"
        case Exists(key):
            return _exists(key, query)
        case Equals(key, value):
            return _one_of(key, (value,), query)
        case In(key, values):
            return _one_of(key, values, query)
        case Compare(key, symbol, value):
            return _compare(key, symbol, typed(value), query)


def _joined(conditions: Sequence[str], word: str, *, empty: str) -> str:
    """Join as a balanced tree, since SQLite limits how deep an expression may be."""
    if not conditions:
        return empty
    if len(conditions) == 1:
        return conditions[0]
    half = len(conditions) // 2
    left = _joined(conditions[:half], word, empty=empty)
    right = _joined(conditions[half:], word, empty=empty)
    return f"({left} {word} {right})"


def _exists(key: str, query: _Query) -> str:
    if key in DOCUMENT_FIELDS:
        return f"(d.{key} IS NOT NULL)"
    query.bind(key)
    return "EXISTS (SELECT 1 FROM facts WHERE document = d.key AND key = ?)"


def _one_of(key: str, values: Sequence[Scalar], query: _Query) -> str:
    wanted = frozenset(map(typed, values))
    if not wanted:
        return "0"
    if key in DOCUMENT_FIELDS:
        return _test(f"d.{key}", wanted, query)
    query.bind(key)
    return f"d.key IN (SELECT document FROM facts WHERE key = ? AND {_fact_test(wanted, query)})"


def _fact_test(wanted: frozenset[Typed], query: _Query) -> str:
    if len(wanted) > WIDE:
        return _wide("kind", "value", wanted, query)
    query.bind(*(part for each in wanted for part in (each.kind, each.value)))
    return f"(kind, value) IN (VALUES {', '.join(['(?, ?)'] * len(wanted))})"


def _wide(kind: str, value: str, wanted: frozenset[Typed], query: _Query) -> str:
    query.wide.append(wanted)
    return f"one_of_{len(query.wide) - 1}({kind}, {value})"


def _test(column: str, wanted: frozenset[Typed], query: _Query) -> str:
    """Test a field of the document: it is text, or a date where it reads as one."""
    texts = frozenset(each for each in wanted if each.kind == "text")
    dates = frozenset(each for each in wanted if each.kind == "date")
    parts = [
        _column_test(column, "text", texts, query) if texts else "0",
        _column_test(f"instant({column})", "date", dates, query) if dates else "0",
    ]
    return f"coalesce({_joined(parts, 'OR', empty='0')}, 0)"


def _column_test(expression: str, kind: str, wanted: frozenset[Typed], query: _Query) -> str:
    if len(wanted) > WIDE:
        return _wide(f"'{kind}'", expression, wanted, query)
    query.bind(*(each.value for each in wanted))
    return f"{expression} IN ({_marks(len(wanted))})"


def _compare(key: str, symbol: str, wanted: Typed, query: _Query) -> str:
    """Compare; `symbol` is one of `filters.ORDERS`, `check` has seen to it."""
    if key in DOCUMENT_FIELDS:
        return _compare_field(f"d.{key}", symbol, wanted, query)
    query.bind(key, wanted.kind, wanted.value)
    return f"d.key IN (SELECT document FROM facts WHERE key = ? AND kind = ? AND value {symbol} ?)"


def _compare_field(column: str, symbol: str, wanted: Typed, query: _Query) -> str:
    if wanted.kind == "number":
        return "0"
    query.bind(wanted.value)
    if wanted.kind == "date":
        return f"coalesce(instant({column}) {symbol} ?, 0)"
    return f"coalesce({column} {symbol} ? AND instant({column}) IS NULL, 0)"
