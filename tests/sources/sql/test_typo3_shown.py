"""What TYPO3 itself checks before it shows content of another place."""

from collections.abc import Iterator

import pytest
from tests.sources.sql.typo3_reading import found, texts
from tests.sources.sql.typo3_tables import KINDS, Installation, of_kind


@pytest.fixture(params=KINDS)
def site(request: pytest.FixtureRequest) -> Iterator[Installation]:
    """Give an installation with a root page 1, and three groups."""
    with of_kind(request.param, request) as made:
        for uid in (1, 2, 3):
            made.group(uid, f"group {uid}")
        yield made


def mirror(site: Installation, page: int, **values: int | str) -> str:
    """Add a page that shows the content of another, and return its id."""
    return f"{site.page('Mirror', 1, content_from_pid=page, **values)}:0"


def inserted(site: Installation, *records: object, page: int = 1, **values: int | str) -> int:
    """Add an element that inserts others."""
    names = ",".join(str(one) for one in records)
    return site.element(page, "", CType="shortcut", header="for editors", records=names, **values)


def test_content_of_another_page_is_for_those_who_may_see_that_page(site: Installation) -> None:
    above = site.page("Inside", 1, fe_group="1", extendToSubpages=1)
    page = site.page("Hours", above, fe_group="1,2")
    site.element(page, "secret")
    shown = mirror(site, page, fe_group="1,3")
    rows = found(site)
    assert texts(rows, shown) == ["secret"]
    assert rows[shown]["acl"] == ("fe_group:1",)


@pytest.mark.parametrize(
    "gone",
    [{"hidden": 1}, {"endtime": 1}, {"deleted": 1}, {"doktype": 254}, {"doktype": 199}, {"doktype": 6}],
    ids=str,
)
def test_a_page_without_the_page_that_it_shows_is_not_found(site: Installation, gone: dict[str, int]) -> None:
    page = site.page("Hours", 1, **gone)
    site.element(page, "gone")
    assert mirror(site, page) not in found(site)


def test_a_page_that_shows_what_lies_below_something_hidden(site: Installation) -> None:
    above = site.page("Closed", 1, hidden=1, extendToSubpages=1)
    assert mirror(site, site.page("Hours", above)) not in found(site)


def test_a_translation_says_itself_whose_content_it_shows(site: Installation) -> None:
    page, lent = site.page("Hours", 1), site.page("Lent", 1)
    german = {"sys_language_uid": 1}
    site.element(page, "eigen", **german)
    site.element(lent, "geliehen", **german)
    site.translated(page, "Zeiten", 1, content_from_pid=lent)
    rows = found(site)
    assert texts(rows, f"{page}:1") == ["geliehen"]
    assert texts(rows, f"{page}:0") == []


def test_a_mount_point_may_have_content_of_its_own(site: Installation) -> None:
    page = site.page("Mounted", 1, doktype=7, mount_pid=1)
    site.element(page, "own")
    assert texts(found(site), f"{page}:0") == ["own"]


def test_placeholders_and_translations_elsewhere_are_not_shown(site: Installation) -> None:
    page, other = site.page("Hours", 1), site.page("Other", 1)
    site.translated(page, "Heures", 2)
    first = site.element(page, "first")
    site.element(page, "placeholder", t3ver_state=1)
    site.element(other, "perdu", l18n_parent=first, sys_language_uid=2)
    rows = found(site)
    assert texts(rows, f"{page}:0") == texts(rows, f"{page}:2") == ["first"]


def test_no_restriction_is_lost_on_a_long_way(site: Installation) -> None:
    many = ",".join(str(number) for number in range(1, 70))
    page = 1
    for depth in range(12):
        page = site.page(f"Level {depth}", page, fe_group=many, extendToSubpages=1)
    last = site.page("Last", page, fe_group="2", extendToSubpages=1)
    below = site.page("Below", last)
    assert found(site)[f"{below}:0"]["acl"] == ("fe_group:2",)


