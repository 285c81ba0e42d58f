"""Pages and elements of TYPO3 in other languages."""

import time
from collections.abc import Iterator

import pytest
from tests.sources.sql.typo3_reading import found, texts
from tests.sources.sql.typo3_tables import KINDS, Installation, of_kind

PAST = int(time.time()) - 5000


@pytest.fixture(params=KINDS)
def site(request: pytest.FixtureRequest) -> Iterator[Installation]:
    """Give an installation with a root page 1."""
    with of_kind(request.param, request) as made:
        yield made


def test_a_strict_language_shows_what_is_translated(site: Installation) -> None:
    page = site.page("Hours", 1)
    site.translated(page, "Zeiten", 1, abstract="Kurz")
    first = site.element(page, "first", sorting=1)
    second = site.element(page, "second", sorting=2)
    site.element(page, "not translated", sorting=3)
    hidden = site.element(page, "hidden original", hidden=1, sorting=4)
    german = {"sys_language_uid": 1}
    site.element(page, "zweiter", l18n_parent=second, sorting=90, **german)
    site.element(page, "erster", l18n_parent=first, sorting=99, **german)
    site.element(page, "zum versteckten", l18n_parent=hidden, **german)
    site.element(page, "eigener", sorting=100, **german)
    site.element(page, "everywhere", sys_language_uid=-1, sorting=101)
    rows = found(site)
    assert set(rows) == {"1:0", f"{page}:0", f"{page}:1"}
    assert texts(rows, f"{page}:0") == ["first", "second", "not translated", "everywhere"]
    assert texts(rows, f"{page}:1") == ["Kurz", "erster", "zweiter", "eigener", "everywhere"]
    assert rows[f"{page}:1"]["url"] == "https://example.org/de/zeiten"
    assert (rows[f"{page}:1"]["title"], rows[f"{page}:1"]["language"]) == ("Zeiten", "de")


def test_a_language_with_fallback_shows_the_rest_in_the_first(site: Installation) -> None:
    page = site.page("Hours", 1)
    site.translated(page, "Heures", 2)
    first = site.element(page, "first", sorting=1)
    second = site.element(page, "second", sorting=2)
    site.element(page, "premier", l18n_parent=first, sys_language_uid=2)
    site.element(page, "cache", l18n_parent=second, sys_language_uid=2, hidden=1)
    site.element(page, "libre", sys_language_uid=2)
    rows = found(site)
    assert texts(rows, f"{page}:2") == ["premier", "second"]
    assert rows[f"{page}:2"]["url"] == "https://fr.example.org/heures"


def test_a_free_language_shows_its_own(site: Installation) -> None:
    page = site.page("Hours", 1)
    site.translated(page, "Uren", 3)
    first = site.element(page, "first", hidden=1)
    site.element(page, "eerste", l18n_parent=first, sys_language_uid=3)
    site.element(page, "vrij", sys_language_uid=3)
    rows = found(site)
    assert texts(rows, f"{page}:3") == ["eerste", "vrij"]
    assert rows[f"{page}:3"]["language"] is None


@pytest.mark.parametrize("gone", [{"hidden": 1}, {"deleted": 1}, {"endtime": PAST}, {"sys_language_uid": 9}])
def test_translations_that_are_not_shown(site: Installation, gone: dict[str, int]) -> None:
    page = site.page("Hours", 1)
    site.translated(page, "Zeiten", 1, **gone)
    assert set(found(site)) == {"1:0", f"{page}:0"}


def test_a_hidden_page_is_hidden_in_every_language(site: Installation) -> None:
    page = site.page("Hours", 1, hidden=1)
    site.translated(page, "Zeiten", 1)
    only = site.page("Only translated", 1, l18n_cfg=1)
    site.translated(only, "Nur deutsch", 1)
    assert set(found(site)) == {"1:0", f"{only}:1"}


def test_restrictions_of_translations(site: Installation) -> None:
    site.group(1, "one")
    site.group(2, "two")
    page = site.page("Hours", 1)
    site.translated(page, "Zeiten", 1, fe_group="1")
    first = site.element(page, "first", fe_group="1,2")
    site.element(page, "erster", l18n_parent=first, sys_language_uid=1, fe_group="1")
    second = site.element(page, "second", fe_group="2")
    site.element(page, "zweiter", l18n_parent=second, sys_language_uid=1, fe_group="2")
    rows = found(site)
    assert rows[f"{page}:0"]["acl"] == ("public",)
    assert rows[f"{page}:1"]["acl"] == ("fe_group:1",)
    assert rows[f"{page}:1:1,2;1"]["acl"] == ("fe_group:1",)
    assert rows[f"{page}:1:2"]["acl"] == ()
