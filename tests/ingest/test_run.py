"""Ingestion does what changed and nothing else, loses nothing, and says what became of every source."""

import os
from collections.abc import AsyncIterator, Sequence

import anyio
import numpy as np
import pytest
from tests.ingest.conftest import Bench

from refdesk.documents import Scalar, Scope
from refdesk.embedding import Vectors
from refdesk.errors import ModelError
from refdesk.events import IngestStarted, SourceFinished
from refdesk.ingest.batch import CHUNKS
from refdesk.sources import SourceFailure, SourceItem
from refdesk.sources.text import Text
from refdesk.stores import Failure
from refdesk.testing import HashingEmbedder

pytestmark = pytest.mark.anyio

HANDBOOK = "# Leave\n\nEmployees get 30 days of leave.\n\n# Travel\n\nTrips are paid.\n"


async def test_three_times_the_same_file(bench: Bench) -> None:
    bench.file("a.md", HANDBOOK)
    first = await bench.ingest()
    assert first.counts == {"added": 1}
    for _ in range(2):
        again = await bench.ingest()
        assert again.counts == {"unchanged": 1}
        assert again.embedded == 0
        assert (again.documents, again.chunks) == (first.documents, first.chunks)


async def test_a_touched_file_costs_no_embedding(bench: Bench) -> None:
    path = bench.file("a.md", HANDBOOK)
    await bench.ingest()
    os.utime(path, (1, 1))
    assert (await bench.ingest()).embedded == 0


async def test_a_changed_file_replaces_its_chunks(bench: Bench) -> None:
    bench.file("a.md", "The leave is 25 days.")
    bench.file("b.md", "Something else.")
    await bench.ingest()
    bench.file("a.md", "The leave is 30 days.")
    summary = await bench.ingest()
    assert summary.counts == {"updated": 1, "unchanged": 1}
    assert summary.embedded == 1
    reader = await bench.store.reader(Scope(("c",)))
    texts = [(await reader.document(one.document_id)).text for one in await reader.documents()]
    assert texts == ["The leave is 30 days.", "Something else."]


async def test_identical_paragraphs_in_two_files_are_both_kept(bench: Bench) -> None:
    bench.file("a/paper.md", "The same words.")
    bench.file("b/paper.md", "The same words.")
    summary = await bench.ingest()
    assert (summary.documents, summary.chunks) == (2, 2)


async def test_vanished_files_go_only_with_prune(bench: Bench) -> None:
    bench.file("a.md", "One.")
    gone = bench.file("b.md", "Two.")
    await bench.ingest()
    gone.unlink()
    assert (await bench.ingest()).documents == 2
    pruned = await bench.ingest(prune=True)
    assert pruned.counts == {"unchanged": 1, "removed": 1}
    assert pruned.documents == 1


async def test_prune_leaves_what_the_source_does_not_cover(bench: Bench) -> None:
    await bench.ingest(
        Text("A text.", source_id="https://example.org/a"), Text("A note.", source_id="note-1")
    )
    bench.file("a.md", "One.")
    assert (await bench.ingest(prune=True)).documents == 3


class Listing:
    """A source of given items and failures, which covers all of `files/`."""

    def __init__(self, *found: SourceItem | SourceFailure) -> None:
        self.found = found

    def count(self) -> int:
        return len(self.found)

    async def items(self) -> AsyncIterator[SourceItem | SourceFailure]:
        for one in self.found:
            yield one

    def covers(self, source_id: str, url: str | None) -> bool:
        return source_id.startswith("files/")


def item(source_id: str, text: str = "Words.", **metadata: Scalar) -> SourceItem:
    return SourceItem(source_id=source_id, name=source_id, text=text, metadata=metadata)


async def test_prune_leaves_what_could_not_be_listed(bench: Bench) -> None:
    await bench.ingest(Listing(item("files/a"), item("files/sub/b"), item("files/c")))
    failure = SourceFailure("files/sub", "unreadable", "Permission denied.", hides="files/sub/")
    summary = await bench.ingest(Listing(item("files/a"), failure), prune=True)
    assert summary.counts == {"unchanged": 1, "failed": 1, "removed": 1}
    assert set(await bench.store.entries("c")) == {"files/a", "files/sub/b"}


