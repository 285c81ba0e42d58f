"""Rows of a database are followed into a real store: what changed, what is gone, who may read."""

from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import anyio
import pytest
from tests.ingest.conftest import Bench
from tests.sources.sql.tables import MAP, Notes

from refdesk.events import IngestEvent, SourceFinished
from refdesk.ingest import Summary
from refdesk.ingest.rehearsal import Rehearsal
from refdesk.sources import SourceFailure, SourceGone, SourceItem, SourceMark, SourcePresent

pytestmark = pytest.mark.anyio


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    (tmp_path / "notes.db").touch()
    notes = Notes(f"sqlite:///{tmp_path / 'notes.db'}")
    notes.create()
    return notes


async def stored(bench: Bench) -> dict[str, tuple[str, ...]]:
    """Return who may read what is stored."""
    return {name: entry.acl for name, entry in (await bench.store.entries("c")).items()}


def names(summary: Summary, outcome: str) -> list[str]:
    return sorted(one.source_id for one in summary.tried if one.outcome == outcome)


async def test_a_second_run_reads_only_what_changed(bench: Bench, notes: Notes) -> None:
    notes.add(1, 2, changed="2024-01-01 00:00:00")
    notes.add(3)
    assert (await bench.ingest(notes.source())).counts == {"added": 3}
    notes.run("UPDATE notes SET body = 'Another text.', changed = '2024-02-01 00:00:00' WHERE id = 1")
    summary = await bench.ingest(notes.source())
    assert (summary.counts, summary.embedded) == ({"updated": 1, "unchanged": 1}, 1)
    again = await bench.ingest(notes.source())
    assert again.counts == {"unchanged": 1}


async def test_the_cursor_is_kept_with_the_collection(bench: Bench, notes: Notes) -> None:
    notes.add(1)
    await bench.ingest(notes.source())
    assert list(await bench.store.cursors("c")) == ["notes"]
    await bench.store.drop("c")
    await bench.store.create("c")
    assert await bench.store.cursors("c") == {}
    assert (await bench.ingest(notes.source())).counts == {"added": 1}


async def test_rows_that_vanish_are_removed_and_old_ones_that_appear_added(
    bench: Bench, notes: Notes
) -> None:
    notes.add(1, 2, 3)
    await bench.ingest(notes.source())
    notes.run("DELETE FROM notes WHERE id = 2")
    # Older than anything that was seen: no cursor would find it.
    notes.add(4, changed="2001-01-01 00:00:00")
    summary = await bench.ingest(notes.source())
    assert (names(summary, "removed"), names(summary, "added")) == (["notes:2"], ["notes:4"])
    assert set(await stored(bench)) == {"notes:1", "notes:3", "notes:4"}


async def test_a_deleted_flag_removes(bench: Bench, notes: Notes) -> None:
    notes.add(*range(1, 30))
    await bench.ingest(notes.source(sync={"walk": "never"}))
    notes.run("UPDATE notes SET deleted = 1, changed = '2024-05-01 00:00:00' WHERE id < 28")
    summary = await bench.ingest(notes.source(sync={"walk": "never"}))
    assert len(names(summary, "removed")) == 27
    # The flag alone, without a new time, is found by the walk.
    notes.run("UPDATE notes SET deleted = 1 WHERE id = 28")
    assert names(await bench.ingest(notes.source()), "removed") == ["notes:28"]


async def test_permissions_are_followed_without_embedding(bench: Bench, notes: Notes) -> None:
    notes.add(1, 2, 3)
    first = await bench.ingest(notes.source())
    assert first.hidden == 0
    notes.run("UPDATE notes SET readers = 'staff' WHERE id = 1")
    notes.run("UPDATE notes SET readers = NULL WHERE id = 2")
    summary = await bench.ingest(notes.source())
    assert (summary.embedded, summary.hidden) == (0, 1)
    assert sum(summary.only.values()) == summary.counts["updated"] == 2
    assert await stored(bench) == {"notes:1": ("staff",), "notes:2": (), "notes:3": ("public",)}


@pytest.mark.parametrize("rest", [0, 5])
async def test_a_source_that_has_little_all_at_once_removes_nothing(
    bench: Bench, notes: Notes, rest: int
) -> None:
    notes.add(*range(1, 31))
    await bench.ingest(notes.source())
    notes.run(f"DELETE FROM notes WHERE id > {rest}")
    for _ in range(2):
        doubtful = await bench.ingest(notes.source())
        assert doubtful.documents == 30
        assert [(one.source_id, one.reason) for one in doubtful.failures] == [("notes", "too_many_gone")]
    pruned = await bench.ingest(notes.source(), prune=True)
    assert (pruned.documents, pruned.failures) == (rest, ())
    assert await bench.store.failures("c") == {}


