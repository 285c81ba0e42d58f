"""Embedding anew from the desk, async and blocking."""

from pathlib import Path

import pytest

import refdesk
from refdesk.errors import EmbeddingMismatch, NotFound
from refdesk.events import IngestEvent, IngestStarted
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