@pytest.mark.parametrize(
    "bad",
    [
        item("bad", number=10**40),
        item("bad", number=float("inf")),
        item("bad", broken="\ud83d"),
        item("bad\ud83d"),
        SourceItem(source_id="bad", name="bad", text="Words.", title="\ud83d"),
    ],
    ids=["large", "infinite", "surrogate", "surrogate id", "surrogate title"],
)
async def test_what_the_store_would_refuse_fails_alone(bench: Bench, bad: SourceItem) -> None:
    summary = await bench.ingest(Listing(item("files/a"), bad, item("files/b")))
    assert summary.counts == {"added": 2, "failed": 1}
    assert len(summary.failures) == 1


async def test_a_fault_of_ours_fails_one_source(bench: Bench) -> None:
    nonsense = SourceItem(source_id="bad", name="bad", text=7)  # type: ignore[arg-type]
    summary = await bench.ingest(Listing(item("files/a"), nonsense))
    assert summary.counts == {"added": 1, "failed": 1}
    assert summary.failures[0].reason == "unexpected"


async def test_a_failing_file_does_not_stop_the_others(bench: Bench) -> None:
    bench.file("a.md", "One.")
    bench.file("b.pdf", b"%PDF-1.7 nothing of a document")
    bench.file("c.md", "Three.")
    bench.file("d.md", "")
    summary = await bench.ingest()
    assert summary.counts == {"added": 2, "failed": 1, "skipped": 1}
    assert [one.source_id for one in summary.failures] == ["b.pdf"]
    assert {name: one.reason for name, one in (await bench.store.failures("c")).items()} == {
        "b.pdf": "damaged",
        "d.md": "empty",
    }


async def test_a_file_that_breaks_keeps_its_last_good_state_and_says_so(bench: Bench) -> None:
    bench.file("a.md", "Good.")
    await bench.ingest()
    bench.file("a.md", bytes(range(256)) * 40)
    summary = await bench.ingest(prune=True)
    assert summary.counts == {"failed": 1}
    assert summary.documents == 1
    bench.file("a.md", "Good again.")
    await bench.ingest()
    assert not await bench.store.failures("c")


async def test_notes_of_failures_go_when_the_source_is_fine_again_or_gone(bench: Bench) -> None:
    bench.file("a.md", "Good.")
    await bench.ingest()
    noted = [Failure(source_id=name, reason="timeout", message="slow") for name in ("a.md", "gone.pdf")]
    await bench.store.record_failures("c", noted)
    assert (await bench.ingest()).counts == {"unchanged": 1}
    assert set(await bench.store.failures("c")) == {"gone.pdf"}
    await bench.ingest(prune=True)
    assert not await bench.store.failures("c")


async def test_a_document_larger_than_a_batch_is_stored_whole(bench: Bench) -> None:
    bench.token_vectors = True
    bench.file("a.txt", "\n\n".join(f"Paragraph {number}. " + "word " * 150 for number in range(300)))
    summary = await bench.ingest()
    assert summary.chunks > CHUNKS
    reader = await bench.store.reader(Scope(("c",)))
    [record] = await reader.documents()
    chunks = await reader.chunks(record.document_id)
    assert len(await reader.token_vectors([one.chunk_id for one in chunks])) == summary.chunks


async def test_events_name_every_source_once(bench: Bench) -> None:
    for number in range(20):
        bench.file(f"{number:02}.md", f"File {number}.")
    events: list[object] = []
    await bench.run(on_event=events.append).run()
    assert events[0] == IngestStarted("c", 20)
    finished = [event for event in events if isinstance(event, SourceFinished)]
    assert sorted(event.source_id for event in finished) == [f"{number:02}.md" for number in range(20)]