async def test_other_documents_of_the_collection_stay(bench: Bench, notes: Notes) -> None:
    notes.add(1)
    bench.file("a.txt", "A file of its own.")
    await bench.ingest()
    await bench.ingest(notes.source(), notes.source(name="others"))
    notes.run("DELETE FROM notes")
    summary = await bench.ingest(notes.source(), prune=True)
    assert names(summary, "removed") == ["notes:1"]
    assert set(await stored(bench)) == {"a.txt", "others:1"}


async def test_full_reads_everything(bench: Bench, notes: Notes) -> None:
    notes.add(1, 2, changed="2024-01-01 00:00:00")
    notes.add(3)
    await bench.ingest(notes.source())
    # A change without a new time, which only a full run finds.
    notes.run("UPDATE notes SET body = 'Changed in secret.' WHERE id = 1")
    assert (await bench.ingest(notes.source())).embedded == 0
    ingestion = bench.run(notes.source())
    ingestion.full = True
    summary = await ingestion.run()
    assert (names(summary, "updated"), names(summary, "unchanged")) == (["notes:1"], ["notes:2", "notes:3"])


async def test_a_row_that_failed_is_tried_again(bench: Bench, notes: Notes) -> None:
    notes.add(1, 2)
    source = {"metadata": {"day": {"column": "title", "type": "date"}}}
    notes.run("UPDATE notes SET title = '2024-01-01' WHERE id = 1")
    summary = await bench.ingest(notes.source(map={**MAP, **source}))
    assert [(one.source_id, one.reason) for one in summary.failures] == [("notes:2", "incomplete")]
    notes.run("UPDATE notes SET title = '2024-01-02', changed = '2001-01-01' WHERE id = 2")
    again = await bench.ingest(notes.source(map={**MAP, **source}))
    assert names(again, "added") == ["notes:2"]
    assert await bench.store.failures("c") == {}


async def test_a_text_that_was_emptied_is_not_found_any_more(bench: Bench, notes: Notes) -> None:
    notes.add(1, 2)
    await bench.ingest(notes.source())
    notes.run("UPDATE notes SET body = ' ', changed = '2024-05-01 00:00:00' WHERE id = 1")
    assert names(await bench.ingest(notes.source()), "removed") == ["notes:1"]
    assert (await bench.ingest(notes.source())).documents == 1


async def test_a_value_that_is_null_now_is_gone_from_the_metadata(bench: Bench, notes: Notes) -> None:
    notes.add(1)
    mapped = {**MAP, "media_type": "text/markdown", "metadata": {"readers": "readers"}, "acl": ["public"]}
    await bench.ingest(notes.source(map=mapped))
    notes.run("UPDATE notes SET readers = NULL")
    summary = await bench.ingest(notes.source(map=mapped))
    assert (summary.only, summary.embedded) == ({"metadata": 1}, 0)
    assert (await bench.store.entries("c"))["notes:1"].metadata == {}


async def test_an_interrupted_run_goes_on_where_it_was(bench: Bench, notes: Notes) -> None:
    notes.add(*range(1, 2600), changed="2024-01-01 00:00:00")
    notes.run("UPDATE notes SET changed = datetime('2024-01-01', '+' || id || ' minutes')")
    ingestion = bench.run(notes.source(sync={"overlap": 0}))
    with anyio.CancelScope() as scope:

        def stop(event: IngestEvent) -> None:
            if isinstance(event, SourceFinished) and len(ingestion.storing.tried) == 1500:
                scope.cancel()

        ingestion.on_event = stop
        await ingestion.run()
    assert scope.cancelled_caught
    kept = len(await bench.store.entries("c"))
    assert 1000 < kept < 2599
    source = notes.source(sync={"overlap": 0})
    left = source.count_since((await bench.store.cursors("c"))["notes"])
    assert 2599 - kept < left <= 2599 - 999
    summary = await bench.ingest(notes.source(sync={"overlap": 0}))
    assert len(names(summary, "added")) == 2599 - kept
    assert summary.documents == 2599


async def test_a_row_that_changes_while_it_is_read_is_taken_twice(bench: Bench) -> None:
    class Changing(Scripted):
        async def changes(self, cursor: str) -> AsyncIterator[Found]:
            yield item("s:1", "The first text.")
            yield SourceMark("s", "1")
            yield item("s:1", "The second text.")
            yield SourceMark("s", "2")

    summary = await bench.ingest(Changing())
    assert [(one.source_id, one.outcome) for one in summary.tried] == [("s:1", "added"), ("s:1", "updated")]
    assert await bench.store.cursors("c") == {"s": "2"}


