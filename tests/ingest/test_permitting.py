"""Who may read what is ingested: as its source says, else the call, else as before, else the default."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.ingest.conftest import Bench

from refdesk.documents import PUBLIC
from refdesk.ingest import Summary
from refdesk.ingest.permitting import Permission
from refdesk.ingest.rehearsal import Rehearsal
from refdesk.sources import SourceFailure, SourceItem
from refdesk.sources.fields import Fields
from refdesk.sources.records import Records

pytestmark = pytest.mark.anyio


class Items:
    """Texts under ids, each with an ACL."""

    def __init__(self, **acls: Any) -> None:
        self.acls = acls

    def count(self) -> int:
        return len(self.acls)

    async def items(self) -> AsyncIterator[SourceItem | SourceFailure]:
        for name, acl in self.acls.items():
            yield SourceItem(source_id=name, name=name, text=f"The text of {name}.", acl=acl)

    def covers(self, source_id: str, url: str | None) -> bool:
        return True


async def ingested(bench: Bench, source: Any, **permission: Any) -> Summary:
    run = bench.run(source)
    run.permission = Permission(**permission)
    return await run.run()


async def acls(bench: Bench) -> dict[str, tuple[str, ...]]:
    return {name: entry.acl for name, entry in (await bench.store.entries("c")).items()}


async def test_the_source_wins_over_the_ingestion_and_that_over_the_default(bench: Bench) -> None:
    await ingested(bench, Items(own=("anna",), hidden=(), other=None), said=("staff",))
    assert await acls(bench) == {"own": ("anna",), "hidden": (), "other": ("staff",)}
    summary = await ingested(bench, Items(own=None, hidden=None, other=None, new=None), default=("board",))
    assert await acls(bench) == {"own": ("anna",), "hidden": (), "other": ("staff",), "new": ("board",)}
    assert (summary.acl, summary.unsaid, summary.hidden) == (("board",), 1, 1)


async def test_an_acl_follows_without_embedding_anything(bench: Bench) -> None:
    await ingested(bench, Items(a=("anna",), b=("anna",), c=None))
    before = bench.embedder.embedded
    summary = await ingested(bench, Items(a=("anna", "bert"), b=("anna",), c=None), said=("staff",))
    assert await acls(bench) == {"a": ("anna", "bert"), "b": ("anna",), "c": ("staff",)}
    assert bench.embedder.embedded == before
    assert {one.source_id: (one.outcome, one.reason) for one in summary.tried} == {
        "a": ("updated", "acl"),
        "b": ("unchanged", ""),
        "c": ("updated", "acl"),
    }
    assert summary.unsaid == 0


async def test_a_changed_file_keeps_the_acl_that_it_was_given_first(bench: Bench) -> None:
    bench.file("a.md", "The first text.")
    run = bench.run()
    run.permission = Permission(said=("staff",))
    await run.run()
    bench.file("a.md", "Another text.")
    bench.file("new.md", "A new one.")
    summary = await bench.ingest()
    assert await acls(bench) == {"a.md": ("staff",), "new.md": (PUBLIC,)}
    assert (summary.acl, summary.unsaid) == ((PUBLIC,), 1)


async def test_what_a_document_says_of_itself_gives_nobody_a_right(bench: Bench) -> None:
    bench.file("a.md", "---\nacl: [anna]\ntitle: A\n---\n\nThe text.")
    run = bench.run()
    run.permission = Permission(said=("staff",))
    await run.run()
    assert (await bench.store.entries("c"))["a.md"].acl == ("staff",)


@pytest.mark.parametrize("acl", [("public ",), ("",), (3,), (None,), ("a", ("b",)), 7, {"anna": 1}])
async def test_an_acl_that_nobody_understands_hides_and_is_told(bench: Bench, acl: Any) -> None:
    await ingested(bench, Items(known=(PUBLIC,), fine=(PUBLIC,)))
    summary = await ingested(bench, Items(known=acl, fine=(PUBLIC,), new=acl))
    assert await acls(bench) == {"known": (), "fine": (PUBLIC,)}
    assert {(one.source_id, one.reason) for one in summary.failures} == {("known", "acl"), ("new", "acl")}
    assert "Nobody may read it until that is mended" in summary.failures[0].message
    assert set(await bench.store.failures("c")) == {"known", "new"}
    again = await ingested(bench, Items(known=(PUBLIC,), new=("anna",)))
    assert await acls(bench) == {"known": (PUBLIC,), "fine": (PUBLIC,), "new": ("anna",)}
    assert not again.failures
    assert await bench.store.failures("c") == {}


async def test_what_nobody_may_read_is_told_apart(bench: Bench) -> None:
    await ingested(bench, Items(known=("anna",), given=("anna",)))
    odd = Items(known=(3,), new=("",), other=(None,), taken=None, given=(), nobody=(), fine=("anna",))
    for store in (Rehearsal(bench.store), None):
        run = bench.run(odd)
        if store:
            run.store, run.writer = store, store
        summary = await run.run()
        assert (summary.hidden, summary.refused, summary.withheld) == (2, 2, 1)
        assert len(summary.failures) == 3
    again = await ingested(bench, odd)
    assert (again.hidden, again.refused, again.withheld) == (2, 2, 1)
    assert await acls(bench) == {
        "known": (),
        "given": (),
        "nobody": (),
        "fine": ("anna",),
        "taken": (PUBLIC,),
    }


async def test_what_has_no_text_is_not_told_to_be_hidden(bench: Bench) -> None:
    class Blank(Items):
        async def items(self) -> AsyncIterator[SourceItem | SourceFailure]:
            yield SourceItem(source_id="a", name="a", text=" ", acl=())

    summary = await ingested(bench, Blank(a=()))
    assert (summary.hidden, summary.refused, summary.withheld) == (0, 0, 0)
    assert summary.counts == {"skipped": 1}


@pytest.mark.parametrize(
    ("written", "acl"),
    [
        ('"anna"', ("anna",)),
        ('["anna", "staff"]', ("anna", "staff")),
        ("[]", ()),
        ('"anna,staff"', ("anna,staff",)),
    ],
)
async def test_records_say_who_may_read_them(bench: Bench, written: str, acl: tuple[str, ...]) -> None:
    lines = bench.file("r.jsonl", f'{{"id": "a", "text": "A text.", "acl": {written}, "year": 1}}')
    await ingested(bench, Records(lines), said=("board",))
    entry = (await bench.store.entries("c"))["a"]
    assert (entry.acl, entry.metadata) == (acl, {"year": 1})


@pytest.mark.parametrize("written", ["null", '""', '"public "', "3", '{"read": "anna"}', '["anna", null]'])
async def test_records_that_say_it_unintelligibly_are_hidden(bench: Bench, written: str) -> None:
    lines = bench.file("r.jsonl", '{"id": "a", "text": "A text."}')
    await ingested(bench, Records(lines))
    assert await acls(bench) == {"a": (PUBLIC,)}
    bench.file("r.jsonl", f'{{"id": "a", "text": "A text.", "acl": {written}}}')
    summary = await ingested(bench, Records(lines))
    assert await acls(bench) == {"a": ()}
    assert summary.failures[0].reason == "acl"


async def test_another_field_may_say_it(bench: Bench) -> None:
    lines = bench.file("r.jsonl", '{"id": "a", "text": "A text.", "groups": ["anna"], "acl": "not this"}')
    await ingested(bench, Records(lines, Fields(acl="groups")))
    entry = (await bench.store.entries("c"))["a"]
    assert (entry.acl, entry.metadata) == (("anna",), {"acl": "not this"})
