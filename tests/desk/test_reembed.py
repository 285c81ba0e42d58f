"""Embedding anew from the desk, async and blocking."""

from pathlib import Path

import pytest

import refdesk
from refdesk.errors import EmbeddingMismatch, NotFound
from refdesk.events import IngestEvent, IngestStarted
from refdesk.steps import Answer, Search
from refdesk.testing import HashingEmbedder

pytestmark = pytest.mark.anyio


async def test_a_desk_with_another_embedder(desk: refdesk.Desk, tmp_path: Path, handbook: Path) -> None:
    before = [one.document_id for one in await desk.documents()]
    events: list[IngestEvent] = []
    async with refdesk.aopen(tmp_path / "library", embedder=HashingEmbedder(dimension=32)) as other:
        with pytest.raises(EmbeddingMismatch, match="refdesk reembed --collection default"):
            await other.ask("How many days of leave?")
        summary = await other.reembed(on_event=events.append)
        assert summary.counts == {"updated": 3}
        assert events[0] == IngestStarted("default", 3)
        assert [one.document_id for one in await other.documents()] == before
        answer = await other.ask("How many days of leave do employees get per year?")
        assert answer.citations[0].source_id == "handbook/leave.md"
        assert (await other.ingest(handbook)).counts == {"unchanged": 3}
    with pytest.raises(EmbeddingMismatch):
        await desk.search("leave")


async def test_readers_and_writers_with_settings_of_their_own(desk: refdesk.Desk, tmp_path: Path) -> None:
    """The order of docs/reembed.md: the old setting works until the switch, the new one from it on."""
    library, old = tmp_path / "library", HashingEmbedder()
    async with (
        refdesk.aopen(library, embedder=HashingEmbedder(dimension=32)) as new,
        refdesk.aopen(library, embedder=old) as reader,
    ):
        assert (await reader.search("leave")).hits
        for call in (new.search("leave"), new.ingest_text("More leave.", source_id="more")):
            with pytest.raises(EmbeddingMismatch):
                await call
        await desk.ingest_text("More leave.", source_id="more")
        assert (await new.reembed()).counts == {"updated": 4}
        assert (await new.search("leave")).hits
        for call in (
            reader.search("leave"),
            reader.search("leave", mode="keyword"),
            desk.ingest_text("Even more leave.", source_id="more"),
        ):
            with pytest.raises(EmbeddingMismatch):
                await call
        by_words = Search(on_arm_error="continue") | Answer()
        context = await reader.run(by_words, "How many days of leave do employees get?")
        assert context.hits
        assert "Only by words was searched" in context.warnings[0]
        assert (await new.ingest_text("Even more leave.", source_id="more")).counts == {"updated": 1}


async def test_only_the_named_collection(desk: refdesk.Desk, tmp_path: Path) -> None:
    await desk.ingest_text("Another text.", source_id="x", collection="other")
    async with refdesk.aopen(tmp_path / "library", embedder=HashingEmbedder(dimension=32)) as other:
        assert (await other.reembed("other")).documents == 1
        assert (await other.search("text", collections="other")).hits
    assert (await desk.search("leave")).hits
    with pytest.raises(NotFound):
        await desk.reembed("unknown")


def test_without_an_event_loop(tmp_path: Path, handbook: Path) -> None:
    with refdesk.open(tmp_path / "library", embedder=HashingEmbedder()) as desk:
        desk.ingest(handbook)
    with refdesk.open(tmp_path / "library", embedder=HashingEmbedder(dimension=32)) as desk:
        assert desk.reembed().embedded == 3
        assert desk.reembed().embedded == 0
        assert desk.search("leave").hits
