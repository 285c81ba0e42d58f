"""The span that supports a statement."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refdesk.citations.support import statements, supporting_span

TEXT = (
    "The handbook covers all staff. Full-time employees get 30 days of annual leave. "
    "Part-time employees get leave in proportion. Sick leave is separate. The office closes in August."
)


@pytest.mark.parametrize(
    ("statement", "quote"),
    [
        ("You get 30 days of leave per year", "Full-time employees get 30 days of annual leave."),
        ("The office is closed during August", "The office closes in August."),
        ("sick leave does not count", "Sick leave is separate."),
    ],
)
def test_picks_the_sentence(statement: str, quote: str) -> None:
    assert supporting_span(statement, TEXT).of(TEXT) == quote


def test_takes_neighbours_that_add_something() -> None:
    statement = "Full-time employees get 30 days, part-time employees get leave in proportion."
    assert supporting_span(statement, TEXT).of(TEXT) == (
        "Full-time employees get 30 days of annual leave. Part-time employees get leave in proportion."
    )


def test_takes_all_where_nothing_is_shared() -> None:
    assert supporting_span("Quite unrelated", "  Ein Satz. Noch einer. ").of("  Ein Satz. Noch einer. ") == (
        "Ein Satz. Noch einer."
    )
    assert [supporting_span("x", text).of(text) for text in ("", " ", "\n\n")] == ["", "", ""]


def test_scripts_without_spaces() -> None:
    text = "员工手册适用于所有人。全职员工每年有三十天年假。办公室八月关闭。"
    assert supporting_span("每年有三十天年假", text).of(text) == "全职员工每年有三十天年假。"


def test_statements_are_what_stands_before_a_marker() -> None:
    text = "One fact [1]. Another fact, with more [2][1]. 那是真的[3]。\n- an item [2]"
    places = [(9, 1), (38, 2), (41, 1), (50, 3), (65, 2)]
    assert [text[start : start + 3] for start, _ in places] == ["[1]", "[2]", "[1]", "[3]", "[2]"]
    assert statements(text, places) == {
        1: ("One fact", "Another fact, with more"),
        2: ("Another fact, with more", "- an item"),
        3: ("那是真的",),
    }


def test_statements_in_scripts_without_spaces() -> None:
    assert statements("这是一句。那是真的[1]。", [(9, 1)]) == {1: ("那是真的",)}


def test_a_marker_that_nothing_stands_before_is_cited_for_what_follows() -> None:
    assert statements("[1] says so. More.\n[2] says no.", [(0, 1), (19, 2)]) == {
        1: ("says so.",),
        2: ("says no.",),
    }


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60), st.text(max_size=120))
def test_the_span_lies_in_the_text(statement: str, text: str) -> None:
    span = supporting_span(statement, text)
    assert 0 <= span.start <= span.end <= len(text)
    assert bool(span.of(text)) == bool(text.strip())
