"""What says another thing, and what only adds something."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.grounding.conflicts import contradicts
from refdesk.grounding.negation import NEGATIONS, denied

LEAVE = "Employees get 30 days of leave a year."


@pytest.mark.parametrize(
    ("said", "passage"),
    [
        ("Employees get 31 days of leave a year [1].", LEAVE),
        ("The head of Siemens approves flights.", "The head of Bosch approves flights."),
        ("Smoking is allowed in the building.", "Smoking is not allowed in the building."),
        ("Leave can't be carried over.", "Leave can be carried over until March."),
    ],
)
def test_another_thing_in_its_place(said: str, passage: str) -> None:
    assert contradicts(said, passage, "en")


@pytest.mark.parametrize(
    ("said", "passage"),
    [
        (LEAVE, LEAVE),
        ("Employees get thirty days of leave a year.", LEAVE),
        ("Employees get 30 days of leave.", "Employees get leave."),
        ("The head of Siemens approves flights.", "The head of department approves flights."),
        ("A hotel may cost 150 euros.", LEAVE),
        ("Leave expires.", "If it is not asked for in time by the employee, leave then expires."),
        ("Leave expires.", "Leave expires, and it is not paid out."),
        ("Whales do not sing.", LEAVE),
        ("", LEAVE),
        (LEAVE, ""),
    ],
)
def test_the_same_less_or_something_else(said: str, passage: str) -> None:
    assert not contradicts(said, passage, "en")


@pytest.mark.parametrize(
    ("language", "held", "negated"),
    [
        ("de", "Der Urlaub verfällt Ende März.", "Der Urlaub verfällt nicht Ende März."),
        ("fr", "Le congé est payé chaque année.", "Le congé n'est pas payé chaque année."),
        ("es", "Las vacaciones se pagan en marzo.", "Las vacaciones no se pagan en marzo."),
        ("it", "Le ferie sono pagate a marzo.", "Le ferie non sono pagate a marzo."),
        ("nl", "Verlof wordt uitbetaald in maart.", "Verlof wordt niet uitbetaald in maart."),
        ("pt", "As férias são pagas em março.", "As férias não são pagas em março."),
        ("en", "Leave is paid out in March.", "Leave is never paid out in March."),
    ],
)
def test_negation_in_seven_languages(language: str, held: str, negated: str) -> None:
    assert language in NEGATIONS
    assert denied(held, [negated], language)
    assert denied(negated, [held], language)
    assert not denied(negated, [negated], language)
    assert not denied(held, [negated, f"{negated} {held}"], language)


def test_in_other_languages_negations_are_not_known() -> None:
    assert not denied("Отпуск не оплачивается.", ["Отпуск оплачивается."], "ru")


@given(
    st.lists(st.sampled_from(["not", "leave", "30", "never", "Acme", "the", "isn't", ".", "é"]), max_size=12),
    st.sampled_from(["en", "de", "fr", "xx"]),
)
def test_nothing_contradicts_itself(words: list[str], language: str) -> None:
    text = " ".join(words)
    assert not contradicts(text, text, language)
    assert not contradicts(text, f"{text} {text}", language)
