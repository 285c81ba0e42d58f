"""What the preset `typo3` makes of pages and elements, on two kinds of database."""

import sqlite3
import time
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest
from tests.sources.sql.typo3_reading import found, texts
from tests.sources.sql.typo3_tables import KINDS, Installation, of_kind

from refdesk.errors import SourceError
from refdesk.sources.sql.connecting import Connection
from refdesk.sources.sql.presets.typo3 import Language, Site, Typo3

NOW = int(time.time())
PAST, FUTURE = NOW - 5000, NOW + 5000


@pytest.fixture(params=KINDS)
def site(request: pytest.FixtureRequest) -> Iterator[Installation]:
    """Give an installation with a root page 1."""
    with of_kind(request.param, request) as made:
        yield made


def test_a_page_is_its_elements_in_order(site: Installation) -> None:
    page = site.page("Opening hours", 1, subtitle="When we are there", abstract="All <days>")
    site.element(page, "third", colPos=1, sorting=1)
    site.element(page, "second", colPos=0, sorting=20)
    site.element(page, "first", colPos=0, sorting=10, header="In & out", subheader="At noon")
    rows = found(site)
    assert set(rows) == {"1:0", f"{page}:0"}
    one = rows[f"{page}:0"]
    assert (one["title"], one["url"]) == ("Opening hours", "https://example.org/opening-hours")
    assert (one["language"], one["acl"]) == ("en", ("public",))
    assert texts(rows, f"{page}:0") == ["When we are there", "All &lt;days&gt;", "first", "second", "third"]
    assert "<h2>In &amp; out</h2>\n<h3>At noon</h3>" in one["text"]
    assert (one["page"], one["site"], one["language_uid"]) == (page, 1, 0)
    assert rows["1:0"]["url"] == "https://example.org/"
    assert rows["1:0"]["text"] == ""


@pytest.mark.parametrize(
    "gone",
    [
        {"deleted": 1},
        {"hidden": 1},
        {"starttime": FUTURE},
        {"endtime": PAST},
        {"t3ver_wsid": 2, "t3ver_oid": 1},
        {"doktype": 3},
        {"doktype": 4},
        {"doktype": 6},
        {"doktype": 7, "mount_pid_ol": 1},
        {"doktype": 199},
        {"doktype": 254},
        {"doktype": 255},
        {"no_search": 1},
        {"no_index": 1},
        {"l18n_cfg": 1},
    ],
    ids=str,
)
def test_pages_that_are_not_shown(site: Installation, gone: dict[str, int]) -> None:
    page = site.page("Gone", 1, **gone)
    site.element(page, "text")
    below = site.page("Below", page)
    rows = found(site)
    assert f"{page}:0" not in rows
    lost = gone.get("doktype") in (6, 255) or "deleted" in gone or "t3ver_wsid" in gone
    assert (f"{below}:0" in rows) is not lost


@pytest.mark.parametrize(
    "shown", [{"starttime": PAST}, {"endtime": FUTURE}, {"doktype": 137}, {"nav_hide": 1}]
)
def test_pages_that_are_shown(site: Installation, shown: dict[str, int]) -> None:
    page = site.page("There", 1, **shown)
    assert f"{page}:0" in found(site)


def test_pages_kept_out_of_searches_can_be_wanted(site: Installation) -> None:
    page = site.page("Quiet", 1, no_search=1)
    assert f"{page}:0" in found(site, unsearchable=True)


@pytest.mark.parametrize(
    "gone",
    [{"deleted": 1}, {"hidden": 1}, {"starttime": FUTURE}, {"endtime": PAST}, {"t3ver_wsid": 1}],
    ids=str,
)
def test_elements_that_are_not_shown(site: Installation, gone: dict[str, int]) -> None:
    site.element(1, "kept")
    site.element(1, "gone", **gone)
    assert texts(found(site), "1:0") == ["kept"]