async def test_a_walk_that_breaks_off_removes_nothing(bench: Bench) -> None:
    await bench.ingest(Scripted())
    assert set(await stored(bench)) == {"s:1"}

    class Broken(Scripted):
        async def walk(self, cursor: str, known: Mapping[str, str | None]) -> AsyncIterator[Walked]:
            yield SourcePresent("s:9", ("public",))

    summary = await bench.ingest(Broken(), prune=True)
    assert [(one.source_id, one.reason) for one in summary.failures] == [("s", "source_unreadable")]
    assert set(await stored(bench)) == {"s:1"}


async def test_an_id_that_is_met_twice_keeps_its_first_readers(bench: Bench) -> None:
    class Twice(Scripted):
        async def walk(self, cursor: str, known: Mapping[str, str | None]) -> AsyncIterator[Walked]:
            for acl in (("public",), ("staff",)):
                yield SourcePresent("s:1", acl)
            yield SourceMark("s", "walked")

    summary = await bench.ingest(Twice())
    assert [one.reason for one in summary.failures] == ["duplicate"]
    assert await stored(bench) == {"s:1": ("public",)}


async def test_a_dry_run_says_what_would_be_done_and_does_nothing(bench: Bench, notes: Notes) -> None:
    notes.add(1, 2, 3, 4)
    await bench.ingest(notes.source())
    before = (await bench.store.entries("c"), await bench.store.cursors("c"))
    notes.add(5, 6, changed="2024-05-01 00:00:00")
    notes.run("UPDATE notes SET body = '', changed = '2024-05-01 00:00:00' WHERE id = 6")
    notes.run("UPDATE notes SET readers = NULL WHERE id = 1")
    notes.run("DELETE FROM notes WHERE id = 2")
    notes.run("UPDATE notes SET body = 'New.', changed = '2024-05-01 00:00:00' WHERE id = 3")
    rehearsal = Rehearsal(bench.store)
    ingestion = bench.run(notes.source())
    ingestion.store, ingestion.writer = rehearsal, rehearsal
    summary = await ingestion.run()
    assert summary.counts == {"added": 1, "updated": 2, "unchanged": 1, "removed": 1, "skipped": 1}
    assert (summary.only, summary.hidden, summary.documents, summary.embedded) == ({"acl": 1}, 1, 4, 2)
    assert (await bench.store.entries("c"), await bench.store.cursors("c")) == before
    assert await bench.store.failures("c") == {}


async def test_a_dry_run_needs_no_library(bench: Bench, notes: Notes) -> None:
    notes.add(1)
    rehearsal = Rehearsal(None)
    ingestion = bench.run(notes.source())
    ingestion.store, ingestion.writer = rehearsal, rehearsal
    assert (await ingestion.run()).counts == {"added": 1}


async def test_files_are_rehearsed_too(bench: Bench) -> None:
    bench.file("a.txt", "A file.")
    bench.file("empty.txt", "")
    rehearsal = Rehearsal(bench.store)
    ingestion = bench.run()
    ingestion.store, ingestion.writer = rehearsal, rehearsal
    assert (await ingestion.run()).counts == {"added": 1, "skipped": 1}
    assert await bench.store.entries("c") == {}


Found = SourceItem | SourceFailure | SourceGone | SourceMark
Walked = SourcePresent | SourceFailure | SourceGone | SourceMark


def item(source_id: str, text: str) -> SourceItem:
    return SourceItem(source_id=source_id, name=source_id, text=text, acl=("public",))


class Scripted:
    """A followed source of one document; its walk lists what it has."""

    name = "s"
    remove_at_most = 0.5

    def count(self) -> int:
        return self.count_since("")

    def count_since(self, cursor: str) -> int:
        return 1

    async def items(self) -> AsyncIterator[SourceItem | SourceFailure]:
        yield item("s:1", "The only text.")

    async def changes(self, cursor: str) -> AsyncIterator[Found]:
        async for one in self.items():
            yield one
        yield SourceMark("s", "1")

    def walks(self, cursor: str) -> bool:
        return True

    async def walk(self, cursor: str, known: Mapping[str, str | None]) -> AsyncIterator[Walked]:
        yield SourcePresent("s:1", ("public",))
        yield SourceMark("s", cursor)

    async def unknown(self) -> AsyncIterator[SourceItem | SourceFailure | SourceGone]:
        for _ in ():
            yield item("", "")

    def covers(self, source_id: str, url: str | None) -> bool:
        return source_id.startswith("s:")
