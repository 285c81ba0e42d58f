"""A collection is embedded anew from what is stored: nothing is lost, mixed up or done twice."""

import random
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import anyio
import pytest
from tests.ingest import reembedding
from tests.ingest.conftest import Bench
from tests.ingest.renewals import (
    LONG,
    MANY,
    Breaking,
    Renewal,
    assert_whole,
    chunk_ids,
    many_texts,
    records,
    some_files,
)

from refdesk.documents import Scope
from refdesk.errors import EmbeddingMismatch, NotFound, RemoteError
from refdesk.events import IngestEvent, IngestStarted, SourceFinished
from refdesk.ingest.batch import DOCUMENTS
from refdesk.sources.text import Text
from refdesk.stores.lance import open_lance
from refdesk.testing import HashingEmbedder

pytestmark = pytest.mark.anyio


@pytest.fixture
def renewal(bench: Bench) -> Renewal:
    return Renewal(bench, HashingEmbedder(dimension=32))


async def test_everything_but_the_space_stays(bench: Bench, renewal: Renewal) -> None:
    some_files(bench)
    bench.file("broken.pdf", b"%PDF-1.7 nothing of a document")
    await bench.ingest()
    before, ids = await records(bench.store), await chunk_ids(bench.store)
    failures = await bench.store.failures("c")
    await assert_whole(bench.store, bench.embedder)
    summary = await renewal.reembed()
    assert summary.counts == {"updated": 4}
    assert summary.embedded == summary.chunks == renewal.embedder.embedded
    assert (summary.documents, summary.chunks) == (4, sum(map(len, ids.values())))
    await assert_whole(bench.store, renewal.embedder)
    assert await chunk_ids(bench.store) == ids
    assert await bench.store.failures("c") == failures
    after = await records(bench.store)
    assert {name: replace(one, digest="") for name, one in after.items()} == {
        name: replace(one, digest="") for name, one in before.items()
    }


async def test_the_next_ingest_costs_nothing(bench: Bench, renewal: Renewal) -> None:
    some_files(bench)
    await bench.ingest()
    with pytest.raises(EmbeddingMismatch, match="refdesk reembed --collection c"):
        await renewal.ingest()
    await renewal.reembed()
    embedded = renewal.embedder.embedded
    again = await renewal.ingest()
    assert again.counts == {"unchanged": 4}
    assert again.embedded == 0
    assert renewal.embedder.embedded == embedded
    with pytest.raises(EmbeddingMismatch, match="refdesk reembed"):
        await bench.ingest()


@pytest.mark.parametrize(("chunk_size", "token_vectors"), [(16, False), (None, True)])
async def test_a_new_recipe_in_the_same_space(
    bench: Bench, renewal: Renewal, chunk_size: int | None, token_vectors: bool
) -> None:
    """What re-embedding gives is what a new collection would have, down to the digests."""
    some_files(bench)
    before = await bench.ingest()
    renewal.embedder, renewal.chunk_size = bench.embedder, chunk_size
    renewal.token_vectors = token_vectors
    summary = await renewal.reembed()
    assert (summary.chunks > before.chunks) == (chunk_size is not None)
    ids, digests = await chunk_ids(bench.store), await bench.store.entries("c")
    every = [one for some in ids.values() for one in some]
    kept = await (await bench.store.reader(Scope(("c",)))).token_vectors(every)
    assert set(kept) == set(every if token_vectors else ())
    await bench.store.drop("c")
    await bench.store.create("c")
    await renewal.ingest()
    assert await chunk_ids(bench.store) == ids
    assert await bench.store.entries("c") == digests


async def test_nothing_to_do_costs_nothing(bench: Bench, renewal: Renewal) -> None:
    some_files(bench)
    await bench.ingest()
    await renewal.reembed()
    before, embedded = await records(bench.store), renewal.embedder.embedded
    summary = await renewal.reembed()
    assert summary.counts == {"unchanged": 4}
    assert (summary.embedded, renewal.embedder.embedded) == (0, embedded)
    assert await records(bench.store) == before


async def test_a_changed_source_is_still_noticed(bench: Bench, renewal: Renewal) -> None:
    some_files(bench)
    await bench.ingest()
    await renewal.reembed()
    bench.file("travel.txt", "Trains are booked in first class.")
    summary = await renewal.ingest()
    assert summary.counts == {"unchanged": 3, "updated": 1}


async def test_events_count_every_document_once(bench: Bench, renewal: Renewal) -> None:
    some_files(bench)
    await bench.ingest()
    events: list[IngestEvent] = []
    await renewal.run(events.append).run()
    assert events[0] == IngestStarted("c", 4)
    names = [event.source_id for event in events if isinstance(event, SourceFinished)]
    assert sorted(names) == sorted(await records(bench.store))


