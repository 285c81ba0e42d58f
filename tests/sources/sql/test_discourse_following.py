"""A forum that goes on living while a collection follows it."""

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.sources.sql.discourse_tables import Forum, forum

from refdesk.desk import Desk, aopen
from refdesk.ingest import Summary
from refdesk.sources.sql import Sql
from refdesk.stores import Entry
from refdesk.testing import HashingEmbedder

pytestmark = pytest.mark.anyio

PUBLIC = ("public",)


@pytest.fixture
def made(postgres: str) -> Iterator[Forum]:
    with forum(postgres) as found:
        yield found


class Library:
    """A library that follows a forum."""

    def __init__(self, desk: Desk, url: str) -> None:
        self.desk = desk
        self.config = {
            "version": 1,
            "name": "forum",
            "url": url,
            "preset": "discourse",
            "options": {"base_url": "https://forum.example", "language": "en"},
            "sync": {"overlap": "0s"},
        }

    async def follow(self) -> Summary:
        return await self.desk.ingest(Sql(self.config), collection="forum")

    async def changed(self) -> dict[str, str]:
        """Follow once more; returns what was done to which post, without what stays as it is."""
        found = (await self.follow()).tried
        return {one.source_id: one.outcome for one in found if one.outcome != "unchanged"}

    async def entries(self) -> Mapping[str, Entry]:
        return await (await self.desk.services.store()).entries("forum")


@asynccontextmanager
async def library(folder: Path, made: Forum) -> AsyncIterator[Library]:
    async with aopen(folder / "library", embedder=HashingEmbedder()) as desk:
        yield Library(desk, made.url)


async def test_a_post_is_a_document(tmp_path: Path, made: Forum) -> None:
    topic = made.topic("It leaks", made.category("Pumps"), tags=("seals",))
    quote = '<aside class="quote"><blockquote>Somebody else wrote this.</blockquote></aside>'
    post = made.post(topic, "", cooked=f"{quote}<p>Tighten the <b>nut</b>.</p>")
    async with library(tmp_path, made) as following:
        summary = await following.follow()
        (entry,) = (await following.entries()).values()
        results = await following.desk.search("seals", collections="forum", mode="keyword")
        document = await following.desk.document(f"forum:{post}", collections="forum")
    assert (summary.documents, summary.failures) == (1, ())
    assert (entry.source_id, entry.title, entry.acl) == (f"forum:{post}", "It leaks", PUBLIC)
    assert entry.url == f"https://forum.example/t/it-leaks/{topic}/1"
    known = {key: entry.metadata[key] for key in ("category", "tags", "topic_id", "post_number")}
    assert known == {"category": "Pumps", "tags": ("seals",), "topic_id": topic, "post_number": 1}
    assert document.text == "Tighten the **nut**."
    assert [hit.source_id for hit in results.hits] == [f"forum:{post}"]


async def test_what_changes_is_followed(tmp_path: Path, made: Forum) -> None:
    category = made.category("Pumps")
    topic, other = made.topic("It leaks", category), made.topic("It hums", category)
    first, second, third = made.post(topic, "one"), made.post(topic, "two"), made.post(other, "three")
    everything = {f"forum:{post}": "updated" for post in (first, second, third)}
    async with library(tmp_path, made) as following:
        await following.follow()
        assert await following.changed() == {}
        made.change("posts", first, cooked="<p>one, edited</p>")
        assert await following.changed() == {f"forum:{first}": "updated"}
        made.change("topics", other, title="It hummed", slug="it-hummed")
        assert await following.changed() == {f"forum:{third}": "updated"}
        made.change("categories", category, name="Old pumps")
        assert await following.changed() == everything
        link = made.tag(topic, "seals")
        del everything[f"forum:{third}"]
        assert await following.changed() == everything
        made.remove("topic_tags", link)
        assert await following.changed() == everything
        entries = await following.entries()
    assert entries[f"forum:{third}"].title == "It hummed"
    assert str(entries[f"forum:{third}"].url).endswith(f"/t/it-hummed/{other}/1")
    assert {entry.metadata["category"] for entry in entries.values()} == {"Old pumps"}
    assert {entry.metadata["tags"] for entry in entries.values()} == {()}


async def test_permissions_are_followed_without_embedding(tmp_path: Path, made: Forum) -> None:
    category = made.category("Pumps")
    post = made.post(made.topic("It leaks", category), "one")
    async with library(tmp_path, made) as following:

        async def acl() -> tuple[str, ...]:
            summary = await following.follow()
            assert summary.embedded == 0
            return (await following.entries())[f"forum:{post}"].acl

        await following.follow()
        made.change("categories", category, touch=False, read_restricted=True)
        assert await acl() == ()
        made.add("category_groups", category_id=category, group_id=12, permission_type=2)
        assert await acl() == ("group:trust_level_2",)
        made.change("groups", 12, touch=False, name="regulars")
        assert await acl() == ("group:regulars",)
        made.change("categories", category, touch=False, read_restricted=False)
        assert await acl() == PUBLIC
        made.add("site_settings", name="login_required", data_type=5, value="t")
        assert await acl() == ("group:trust_level_0",)


async def test_what_is_gone_is_removed_and_what_comes_back_is_read(tmp_path: Path, made: Forum) -> None:
    topic = made.topic("It leaks", made.category("Pumps"))
    kept, post = made.post(topic, "one"), made.post(topic, "two")
    name = f"forum:{post}"
    changes = (
        ("posts", post, "deleted_at", "2024-05-05", None),
        ("posts", post, "hidden", True, False),
        ("posts", post, "user_deleted", True, False),
        ("posts", post, "post_type", 4, 1),
    )
    async with library(tmp_path, made) as following:
        await following.follow()
        for table, row, column, gone, back in changes:
            made.change(table, row, touch=False, **{column: gone})
            assert await following.changed() == {name: "removed"}
            made.change(table, row, touch=False, **{column: back})
            assert await following.changed() == {name: "added"}
        made.change("topics", topic, touch=False, archetype="private_message")
        made.post(made.topic("It hums", None), "three")
        changed = await following.changed()
    assert changed[name] == changed[f"forum:{kept}"] == "removed"