def test_what_is_outside_of_the_sites_is_not_read(site: Installation) -> None:
    other = site.page("Another site", 0)
    site.page("Below it", other)
    site.page("Nowhere", 4711)
    assert set(found(site)) == {"1:0"}


def test_what_extends_to_subpages_holds_below(site: Installation) -> None:
    closed = site.page("Closed", 1, hidden=1, extendToSubpages=1)
    below = site.page("Below", site.page("Between", closed))
    late = site.page("Late", 1, starttime=FUTURE, extendToSubpages=1)
    after = site.page("After", late)
    fine = site.page("Fine", site.page("Hidden alone", 1, hidden=1))
    rows = found(site)
    assert f"{fine}:0" in rows
    assert not {f"{below}:0", f"{after}:0"} & set(rows)


def test_groups_of_pages_and_those_above(site: Installation) -> None:
    for uid in (1, 2, 3):
        site.group(uid, f"group {uid}")
    intern = site.page("Intern", 1, fe_group="1,2", extendToSubpages=1)
    deep = site.page("Deep", site.page("Inside", intern))
    narrow = site.page("Narrow", intern, fe_group="2,3")
    nobody = site.page("Nobody", intern, fe_group="3")
    alone = site.page("Not handed down", site.page("Own", 1, fe_group="1"))
    login = site.page("Login", 1, fe_group="-2", extendToSubpages=1)
    members = site.page("Members", login, fe_group="3")
    guests = site.page("Guests", 1, fe_group="-1")
    empty = site.page("Empty", 1, fe_group="")
    acls = {name: row["acl"] for name, row in found(site).items()}
    assert acls[f"{intern}:0"] == acls[f"{deep}:0"] == ("fe_group:1", "fe_group:2")
    assert acls[f"{narrow}:0"] == ("fe_group:2",)
    assert acls[f"{nobody}:0"] == ()
    assert acls[f"{alone}:0"] == ("public",)
    assert acls[f"{login}:0"] == ("fe_group:-2",)
    assert acls[f"{members}:0"] == ("fe_group:3",)
    assert acls[f"{guests}:0"] == acls[f"{empty}:0"] == ("public",)


def test_groups_that_are_gone_let_nobody_in(site: Installation) -> None:
    site.group(1, "kept")
    site.group(2, "deleted", deleted=1)
    site.group(3, "hidden", hidden=1)
    page = site.page("Intern", 1, fe_group="1,2,3,4")
    gone = site.page("Gone", 1, fe_group="2")
    acls = {name: row["acl"] for name, row in found(site).items()}
    assert acls[f"{page}:0"] == ("fe_group:1",)
    assert acls[f"{gone}:0"] == ()


def test_elements_for_fewer_are_documents_of_their_own(site: Installation) -> None:
    site.group(1, "one")
    site.group(2, "two")
    page = site.page("Mixed", 1, fe_group="1,2", abstract="About it")
    site.element(page, "for all who may see the page")
    site.element(page, "for two", fe_group="2")
    site.element(page, "also for two", fe_group="2")
    site.element(page, "for guests", fe_group="-1")
    rows = found(site)
    assert texts(rows, f"{page}:0") == ["About it", "for all who may see the page"]
    assert texts(rows, f"{page}:0:2") == ["for two", "also for two"]
    assert rows[f"{page}:0:2"]["acl"] == ("fe_group:2",)
    assert rows[f"{page}:0:2"]["url"] == rows[f"{page}:0"]["url"]
    assert rows[f"{page}:0:-1"]["acl"] == ()


def test_content_of_another_page(site: Installation) -> None:
    page = site.page("Hours", 1)
    site.element(page, "first")
    mirror = site.page("Mirror", 1, content_from_pid=page)
    site.element(mirror, "not shown")
    assert texts(found(site), f"{mirror}:0") == ["first"]