async def test_an_interrupted_run_goes_on_and_is_not_seen_before_its_end(
    bench: Bench, renewal: Renewal
) -> None:
    await bench.ingest(*many_texts())
    renewal.embedder = Breaking(2)
    with pytest.raises(RemoteError):
        await renewal.reembed()
    assert renewal.embedder.embedded == 2 * DOCUMENTS
    await assert_whole(bench.store, bench.embedder)
    renewal.embedder = HashingEmbedder(dimension=32)
    summary = await renewal.reembed()
    assert summary.embedded == renewal.embedder.embedded == MANY - 2 * DOCUMENTS
    assert summary.counts == {"updated": MANY - 2 * DOCUMENTS, "unchanged": 2 * DOCUMENTS}
    await assert_whole(bench.store, renewal.embedder)


async def test_cancelling_keeps_what_was_acknowledged(bench: Bench, renewal: Renewal) -> None:
    await bench.ingest(*many_texts())
    acknowledged: list[str] = []
    with anyio.CancelScope() as scope:

        def told(event: IngestEvent) -> None:
            if isinstance(event, SourceFinished):
                acknowledged.append(event.source_id)
                scope.cancel()

        await renewal.run(told).run()
    assert len(acknowledged) == DOCUMENTS
    await assert_whole(bench.store, bench.embedder)
    renewal.embedder = HashingEmbedder(dimension=32)
    assert (await renewal.reembed()).embedded == MANY - DOCUMENTS


def killed(library: Path, after: int, pause: float) -> set[str]:
    """Start a process that embeds anew, kill it a moment after some lines; return what it acknowledged."""
    command = [sys.executable, reembedding.__file__, str(library), "c", "32"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(after)]
        try:
            process.wait(pause)
        except subprocess.TimeoutExpired:
            process.kill()
        rest, _ = process.communicate()
    return {*"".join(lines).split(), *rest.split()}


async def test_kill_9_costs_no_more_than_the_batch_at_hand(
    bench: Bench, renewal: Renewal, tmp_path: Path
) -> None:
    await bench.ingest(*many_texts())
    chance, done = random.Random(), set[str]()
    for _ in range(2):
        pause = chance.random() * 0.3
        done |= await anyio.to_thread.run_sync(killed, tmp_path / "library", len(done) + 1, pause)
        if (await bench.store.collection("c")).fingerprint == str(bench.embedder.fingerprint):
            await assert_whole(bench.store, bench.embedder)
    summary = await renewal.reembed()
    assert len(done) >= DOCUMENTS
    assert summary.embedded <= MANY - len(done)
    assert summary.embedded == summary.counts.get("updated", 0) == renewal.embedder.embedded
    await assert_whole(bench.store, renewal.embedder)
    assert sorted(await records(bench.store)) == [f"{number:04}" for number in range(MANY)]


async def test_an_ingestion_in_another_space_embeds_nothing(bench: Bench, renewal: Renewal) -> None:
    await bench.ingest(Text("Once.", source_id="x"))
    bench.embedder = renewal.embedder
    with pytest.raises(EmbeddingMismatch, match="refdesk reembed"):
        await bench.ingest(Text("Twice.", source_id="y"))
    assert bench.embedder.embedded == 0


async def test_going_back_gives_up_what_was_begun(bench: Bench, renewal: Renewal) -> None:
    await bench.ingest(*many_texts())
    renewal.embedder = Breaking(1)
    with pytest.raises(RemoteError):
        await renewal.reembed()
    back = await Renewal(bench, bench.embedder).reembed()
    assert back.embedded == 0
    renewal.embedder = HashingEmbedder(dimension=32)
    assert (await renewal.reembed()).embedded == MANY


async def test_ingesting_with_the_new_recipe_gives_up_what_was_begun(bench: Bench, tmp_path: Path) -> None:
    """In the same space, documents may come to the recipe one by one."""
    texts = [Text(f"Number {number} says: {LONG[:200]}", source_id=str(number)) for number in range(MANY)]
    await bench.ingest(*texts)
    smaller = Renewal(bench, Breaking(2, dimension=bench.embedder.fingerprint.dimension), chunk_size=16)
    with pytest.raises(RemoteError):
        await smaller.reembed()
    assert len(list((tmp_path / "library" / "chunks").iterdir())) == 2
    smaller.embedder = bench.embedder
    await smaller.ingest(*texts)
    assert (await smaller.reembed()).embedded == 0
    await (await open_lance(tmp_path / "library")).optimise(retention=timedelta(0))
    assert len(list((tmp_path / "library" / "chunks").iterdir())) == 1


async def test_an_unknown_collection_is_named(bench: Bench, renewal: Renewal) -> None:
    run = renewal.run()
    run.collection = "d"
    with pytest.raises(NotFound, match="'d'"):
        await run.run()


async def test_documents_without_chunks_and_an_empty_collection(bench: Bench, renewal: Renewal) -> None:
    assert (await renewal.reembed()).documents == 0
    await bench.ingest(Text("One.", source_id="x"))
    await bench.store.delete("c", ["x"])
    assert (await renewal.reembed()).tried == ()
    await renewal.ingest()
    assert (await bench.store.collection("c")).fingerprint == str(renewal.embedder.fingerprint)
