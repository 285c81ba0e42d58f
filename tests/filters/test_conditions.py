"""What people type as a filter."""

import pytest

from refdesk.errors import InputError
from refdesk.filters import Compare, Equals, Exists, Filter, In, Not, parse_filter


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tag=x", Equals("tag", "x")),
        ("tag = x y ", Equals("tag", "x y")),
        ("tag=", Equals("tag", "")),
        ("tag!=x", Not(Equals("tag", "x"))),
        ("year=2024", In("year", (2024, "2024"))),
        ('year="2024"', Equals("year", "2024")),
        ("year>=2024", Compare("year", ">=", 2024)),
        ("year<2024.5", Compare("year", "<", 2024.5)),
        ("ratio=1e3", In("ratio", (1000.0, "1e3"))),
        ("version>1.2.3", Compare("version", ">", "1.2.3")),
        ("date<=2025-01-01", Compare("date", "<=", "2025-01-01")),
        ("public=True", In("public", (True, "True"))),
        ("tag:a,b", In("tag", ("a", "b"))),
        ('tag:"a,b", c', In("tag", ("a,b", "c"))),
        ("n:1,x", In("n", (1, "1", "x"))),
        ("tag:*", Exists("tag")),
        ("url=https://example.org/?a=b:c", Equals("url", "https://example.org/?a=b:c")),
        ("url:https://example.org", In("url", ("https://example.org",))),
        ("tag=' OR '1'='1", Equals("tag", "' OR '1'='1")),
        ("id=99999999999999999999", Equals("id", "99999999999999999999")),
    ],
)
def test_conditions_are_read(text: str, expected: Filter) -> None:
    assert parse_filter(text) == expected


@pytest.mark.parametrize("text", ["", "tag", "=x", " =x", "!=x", "tag!x"])
def test_anything_else_is_refused_with_the_forms(text: str) -> None:
    with pytest.raises(InputError, match="KEY=VALUE"):
        parse_filter(text)
