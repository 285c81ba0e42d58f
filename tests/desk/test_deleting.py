"""Deletes: what the receipt says, and that nothing is left anywhere."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refdesk
from refdesk.conversations import Key
from refdesk.conversations.memory import MemoryConversations
from refdesk.documents import Scope, document_id
from refdesk.errors import NotFound, StoreError
from refdesk.steps import Answer, Recall, Remember, Search
from refdesk.stores import Failure, StoredDocument
from refdesk.testing import HashingEmbedder

pytestmark = pytest.mark.anyio

QUESTION = "How many days of leave do zebras get?"
KEEP = Search() | Answer() | Remember(retrieval=True)
AGAIN = Recall(retrieval=True) | Answer()


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[refdesk.Desk]:
    async with refdesk.aopen(tmp_path / "library", embedder=HashingEmbedder()) as desk:
        await desk.ingest_text(
            "Zebras get 30 days of leave per year. Unused leave expires.", source_id="leave"
        )
        await desk.ingest_text("The kitchen closes at six, also for zebras.", source_id="kitchen")
        await desk.create_collection("default", description="What zebras ask.")
        yield desk


async def note_failure(desk: refdesk.Desk, name: str) -> None:
    store = await desk.services.writable_store()
    await store.record_failures(
        "default", [Failure(source_id=name, reason="empty", message="Nothing in it.")]
    )


def holding(library: str, word: bytes) -> list[str]:
    files = (one for one in Path(library).rglob("*") if one.is_file())
    return sorted(one.name for one in files if word in one.read_bytes())


async def test_the_receipt_names_what_went_where(desk: refdesk.Desk) -> None:
    for user in ("anna", "bert"):
        await desk.run(KEEP, QUESTION, conversation="c", user=user)
    await note_failure(desk, "leave")
    receipt = await desk.delete("leave")
    assert (receipt.collection, receipt.source_ids) == ("default", ("leave",))
    assert (receipt.documents, receipt.chunks, receipt.vectors, receipt.full_text) == (1, 1, 1, 1)
    assert (receipt.ledger, receipt.failures, receipt.caches, receipt.wiped) == (1, 1, (), False)
    assert (receipt.kept_hits, receipt.answers, receipt.answers_deleted) == (2, 2, False)
    assert [len(await desk.conversations.show("c", user=user)) for user in ("anna", "bert")] == [2, 2]
    context = await desk.run(AGAIN, "And?", conversation="c", user="anna")
    assert {hit.source_id for hit in context.hits} == {"kitchen"}
    assert (await desk.delete("kitchen")).kept_hits == 2
    with pytest.raises(NotFound):
        await desk.delete("leave")


async def test_answers_that_cite_it_go_where_that_is_asked_for(desk: refdesk.Desk) -> None:
    await desk.run(KEEP, QUESTION, conversation="c")
    receipt = await desk.delete("leave", answers=True)
    assert (receipt.answers, receipt.answers_deleted) == (1, True)
    assert [one.role for one in await desk.conversations.show("c")] == ["user"]


async def test_other_collections_documents_of_the_same_name_stay(desk: refdesk.Desk) -> None:
    await desk.ingest_text("Zebras get 20 days of leave elsewhere.", source_id="leave", collection="other")
    await desk.run(KEEP, QUESTION, conversation="c", collections="all")
    receipt = await desk.delete("leave", collection="other")
    assert (receipt.collection, receipt.kept_hits) == ("other", 1)
    context = await desk.run(AGAIN, "And?", conversation="c", collections="all")
    assert {hit.chunk.collection for hit in context.hits} == {"default"}


async def test_a_collection_goes_with_all_that_is_kept_of_it(desk: refdesk.Desk) -> None:
    await desk.run(KEEP, QUESTION, conversation="c")
    await note_failure(desk, "broken.pdf")
    receipt = await desk.delete_collection("default")
    assert (receipt.documents, receipt.vectors, receipt.full_text, receipt.ledger) == (2, 2, 2, 2)
    assert (receipt.failures, receipt.kept_hits, receipt.answers) == (1, 2, 1)
    assert await desk.collections() == ()
    with pytest.raises(NotFound):
        await desk.services.conversations.found(Key("", "c"))


async def test_a_purged_collection_keeps_its_name_and_description(desk: refdesk.Desk) -> None:
    await note_failure(desk, "broken.pdf")
    store = await desk.services.writable_store()
    await store.set_cursor("default", "forum", "42")
    receipt = await desk.purge_collection("default")
    assert (receipt.documents, receipt.failures) == (2, 1)
    assert receipt.source_ids == ("broken.pdf", "kitchen", "leave")
    kept = await desk.collection("default")
    assert (kept.documents, kept.chunks, kept.description) == (0, 0, "What zebras ask.")
    assert (await desk.failures(), await store.cursors("default")) == ({}, {})
    again = await desk.purge_collection("default")
    assert (again.documents, again.chunks, again.failures) == (0, 0, 0)
    with pytest.raises(NotFound):
        await desk.purge_collection("nowhere")


async def test_a_wiped_document_is_in_no_file(desk: refdesk.Desk) -> None:
    library = desk.settings.library
    await desk.ingest_text("Quaggas are not zebras.", source_id="quagga")
    await desk.run(KEEP, "Quaggas?", conversation="c")
    assert holding(library, b"uaggas")
    receipt = await desk.delete("quagga", answers=True, wipe=True)
    assert receipt.wiped
    left = holding(library, b"uaggas are")
    assert left == []
    assert holding(library, b"kitchen closes")
    assert len((await desk.search("zebras")).hits) == 2
    await desk.ingest_text("Zebras get 31 days.", source_id="leave")
    await desk.wipe()
    assert holding(library, b"Unused leave") == []


async def test_a_wipe_reaches_a_reembedding_that_was_left(tmp_path: Path) -> None:
    for name in ("folder", "purged"):
        async with refdesk.aopen(tmp_path / name, embedder=HashingEmbedder()) as desk:
            await desk.ingest_text("Quaggas are not zebras.", source_id="quagga")
            await desk.ingest_text("Zebras have stripes.", source_id="zebra")
            store = await desk.services.writable_store()
            remake = await store.remake("default", fingerprint="other", dimension=4, recipe="other")
            await remake.write([await _four_wide(desk, name) for name in ("quagga", "zebra")])
            library = str(tmp_path / name)
            assert len(holding(library, b"uaggas are")) > 2
            if name == "folder":
                await desk.delete("quagga", wipe=True)
                assert (await desk.vector_sets())[1].missing == 0
            else:
                await desk.purge_collection("default", wipe=True)
                assert holding(library, b"ebras have") == []
            assert holding(library, b"uaggas are") == []


async def _four_wide(desk: refdesk.Desk, source_id: str) -> StoredDocument:
    """Return a stored document with vectors of another space."""
    reader = await (await desk.services.store()).reader(Scope(upkeep=True))
    document = await reader.document(document_id("default", source_id))
    chunks = await reader.chunks(document.document_id)
    return StoredDocument(
        document=document,
        chunks=chunks,
        tokens=tuple(chunk.text.lower() for chunk in chunks),
        vectors=np.eye(4, dtype=np.float32)[: len(chunks)],
    )


async def test_a_question_alone_names_no_document(desk: refdesk.Desk) -> None:
    """What a user typed is the user's: it goes with the conversation, not with a document."""
    await desk.run(KEEP, QUESTION, conversation="c")
    await desk.delete("leave", "kitchen", answers=True)
    assert [one.text for one in await desk.conversations.show("c")] == [QUESTION]


class Broken(MemoryConversations):
    async def forget(self, documents: Any, *, answers: bool = False) -> Any:
        raise StoreError("The file is damaged.", remedy="Restore it.")


async def test_conversations_that_cannot_be_looked_through(tmp_path: Path) -> None:
    async with refdesk.aopen(tmp_path, embedder=HashingEmbedder(), conversations=Broken()) as desk:
        await desk.ingest_text("Zebras.", source_id="zebra")
        with pytest.raises(StoreError, match="1 documents of 'default' were deleted") as raised:
            await desk.delete("zebra")
        assert "The file is damaged." in str(raised.value)
        assert await desk.documents() == ()
