"""Numbers in all their spellings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.grounding.figures import figures, stated, values


def same(said: str, written: str) -> bool:
    [readings] = figures(said)
    return stated(readings, values(written))


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("1,000", "1000"),
        ("1.000", "1,000"),
        ("1 000 000", "1,000,000"),
        ("1'234", "1234"),
        ("3.50", "3,5"),
        ("1,234.5", "1.234,50"),
        ("30", "thirty days"),
        ("30", "dreißig Tage"),
        ("12", "douze mois"),
        ("30%", "30 %"),
        ("007", "7"),
        ("2", "the 2nd of March"),
        ("٣٠", "30"),
        ("３０", "30"),
        ("17.05.2024", "2024-05-17"),
        ("2024", "on 17.05.2024"),
        ("5", "May"),
        ("1.2.3", "version v1.2.3"),
        ("1.234", "1.234 metres"),
        ("1.234", "1234 metres"),
        ("100", "in 2020 100 people"),
    ],
)
def test_one_number_in_two_spellings(said: str, written: str) -> None:
    assert same(said, written)


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("30", "31"),
        ("30", "300"),
        ("30", "X30"),
        ("1,000", "1"),
        ("1.5", "1 and 5"),
        ("3.2.1", "1.2.3"),
        ("5", "3.5"),
        ("2010", "2011"),
        ("1 000 000", "1 and 0"),
        ("17.06.2024", "17.05.2024"),
        ("v1.3", "v1.2 and 3"),
    ],
)
def test_other_numbers_are_others(said: str, written: str) -> None:
    assert not same(said, written)


@pytest.mark.parametrize("text", ["X200", "(1) first, (2) second", "abc", "", "H2O and B2B"])
def test_what_is_no_number(text: str) -> None:
    assert figures(text) == ()


@given(st.integers(min_value=0, max_value=10**30))
def test_grouping_changes_nothing(number: int) -> None:
    for sign in (",", ".", "'", " "):
        assert same(f"{number:,}".replace(",", sign), f"there are {number} of them")
        assert same(str(number), f"there are {number:,} of them".replace(",", sign))


@given(st.text())
def test_every_text_has_its_own_numbers(text: str) -> None:
    known = values(text)
    assert all(stated(readings, known) for readings in figures(text))