async def test_an_interrupted_run_resumes(bench: Bench) -> None:
    for number in range(300):
        bench.file(f"{number:03}.md", f"File number {number}.")
    acknowledged: list[str] = []
    with anyio.CancelScope() as scope:

        def told(event: object) -> None:
            if isinstance(event, SourceFinished):
                acknowledged.append(event.source_id)
                scope.cancel()

        await bench.run(on_event=told).run()
    assert 0 < len(acknowledged) < 300
    stored = await bench.store.entries("c")
    assert set(acknowledged) <= set(stored)
    summary = await bench.ingest()
    assert summary.counts["unchanged"] == len(stored)
    assert summary.documents == 300


async def test_a_source_listed_twice_is_taken_once(bench: Bench) -> None:
    summary = await bench.ingest(Text("One.", source_id="x"), Text("Two.", source_id="x"))
    assert summary.documents == 1
    assert [one.reason for one in summary.failures] == ["duplicate"]
    assert not await bench.store.failures("c")


async def test_metadata_alone_costs_no_embedding(bench: Bench) -> None:
    await bench.ingest(Text("One.", source_id="x", metadata={"year": 2024, "old": True}))
    summary = await bench.ingest(Text("One.", source_id="x", metadata={"year": 2025}))
    assert summary.counts == {"updated": 1}
    assert summary.embedded == 0
    assert (await bench.store.entries("c"))["x"].metadata == {"year": 2025}


async def test_nul_characters_are_counted_not_fatal(bench: Bench) -> None:
    await bench.ingest(Text("One\0 two.", source_id="x"))
    reader = await bench.store.reader(Scope(("c",)))
    [record] = await reader.documents()
    assert record.warnings == ("1 NUL characters removed",)


async def test_token_vectors_are_kept_when_asked(bench: Bench) -> None:
    bench.token_vectors = True
    bench.file("a.md", HANDBOOK)
    await bench.ingest()
    reader = await bench.store.reader(Scope(("c",)))
    [record] = await reader.documents()
    chunks = await reader.chunks(record.document_id)
    assert set(await reader.token_vectors([one.chunk_id for one in chunks])) == {
        one.chunk_id for one in chunks
    }


class Short(HashingEmbedder):
    """An embedder that answers with fewer vectors than it was asked for."""

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return np.zeros((0, self.fingerprint.dimension), np.float32)


async def test_an_embedder_that_gives_nothing_is_an_error_and_nothing_is_stored(bench: Bench) -> None:
    bench.embedder = Short()
    bench.file("a.md", "One.")
    with pytest.raises(ModelError, match="expected"):
        await bench.ingest()
    assert not await bench.store.entries("c")


class Failing:
    """A source whose listing breaks half-way."""

    def count(self) -> int:
        return 2

    async def items(self) -> AsyncIterator[SourceItem | SourceFailure]:
        yield SourceItem(source_id="a", name="a", text="One.")
        raise OSError("the disk went away")

    def covers(self, source_id: str, url: str | None) -> bool:
        return True


async def test_a_source_that_breaks_is_a_plain_error(bench: Bench) -> None:
    with pytest.raises(OSError, match="the disk went away"):
        await bench.ingest(Failing(), prune=True)


async def test_metadata_named_like_a_field_is_kept_under_another_name(bench: Bench) -> None:
    source = Text("Ein Satz.", source_id="x", metadata={"document_id": "7", "language": "de", "year": 2024})
    await bench.ingest(source)
    reader = await bench.store.reader(Scope(("c",)))
    [record] = await reader.documents()
    assert record.language == "de"
    assert record.metadata == {"metadata.document_id": "7", "metadata.language": "de", "year": 2024}
    assert (await bench.ingest(source)).counts == {"unchanged": 1}


async def test_a_language_that_a_page_declares_decides_only_where_the_text_does_not(bench: Bench) -> None:
    bench.file("a.html", "<html lang=de><body><p>42</p></body></html>")
    bench.file(
        "b.html", "<html lang=de><body><p>" + "This page is written in English. " * 9 + "</p></body></html>"
    )
    await bench.ingest()
    reader = await bench.store.reader(Scope(("c",)))
    assert [record.language for record in await reader.documents()] == ["de", "en"]