def test_columns_can_be_chosen(site: Installation) -> None:
    site.element(1, "main", colPos=0)
    site.element(1, "margin", colPos=2)
    assert texts(found(site, columns=(0,)), "1:0") == ["main"]


def test_a_site_inside_a_site_is_its_own(site: Installation) -> None:
    shop = site.page("Shop", 1, is_siteroot=1)
    inside = site.page("Pumps", shop)
    both = Typo3(
        sites=(
            Site(root=1, base="https://example.org"),
            Site(root=shop, base="https://shop.example.org", languages=(Language(id=0, base="/en/"),)),
        )
    )
    database = Connection(site.url)
    plan = both.plan(database)
    assert plan.finish is not None
    urls = {row["id"]: plan.finish(row)["url"] for row in database.rows(plan.query, plan.parameters)}
    assert urls == {
        "1:0": "https://example.org/",
        f"{shop}:0": "https://shop.example.org/en/shop",
        f"{inside}:0": "https://shop.example.org/en/pumps",
    }


def test_what_changes_a_document_changes_its_time_or_version(site: Installation) -> None:
    page = site.page("Hours", 1)
    other = site.page("Other", 1)
    element = site.element(page, "first")
    site.element(page, "second")

    def state(name: str) -> tuple[int, str]:
        row = found(site)[name]
        return row["changed"], row["version"]

    before = state(f"{page}:0")
    site.change("tt_content", element, bodytext="<p>new</p>")
    edited = state(f"{page}:0")
    assert edited[0] > before[0]
    site.change("tt_content", element, pid=other)
    moved = state(f"{page}:0")
    assert moved != edited
    site.change("tt_content", element, deleted=1)
    assert state(f"{other}:0") != moved
    site.change("pages", page, title="New")
    assert state(f"{page}:0")[0] == site.clock
    ended = site.element(page, "ends", endtime=FUTURE)
    counted = state(f"{page}:0")
    site.change("tt_content", ended, touch=False, endtime=PAST)
    lapsed = state(f"{page}:0")
    assert lapsed[0] == PAST
    assert lapsed[1] != counted[1]


def test_the_page_names_every_option() -> None:
    page = (Path(__file__).parents[3] / "docs" / "sources-typo3.md").read_text("utf-8")
    assert [one.name for one in fields(Typo3) if f"| `{one.name}` |" not in page] == []
    assert [
        one.name for kind in (Site, Language) for one in fields(kind) if f"`{one.name}`" not in page
    ] == []


def test_another_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.sqlite"
    sqlite3.connect(path).execute("CREATE TABLE pages (uid int)").connection.close()
    with pytest.raises(SourceError, match=r"no database of TYPO3.*pages.pid") as caught:
        Typo3(sites=(Site(root=1, base="https://example.org"),)).plan(Connection(f"sqlite:///{path}"))
    assert "tt_content" in caught.value.remedy


def test_a_root_that_is_no_page_is_refused(site: Installation) -> None:
    gone = site.page("Gone", 0, is_siteroot=1, deleted=1)
    translated = site.translated(1, "Start", 1)
    for root in (gone, translated, 4711):
        with pytest.raises(SourceError, match=f"root {root} .*no such page"):
            Typo3(sites=(Site(root=root, base="https://e.org"),)).plan(Connection(site.url))


@pytest.mark.parametrize(
    ("sites", "message"),
    [
        ((), "no site"),
        ((Site(root=1, base="example.org"),), "'example.org"),
        ((Site(root=1, base="ftp://example.org"),), "ftp://"),
        (
            (
                Site(
                    root=1,
                    base="https://e.org",
                    languages=(Language(id=0, base="/"), Language(id=0, base="/b")),
                ),
            ),
            "language 0 twice",
        ),
    ],
)
def test_sites_that_cannot_be(site: Installation, sites: tuple[Site, ...], message: str) -> None:
    with pytest.raises(SourceError, match=message):
        Typo3(sites=sites).plan(Connection(site.url))
