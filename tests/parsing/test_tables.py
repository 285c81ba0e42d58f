"""Rows keep the names of their columns."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.parsing.tables import LONG, rows_as_text, unroll_long_tables

CELLS = st.text(alphabet="abc \n|", max_size=6)


def lines(*rows: list[str]) -> list[str]:
    return list(rows_as_text(rows))


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (
            [["Name", "Age"], ["Ada", "36"], ["", ""], ["Grace", ""]],
            ["Name | Age", "Name: Ada; Age: 36", "Name: Grace"],
        ),
        (
            [["Report"], [], ["City", "2023", "2024"], ["Bonn", "1", "2"]],
            ["Report", "City | 2023 | 2024", "City: Bonn; 2023: 1; 2024: 2"],
        ),
        ([["1", "2"], ["3", "4"]], ["1 | 2", "3 | 4"]),
        ([["same", "same"], ["a", "b"]], ["same | same", "a | b"]),
        ([["only"], ["one"]], ["only", "one"]),
        ([["A", "B"], ["1", "2", "beyond"]], ["A | B", "A: 1; B: 2; beyond"]),
        ([], []),
    ],
)
def test_rows(rows: list[list[str]], expected: list[str]) -> None:
    assert lines(*rows) == expected


@given(st.lists(st.lists(CELLS, max_size=4), max_size=14))
def test_no_value_is_lost(rows: list[list[str]]) -> None:
    text = "\n".join(rows_as_text(rows))
    for row in rows:
        assert all(" ".join(cell.split()) in text for cell in row)


def table(rows: int) -> str:
    body = "\n".join(f"| Town {number} | {number} \\| x |" for number in range(rows))
    return f"before\n\n| City | Size |\n| --- | ---: |\n{body}\n\nafter"


def test_short_markdown_tables_stay_whole() -> None:
    assert unroll_long_tables(table(LONG)) == table(LONG)


def test_long_markdown_tables_are_written_row_by_row() -> None:
    text = unroll_long_tables(table(LONG + 1))
    assert text.startswith("before\n\nCity | Size\nCity: Town 0; Size: 0 | x\n")
    assert text.endswith(f"City: Town {LONG}; Size: {LONG} | x\n\nafter")


@given(st.lists(st.sampled_from(["| a | b |", "| --- | --- |", "|", "text", "", "|---|"]), max_size=40))
def test_text_around_tables_is_left_alone(parts: list[str]) -> None:
    text = unroll_long_tables("\n".join(parts))
    assert text.count("text") == parts.count("text")
