"""Answers held against short references."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.evaluation.runs.shortanswers import contained, nearness, token_f1, tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The  Cat, a dog; an owl!", "cat dog owl"),
        ("Theatre and anthem", "theatre and anthem"),
        ("U.S.A.", "usa"),
        ("«Straße» – 30 €", "straße 30 €"),
        ("北京市", "北 京 市"),
        ("३० दिन।", "३० दिन"),
        ("", ""),
    ],
)
def test_words_that_count(text: str, expected: str) -> None:
    assert tokens(text) == tuple(expected.split())


@pytest.mark.parametrize(
    ("answer", "reference", "expected"),
    [
        ("thirty days", "thirty days", 1.0),
        ("thirty days", "days", 2 / 3),
        ("thirty thirty", "thirty", 2 / 3),
        ("none of it", "thirty days", 0.0),
        ("", "", 1.0),
        ("", "thirty", 0.0),
    ],
)
def test_token_f1(answer: str, reference: str, expected: float) -> None:
    assert token_f1(answer.split(), reference.split()) == pytest.approx(expected)


def test_a_sentence_that_holds_the_reference_is_right() -> None:
    assert nearness("Employees get 30 days of leave.", ("a month", "30 days")) == 1.0
    assert nearness("Employees get 130 days of leave.", ("30 days",)) < 0.5
    assert nearness("Nothing is known.", ()) == 0.0


def test_yes_and_no_stand_at_the_beginning() -> None:
    assert contained(("no",), tokens("No, they do not."))
    assert not contained(("no",), tokens("There is no reason to doubt it."))
    assert nearness("Yes.", ("yes",)) == 1.0


@given(st.text(), st.text())
def test_nearness_is_a_share(answer: str, reference: str) -> None:
    assert 0.0 <= nearness(answer, (reference,)) <= 1.0
    if tokens(reference):
        assert nearness(reference, (reference,)) == 1.0
