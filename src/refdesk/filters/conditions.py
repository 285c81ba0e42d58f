"""Filters as they are typed: `year>=2024`, `tag:a,b`, `public=true`."""

import re
from collections.abc import Mapping

from refdesk.documents import Scalar
from refdesk.errors import InputError
from refdesk.filters.language import Compare, Equals, Exists, Filter, In, Not, Operator

FORMS = "KEY=VALUE, KEY!=VALUE, KEY<VALUE, KEY<=VALUE, KEY>VALUE, KEY>=VALUE, KEY:VALUE,VALUE, KEY:*"

_CONDITION = re.compile(r"(?P<key>[^=<>!:]+)(?P<operator>!=|<=|>=|=|<|>|:)(?P<value>.*)", re.DOTALL)
_ORDERS: Mapping[str, Operator] = {"<": "<", "<=": "<=", ">": ">", ">=": ">="}
_FLAGS = {"true": True, "false": False}
_WHOLE = re.compile(r"[+-]?\d{1,18}", re.ASCII)
_BROKEN = re.compile(r"[+-]?(\d+\.\d*|\.\d+|\d+(\.\d*)?[eE][+-]?\d+)", re.ASCII)


def parse_filter(text: str) -> Filter:
    """Read one condition.

    A value that can be read as a number or as true or false matches that and the same text; in double
    quotes it is text only. `KEY:*` asks whether the key exists. Errors: `InputError`.
    """
    found = _CONDITION.fullmatch(text)
    if found is None or not found["key"].strip():
        raise InputError(f"Cannot read the filter {text!r}.", remedy=f"Write it as one of: {FORMS}.")
    key, value = found["key"].strip(), found["value"].strip()
    match found["operator"]:
        case "=":
            return _equals(key, value)
        case "!=":
            return Not(_equals(key, value))
        case ":" if value == "*":
            return Exists(key)
        case ":":
            return In(key, tuple(reading for item in _items(value) for reading in _readings(item)))
        case symbol:
            return Compare(key, _ORDERS[symbol], _readings(value)[0])


def _equals(key: str, value: str) -> Filter:
    readings = _readings(value)
    return Equals(key, readings[0]) if len(readings) == 1 else In(key, readings)


def _items(value: str) -> list[str]:
    """Split at commas outside of double quotes; the quotes stay."""
    return [item.strip() for item in re.findall(r'\s*"[^"]*"\s*|[^,]+', value)]


def _readings(value: str) -> tuple[Scalar, ...]:
    """Return what a typed value may mean, the most specific first."""
    if len(value) > 1 and value[0] == value[-1] == '"':
        return (value[1:-1],)
    if value.lower() in _FLAGS:
        return (_FLAGS[value.lower()], value)
    if _WHOLE.fullmatch(value):
        return (int(value), value)
    if _BROKEN.fullmatch(value):
        return (float(value), value)
    return (value,)
