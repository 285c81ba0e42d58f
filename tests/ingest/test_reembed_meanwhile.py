"""What happens to a collection while it is embedded anew is not lost."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

import pytest
from tests.ingest.conftest import Bench
from tests.ingest.renewals import (
    BEFORE_LAST,
    LAST,
    MANY,
    Meanwhile,
    Renewal,
    assert_whole,
    chunk_ids,
    many_texts,
)

from refdesk.documents import Scope
from refdesk.errors import EmbeddingMismatch, StoreError
from refdesk.sources import SourceFailure, SourceItem
from refdesk.sources.text import Text
from refdesk.stores.lance import open_lance
from refdesk.testing import HashingEmbedder

pytestmark = pytest.mark.anyio


@pytest.fixture
def renewal(bench: Bench) -> Renewal:
    return Renewal(bench, HashingEmbedder(dimension=32))


async def test_what_is_ingested_meanwhile_is_not_lost(bench: Bench, renewal: Renewal) -> None:
    await bench.ingest(*many_texts())
    other = await open_lance(bench.folder.parent / "library")

    async def change() -> None:
        changed = [Text("Changed.", source_id=name) for name in ("0000", LAST)]
        await bench.ingest(*changed, Text("Added.", source_id="new"))
        await other.delete("c", ["0001", BEFORE_LAST])

    async def change_more() -> None:
        await bench.ingest(Text("Changed again.", source_id="0000"), Text("Added late.", source_id="later"))
        await other.delete("c", ["0002"])

    renewal.embedder = Meanwhile(change, change_more)
    summary = await renewal.reembed()
    assert summary.documents == MANY - 1
    await assert_whole(bench.store, renewal.embedder)
    reader = await bench.store.reader(Scope(("c",)))
    texts = {one.source_id: (await reader.document(one.document_id)).text for one in await reader.documents()}
    assert [texts[name] for name in ("0000", LAST)] == ["Changed again.", "Changed."]
    assert [texts[name] for name in ("new", "later")] == ["Added.", "Added late."]
    assert not {"0001", BEFORE_LAST, "0002"} & set(texts)
    chunks = {name: len(ids) for name, ids in (await chunk_ids(bench.store)).items()}
    assert chunks == dict.fromkeys(texts, 1)
    assert (await renewal.reembed()).embedded == 0


async def test_a_collection_that_never_rests_is_left_as_it_is(bench: Bench, renewal: Renewal) -> None:
    await bench.ingest(Text("Once.", source_id="x"))
    versions = iter(range(99))

    async def change() -> None:
        await bench.ingest(Text(f"Version {next(versions)}.", source_id="x"))

    renewal.embedder = Meanwhile(*[change] * 99)
    with pytest.raises(StoreError, match="kept changing"):
        await renewal.reembed()
    await assert_whole(bench.store, bench.embedder)
    renewal.embedder = HashingEmbedder(dimension=32)
    assert (await renewal.reembed()).embedded == 1
    await assert_whole(bench.store, renewal.embedder)


@dataclass
class Overtaken:
    """A source at whose end something has happened."""

    text: Text
    event: Callable[[], Awaitable[object]]

    def count(self) -> int:
        return 1

    async def items(self) -> AsyncIterator[SourceItem | SourceFailure]:
        async for item in self.text.items():
            yield item
        await self.event()

    def covers(self, source_id: str, url: str | None) -> bool:
        return False


@pytest.mark.parametrize("text", ["Once.", "Twice."])
async def test_an_ingestion_that_is_overtaken_is_refused(bench: Bench, renewal: Renewal, text: str) -> None:
    await bench.ingest(Text("Once.", source_id="x"))
    with pytest.raises(EmbeddingMismatch, match="refdesk reembed"):
        await bench.ingest(Overtaken(Text(text, source_id="x"), renewal.reembed))
    await assert_whole(bench.store, renewal.embedder)


async def test_nothing_of_two_recipes_is_mixed(bench: Bench, renewal: Renewal) -> None:
    """A run in one space takes the place of an unfinished one in another, whose process is told so."""
    await bench.ingest(*many_texts())
    other = Renewal(bench, HashingEmbedder(dimension=16))
    renewal.embedder = Meanwhile(other.reembed)
    with pytest.raises(StoreError, match="another process"):
        await renewal.reembed()
    await assert_whole(bench.store, other.embedder)
