"""Names, as far as letters tell them."""

import pytest

from refdesk.grounding.names import names
from refdesk.grounding.stating import Passage, Statement


def foreign(sentence: str, evidence: str, language: str = "en", title: str = "") -> tuple[str, ...]:
    return Statement.of(sentence, language).foreign(Passage.of(evidence, language, title))


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("The pump is sold by Acme in Berlin.", ("Acme", "Berlin")),
        ("Acme sells pumps.", ()),
        ("It is closed: Only on Mondays.", ("Mondays",)),
        ("The X200 and the WHO met; H2O was NOT served in 5km.", ("X200", "WHO", "H2O")),
        ("He said: “Never again”, and I left.", ()),
        ("Terms And Conditions Of The Office", ()),
        ("an iPhone and a McDonald", ("iPhone", "McDonald")),
        ("The 30th and the 2020s", ()),
        ("我住在柏林。", ()),
        ("Насос продают в Берлине.", ("Берлине",)),
    ],
)
def test_names_are_told_by_their_capitals(sentence: str, found: tuple[str, ...]) -> None:
    assert names(sentence, "en") == found


def test_german_nouns_are_no_names() -> None:
    assert names("Die Mitarbeiter der Firma BASF nutzen die Pumpe X200 in Ludwigshafen.", "de") == (
        "BASF",
        "X200",
    )


@pytest.mark.parametrize(
    ("sentence", "evidence"),
    [
        ("It is in Germany.", "A German office."),
        ("It is Müller's.", "Mueller, Muller, Müller."),
        ("The X200 is new.", "the x-200 pump"),
        ("The X200 is new.", "the X 200"),
        ("A ruling of the WHO.", "the World Health Organization"),
        ("It began in May.", "It began on 2024-05-17."),
        ("It is by Acme.", "ACME makes pumps."),
    ],
)
def test_names_are_known_in_their_forms(sentence: str, evidence: str) -> None:
    assert foreign(sentence, evidence) == ()


@pytest.mark.parametrize(
    ("sentence", "evidence", "lacking"),
    [
        ("It is in Australia.", "It is in Austria.", "Australia"),
        ("The X200 is new.", "The X300 and 200 others.", "X200"),
        ("The X20 is new.", "The X200 is new.", "X20"),
        ("A ruling of the WHO.", "a ruling of the Health Organization", "WHO"),
        ("It is by Anna Berg.", "It is by Anna Weber.", "Berg"),
    ],
)
def test_other_names_are_others(sentence: str, evidence: str, lacking: str) -> None:
    assert foreign(sentence, evidence) == (lacking,)


def test_a_title_holds_names_too() -> None:
    assert foreign("See the Handbook of 2024.", "Leave is granted.", title="Handbook 2024") == ()
