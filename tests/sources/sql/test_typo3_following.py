"""A site that goes on living while a collection follows it."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.sources.sql.typo3_tables import KINDS, Installation, of_kind

from refdesk.desk import Desk, aopen
from refdesk.ingest import Summary
from refdesk.sources.sql import Sql
from refdesk.testing import HashingEmbedder

pytestmark = pytest.mark.anyio

NOW = int(time.time())


@pytest.fixture(params=KINDS)
def site(request: pytest.FixtureRequest) -> Iterator[Installation]:
    """Give an installation with a root page 1."""
    with of_kind(request.param, request) as made:
        yield made


async def follow(desk: Desk, site: Installation) -> Summary:
    languages = [{"id": 0, "base": "/", "language": "en"}, {"id": 1, "base": "/de/", "language": "de"}]
    config = {
        "version": 1,
        "name": "site",
        "url": site.url,
        "preset": "typo3",
        "options": {"sites": [{"root": 1, "base": "https://example.org", "languages": languages}]},
        "sync": {"overlap": "0s"},
    }
    return await desk.ingest(Sql(config), collection="site")


async def changed(desk: Desk, site: Installation) -> dict[str, str]:
    """Follow once more; returns what was done to what, without what stays as it is or is empty."""
    found = (await follow(desk, site)).tried
    return {one.source_id: one.outcome for one in found if one.outcome not in ("unchanged", "skipped")}


async def text(desk: Desk, name: str) -> str:
    return (await desk.document(name, collections="site")).text


async def test_a_site_and_its_changes(tmp_path: Path, site: Installation) -> None:
    page, other = site.page("Hours", 1), site.page("Contact", 1)
    site.translated(page, "Zeiten", 1)
    first = site.element(page, "We open at nine.", header="Opening", sorting=1)
    german = site.element(page, "Wir öffnen um neun.", l18n_parent=first, sys_language_uid=1)
    second = site.element(page, "Closed on Sundays.", sorting=2)
    site.element(other, "Write to us.")
    async with aopen(tmp_path / "library", embedder=HashingEmbedder()) as desk:
        assert await changed(desk, site) == {
            f"site:{page}:0": "added",
            f"site:{page}:1": "added",
            f"site:{other}:0": "added",
        }
        document = await desk.document(f"site:{page}:1", collections="site")
        assert (document.title, document.language) == ("Zeiten", "de")
        assert document.url == "https://example.org/de/zeiten"
        assert document.text == "Wir öffnen um neun."
        assert await text(desk, f"site:{page}:0") == "## Opening\n\nWe open at nine.\n\nClosed on Sundays."
        assert await changed(desk, site) == {}
        site.change("tt_content", german, bodytext="<p>Wir öffnen um zehn.</p>")
        assert await changed(desk, site) == {f"site:{page}:1": "updated"}
        site.change("tt_content", second, pid=other, sorting=site.clock)
        assert await changed(desk, site) == {f"site:{page}:0": "updated", f"site:{other}:0": "updated"}
        assert await text(desk, f"site:{other}:0") == "Write to us.\n\nClosed on Sundays."
        site.change("pages", page, hidden=1)
        assert await changed(desk, site) == {f"site:{page}:0": "removed", f"site:{page}:1": "removed"}
        site.change("pages", page, touch=False, hidden=0)
        assert set((await changed(desk, site)).values()) == {"added"}


async def test_what_time_does_by_itself(tmp_path: Path, site: Installation) -> None:
    page, other = site.page("Hours", 1), site.page("Later", 1, starttime=NOW + 9000)
    site.element(page, "It stays.")
    ending = site.element(page, "It ends.", endtime=NOW + 9000)
    site.element(other, "It begins.")
    async with aopen(tmp_path / "library", embedder=HashingEmbedder()) as desk:
        await follow(desk, site)
        assert await text(desk, f"site:{page}:0") == "It stays.\n\nIt ends."
        site.change("tt_content", ending, touch=False, endtime=NOW - 10)
        assert await changed(desk, site) == {f"site:{page}:0": "updated"}
        assert await text(desk, f"site:{page}:0") == "It stays."
        site.change("pages", other, touch=False, starttime=NOW - 10)
        assert await changed(desk, site) == {f"site:{other}:0": "added"}
        site.change("pages", other, touch=False, endtime=NOW - 5)
        assert await changed(desk, site) == {f"site:{other}:0": "removed"}


async def test_permissions_are_followed_without_embedding(tmp_path: Path, site: Installation) -> None:
    group = site.group(7, "members")
    above = site.page("Inside", 1)
    page = site.page("Hours", above)
    site.element(page, "We open at nine.")
    async with aopen(tmp_path / "library", embedder=HashingEmbedder()) as desk:

        async def acl() -> tuple[str, ...]:
            summary = await follow(desk, site)
            assert summary.embedded == 0
            return (await (await desk.services.store()).entries("site"))[f"site:{page}:0"].acl

        await follow(desk, site)
        assert await acl() == ("public",)
        site.change("pages", above, fe_group="7", extendToSubpages=1)
        assert await acl() == ("fe_group:7",)
        site.change("fe_groups", group, deleted=1)
        assert await acl() == ()
        site.change("fe_groups", group, deleted=0)
        site.change("pages", above, extendToSubpages=0)
        assert await acl() == ("public",)
        site.change("pages", page, touch=False, fe_group="-2")
        assert await acl() == ("fe_group:-2",)
