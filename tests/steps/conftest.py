"""A desk on a real library, for steps that search and read."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import refdesk
from refdesk.testing import HashingEmbedder

TEXTS = {
    "leave": "Employees get 30 days of leave per year. Unused leave expires in March.",
    "kitchen": "The kitchen closes at six. Please clean the coffee machine on Fridays.",
    "travel": "Trains are booked in second class. Flights need the approval of the head.",
}
PUMPS = {"x200": "The warranty of the X200 pump is five years.", "x300": "The X300 pump has no warranty."}


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[refdesk.Desk]:
    async with refdesk.aopen(tmp_path / "library", embedder=HashingEmbedder()) as desk:
        for number, (name, text) in enumerate(TEXTS.items()):
            await desk.ingest_text(text, source_id=name, metadata={"topic": number % 2})
        for name, text in PUMPS.items():
            await desk.ingest_text(text, source_id=name, collection="pumps")
        yield desk
