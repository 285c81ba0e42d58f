"""Compounds to the stems of their parts."""

import pytest

from refdesk.analysis import analyse, analyse_query
from refdesk.analysis.compounds import LANGUAGES, compound_parts, known_stems


@pytest.mark.parametrize(
    ("word", "language", "parts"),
    [
        ("krankenversicherungsbeitrag", "de", "krank versicher beitrag"),
        ("arbeitsvertrag", "de", "arbeit vertrag"),
        ("gesundheitswesen", "de", "gesund wes"),
        ("bundesverfassungsgericht", "de", "bund verfass gericht"),
        ("softwareentwicklung", "de", "entwickl"),
        ("arbeidsovereenkomst", "nl", "arbeid overeen komst"),
        ("sjukförsäkring", "sv", "sjuk försäkring"),
        ("arbejdsmarked", "da", "arbejd marked"),
        ("forsikringsavtalene", "no", "forsikring avtal"),
    ],
)
def test_compounds_are_cut(word: str, language: str, parts: str) -> None:
    assert compound_parts(word, language) == tuple(parts.split())


@pytest.mark.parametrize(
    "word", ["versicherung", "beziehungen", "regierung", "verantwortung", "interesse", "haus"]
)
def test_other_words_are_not(word: str) -> None:
    assert compound_parts(word, "de") == ()


def test_other_languages_have_none() -> None:
    assert compound_parts("arbeitsvertrag", "en") == ()


def test_a_part_is_found_in_a_compound_and_the_compound_by_its_part() -> None:
    whole, part = "Krankenversicherungen", "Versicherung"
    assert set(analyse_query(part, ["de"])) <= set(analyse(whole, "de"))
    assert set(analyse_query(whole, ["de"])) & set(analyse(part, "de"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_lists_have_stems_only(language: str) -> None:
    stems = known_stems(language)
    assert len(stems) > 5000
    assert all(stem.isalpha() and 3 <= len(stem) <= 14 for stem in stems)
