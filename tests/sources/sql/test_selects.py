"""What a query is, told without running it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.sources.sql import selects


@pytest.mark.parametrize(
    "query",
    [
        "SELECT 1",
        "  ( select 1 ) ",
        "WITH a AS (SELECT 1) SELECT * FROM a",
        "-- all of them\nSELECT id FROM t; -- the end",
        "SELECT 'a; b', \"c;d\", `e;`, $x$ ; ( $x$ FROM t /* ; */",
        "SELECT x::text, '12:30', ':name' FROM t",
        "SELECT 'it''s' FROM t",
    ],
)
def test_one_select_is_taken(query: str) -> None:
    assert selects.faults(query) == []


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("", "no SELECT: empty"),
        ("DELETE FROM t", "no SELECT: DELETE FROM t"),
        ("/* SELECT */ UPDATE t SET a = 1", "no SELECT"),
        ("SELECT 1; DROP TABLE t", "more than one statement"),
        ("SELECT 1;;", "more than one statement"),
        ("SELECT 1) AS a, (SELECT 2", "closes a parenthesis"),
        ("SELECT (1", "opens a parenthesis"),
        ("SELECT 'a", "opens ' and never closes"),
        ("SELECT 1 /* open", "opens /* and never closes"),
        # One text for MySQL; for Postgres the text ends before the semicolon.
        (r"SELECT 'a\'; DROP TABLE t; --'", "opens ' and never closes"),
        ("SELECT :sit", "':sit', which has no value"),
    ],
)
def test_anything_else_is_refused(query: str, said: str) -> None:
    assert any(said in reason for reason, _ in selects.faults(query, ["site"]))


def test_an_unknown_parameter_has_a_nearest_one() -> None:
    assert selects.faults("SELECT :sit", ["site"])[0][1] == "Did you mean ':site'?"


def test_a_query_is_prepared_for_parameters() -> None:
    query = "SELECT ':a', b::int -- :c\nFROM t WHERE d = :d;\n"
    assert selects.prepared(query) == "SELECT '\\:a', b::int  \nFROM t WHERE d = :d\n"
    assert selects.parameters(query) == ("d",)


@given(st.text(alphabet="ab'\"`;()-*/:$ \n\\", max_size=30))
def test_what_is_taken_has_no_semicolon_outside_of_texts(tail: str) -> None:
    query = f"SELECT {tail}"
    if not selects.faults(query):
        bare = selects._PIECES.sub(lambda piece: "" if piece["text"] else piece[0], selects.prepared(query))
        assert ";" not in bare
        assert bare.count("(") == bare.count(")")
