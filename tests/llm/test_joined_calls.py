"""Calls whose names and arguments ran together."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.llm import ToolCall
from refdesk.llm.joined_calls import parted

NAMES = ("search", "search_all", "read", "")


def parts(name: str, arguments: str) -> list[tuple[str, str]]:
    calls = parted(ToolCall(name=name, arguments=arguments, id="x1"), NAMES)
    assert [call.id for call in calls] == ["x1", *[""] * (len(calls) - 1)]
    return [(call.name, call.arguments) for call in calls]


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("searchread", '{"a": 1} {"b": {}}', [("search", '{"a": 1}'), ("read", '{"b": {}}')]),
        ("search_allsearch", "{}{}", [("search_all", "{}"), ("search", "{}")]),
        ("searchsearchsearch", '{"a": 1}', [("search", '{"a": 1}')]),
    ],
)
def test_calls_that_ran_together(name: str, arguments: str, expected: list[tuple[str, str]]) -> None:
    assert parts(name, arguments) == expected


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("search", '{"a": 1}{"b": 2}'),
        ("search_all", "{}"),
        ("searchread", '{"a": 1}'),
        ("searchread", '{"a": 1}{"b": '),
        ("searchsearch", "[1][2]"),
        ("searchsearch", ""),
        ("searchwrite", "{}{}"),
        ("", "{}{}"),
        ("searchsearch", "[" * 5000),
    ],
)
def test_what_stays_as_it_is(name: str, arguments: str) -> None:
    assert parts(name, arguments) == [(name, arguments)]


OBJECTS = st.dictionaries(st.text(max_size=5), st.text(max_size=5) | st.integers(), max_size=3)


@given(st.lists(st.tuples(st.sampled_from(NAMES[:3]), OBJECTS), min_size=2, max_size=5))
def test_any_calls_are_found_again(calls: list[tuple[str, dict[str, object]]]) -> None:
    name = "".join(name for name, _ in calls)
    found = parts(name, "\n".join(json.dumps(values) for _, values in calls))
    assert [(name, json.loads(arguments)) for name, arguments in found] == calls