def test_inserted_elements_are_shown_in_place(site: Installation) -> None:
    page = site.page("Hours", 1)
    one, two = site.element(page, "one"), site.element(page, "two")
    site.element(1, "before", sorting=1)
    inserted(site, f"tt_content_{two}", one, "pages_1", "x", 10**12, sorting=2)
    site.element(1, "after", sorting=3)
    rows = found(site)
    assert texts(rows, "1:0") == ["before", "two", "one", "after"]
    assert "for editors" not in rows["1:0"]["text"]
    assert texts(rows, f"{page}:0") == ["one", "two"]


def test_inserted_elements_keep_their_restrictions(site: Installation) -> None:
    page = site.page("Inside", 1, fe_group="1,2")
    free, own = site.element(page, "free"), site.element(page, "own", fe_group="2,3")
    inserted(site, free, own)
    inserted(site, own, fe_group="3")
    here = site.element(1, "here", fe_group="3")
    inserted(site, here)
    rows = found(site)
    acls = {name: (texts(rows, name), row["acl"]) for name, row in rows.items() if name.startswith("1:0")}
    assert acls == {
        "1:0": ([], ("public",)),
        "1:0:1,2": (["free"], ("fe_group:1", "fe_group:2")),
        "1:0:1,2;2,3": (["own"], ("fe_group:2",)),
        "1:0:3;1,2;2,3": (["own"], ()),
        "1:0:3": (["here", "here"], ("fe_group:3",)),
    }


@pytest.mark.parametrize("gone", [{"hidden": 1}, {"deleted": 1}, {"endtime": 1}, {"t3ver_wsid": 1}], ids=str)
def test_what_is_gone_is_not_inserted(site: Installation, gone: dict[str, int]) -> None:
    page = site.page("Gone", 1, **gone)
    inserted(
        site, site.element(page, "on a page that is gone"), site.element(1, "gone", colPos=9, **gone), 4711
    )
    assert texts(found(site), "1:0") == []


def test_an_element_inserts_neither_itself_nor_what_others_insert(site: Installation) -> None:
    page = site.page("Hours", 1)
    inner = inserted(site, site.element(page, "deep"), page=page)
    outer = inserted(site, inner)
    site.change("tt_content", outer, records=f"{inner},{outer}")
    assert texts(found(site), "1:0") == []


def test_inserted_elements_in_other_languages(site: Installation) -> None:
    page = site.page("Hours", 1)
    for language in (1, 2, 3):
        site.translated(1, "Start", language)
    first, second = site.element(page, "first"), site.element(page, "second")
    everywhere = site.element(page, "everywhere", sys_language_uid=-1)
    for language, text in ((1, "erster"), (2, "premier"), (3, "eerste")):
        site.element(page, text, l18n_parent=first, sys_language_uid=language)
        inserted(site, first, second, everywhere, sys_language_uid=language, l18n_parent=0)
    rows = found(site)
    assert texts(rows, "1:0") == []
    assert texts(rows, "1:1") == ["erster", "everywhere"]
    assert texts(rows, "1:3") == ["first", "second", "everywhere"]
    original = inserted(site, first, second, sorting=1)
    inserted(site, first, second, sys_language_uid=2, l18n_parent=original)
    assert texts(found(site), "1:2") == ["premier", "second"]


def test_columns_of_other_collations(site: Installation) -> None:
    if site.engine.dialect.name != "mysql":
        pytest.skip("MariaDB alone has columns with character sets of their own")
    with site.engine.begin() as connection:
        for column, kind in (("header", "latin1"), ("fe_group", "ascii"), ("records", "utf8mb3")):
            change = f"ALTER TABLE tt_content MODIFY {column} text CHARACTER SET {kind}"
            connection.exec_driver_sql(change)
    site.element(1, "Übersicht 😀", header="Öffnungszeiten", fe_group="")
    inserted(site, site.element(site.page("Hours", 1), "inserted", fe_group="1"))
    rows = found(site)
    assert texts(rows, "1:0") == ["Übersicht 😀"]
    assert "<h2>Öffnungszeiten</h2>" in rows["1:0"]["text"]
    assert texts(rows, "1:0:1") == ["inserted"]
