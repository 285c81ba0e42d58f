"""Filters as SQL over documents `d` and records `r`: every key and value is a parameter.

Gives the same documents as `refdesk.filters.matches`; a property test holds the two together.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, get_args

from refdesk.documents import Scalar
from refdesk.errors import InputError
from refdesk.filters import DOCUMENT_FIELDS, And, Compare, Equals, Exists, Filter, In, Not, Or
from refdesk.filters.meaning import ORDERS
from refdesk.filters.values import Kind, Typed, typed
from refdesk.stores.postgres.texts import escaped

MOST_PARAMETERS = 30_000
"""Postgres takes 65,535; with more conditions than these, planning them takes seconds."""
FEW = 500
"""Values of a key that an index is asked for one by one."""
KEY, VALUE = 100, 100
"""How much of a key and of a text the indexes of `facts` hold."""
COLUMNS = {
    name: f"d.{name}" if name in ("source_id", "document_id") else f"r.{name}" for name in DOCUMENT_FIELDS
}

Dates = Mapping[str, Mapping[str, int]]
"""Per field of the document, its values that read as dates, with the instants they mean."""


@dataclass(frozen=True, slots=True)
class Sql:
    """A piece of SQL with its parameters, in the order in which it names them."""

    text: str
    parameters: tuple[Any, ...] = ()


TRUE, FALSE = Sql("true"), Sql("false")


def condition(filter: Filter, dates: Dates) -> Sql:
    """Return a checked filter as SQL; `dates` has the `dated_fields` of the filter.

    Errors: `InputError` for more conditions than a statement takes.
    """
    found = _condition(filter, dates)
    if len(found.parameters) > MOST_PARAMETERS:
        raise InputError(
            f"The filter has {len(found.parameters)} values; {MOST_PARAMETERS} are allowed.",
            remedy="Use one `In` for many values of a key: it takes any number.",
        )
    return found


def dated_fields(filter: Filter) -> frozenset[str]:
    """Return the fields of the document of which the filter must know which values read as dates."""
    return frozenset(
        each.key
        for each in _leaves(filter)
        if each.key in DOCUMENT_FIELDS and (isinstance(each, Compare) or _has_date(each))
    )


def _leaves(filter: Filter) -> Iterator[Equals | In | Compare]:
    match filter:
        case And(filters) | Or(filters):
            for each in filters:
                yield from _leaves(each)
        case Not(inner):
            yield from _leaves(inner)
        case Equals() | In() | Compare():
            yield filter


def _has_date(leaf: Equals | In) -> bool:
    return any(each.kind == "date" for each in _wanted(leaf))


def _wanted(leaf: Equals | In) -> frozenset[Typed]:
    return frozenset(map(typed, (leaf.value,) if isinstance(leaf, Equals) else leaf.values))


def _condition(filter: Filter, dates: Dates) -> Sql:
    match filter:
        case And(filters):
            return joined("AND", [_condition(each, dates) for each in _gathered(filters, negated=True)])
        case Or(filters):
            return joined("OR", [_condition(each, dates) for each in _gathered(filters, negated=False)])
        case Not(inner):
            found = _condition(inner, dates)
            return Sql(f"(NOT {found.text})", found.parameters)
        case Exists(key):
            return _exists(key)
        case Equals() | In():
            return _one_of(filter.key, _wanted(filter), dates)
        case Compare(key, symbol, value):
            return _compare(key, symbol, typed(value), dates)


def joined(word: str, parts: Sequence[Sql]) -> Sql:
    """Join conditions by AND or OR."""
    if not parts:
        return TRUE if word == "AND" else FALSE
    text = f" {word} ".join(part.text for part in parts)
    return Sql(f"({text})", tuple(value for part in parts for value in part.parameters))


def _gathered(filters: Iterable[Filter], *, negated: bool) -> list[Filter]:
    """Put the values wanted (or, negated, not wanted) of one key into one `In`, so that many are cheap."""
    rest: list[Filter] = []
    values: dict[str, list[Scalar]] = {}
    for each in filters:
        leaf = each.filter if negated and isinstance(each, Not) else None if negated else each
        match leaf:
            case Equals(key, value):
                values.setdefault(key, []).append(value)
            case In(key, several):
                values.setdefault(key, []).extend(several)
            case _:
                rest.append(each)
    wanted = (In(key, tuple(several)) for key, several in values.items())
    return [*rest, *(Not(each) if negated else each for each in wanted)]


def _exists(key: str) -> Sql:
    if key in DOCUMENT_FIELDS:
        return Sql(f"({COLUMNS[key]} IS NOT NULL)")
    return _fact(key, TRUE)


def _fact(key: str, test: Sql) -> Sql:
    """Return the condition that one of the facts under a key passes a test."""
    kept = escaped(key)
    text = (
        "EXISTS (SELECT 1 FROM facts AS f WHERE f.record = r.key AND left(f.key, 100) = %s AND f.key = %s"
        f" AND {test.text})"
    )
    return Sql(text, (kept[:KEY], kept, *test.parameters))


def _one_of(key: str, wanted: frozenset[Typed], dates: Dates) -> Sql:
    if not wanted:
        return FALSE
    if key in DOCUMENT_FIELDS:
        return _field_is(key, wanted, dates)
    if len(wanted) > FEW:
        return joined("OR", list(_joins(key, wanted)))
    return _fact(key, joined("OR", list(_fact_tests(wanted))))


def _joins(key: str, wanted: frozenset[Typed]) -> Iterator[Sql]:
    """Test for one of many values by a join, which costs the same for each record."""
    kept = escaped(key)
    for kind in get_args(Kind):
        values = [each.value for each in wanted if each.kind == kind]
        column, array, read = (
            ("value_text", "text[]", lambda value: escaped(str(value)))
            if kind == "text"
            else ("value_number", "numeric[]", Decimal)
        )
        if values:
            yield Sql(
                f"(r.key IN (SELECT f.record FROM facts AS f JOIN unnest(%s::{array}) AS v (wanted)"
                f" ON f.{column} = v.wanted"
                f" WHERE left(f.key, 100) = %s AND f.key = %s AND f.kind = '{kind}'))",
                ([read(value) for value in values], kept[:KEY], kept),
            )


def _fact_tests(wanted: frozenset[Typed]) -> Iterator[Sql]:
    for kind in get_args(Kind):
        values = [each.value for each in wanted if each.kind == kind]
        if values and kind == "text":
            texts = [escaped(str(value)) for value in values]
            beginnings = list({text[:VALUE] for text in texts})
            yield Sql(
                "(f.kind = 'text' AND left(f.value_text, 100) = ANY(%s::text[])"
                " AND f.value_text = ANY(%s::text[]))",
                (beginnings, texts),
            )
        elif values:
            numbers = [Decimal(value) for value in values]
            yield Sql(
                f"(f.kind <> 'text' AND f.kind = '{kind}' AND f.value_number = ANY(%s::numeric[]))",
                (numbers,),
            )


def _field_is(key: str, wanted: frozenset[Typed], dates: Dates) -> Sql:
    """Test a field of the document: it is text, or a date where it reads as one."""
    moments = {each.value for each in wanted if each.kind == "date"}
    texts = [str(each.value) for each in wanted if each.kind == "text"]
    texts += [text for text, moment in dates.get(key, {}).items() if moment in moments]
    return _among(key, texts)


def _among(key: str, texts: Sequence[str]) -> Sql:
    if not texts:
        return FALSE
    return Sql(f"coalesce({COLUMNS[key]} = ANY(%s::text[]), false)", ([escaped(text) for text in texts],))


def _compare(key: str, symbol: str, wanted: Typed, dates: Dates) -> Sql:
    """Compare; `symbol` is one of `filters.ORDERS`, `check` has seen to it."""
    if key in DOCUMENT_FIELDS:
        return _compare_field(key, symbol, wanted, dates.get(key, {}))
    if wanted.kind == "text":
        value = escaped(str(wanted.value))
        return _fact(key, Sql(f"f.kind = 'text' AND f.value_text {symbol} %s", (value,)))
    number = Decimal(wanted.value)
    test = f"f.kind <> 'text' AND f.kind = '{wanted.kind}' AND f.value_number {symbol} %s"
    return _fact(key, Sql(test, (number,)))


def _compare_field(key: str, symbol: str, wanted: Typed, dates: Mapping[str, int]) -> Sql:
    order: Callable[[Any, Any], bool] = ORDERS[symbol]  # type: ignore[index]
    match wanted.kind:
        case "date":
            return _among(key, [text for text, moment in dates.items() if order(moment, wanted.value)])
        case "text":
            column = COLUMNS[key]
            return Sql(
                f"coalesce({column} {symbol} %s AND {column} <> ALL(%s::text[]), false)",
                (escaped(str(wanted.value)), [escaped(text) for text in dates]),
            )
    return FALSE
