"""A handbook, and a desk that reads it with the hashing embedder."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import refdesk
from refdesk.testing import HashingEmbedder

FILES = {
    "leave.md": "# Leave\n\nEmployees get 30 days of leave per year. Unused leave expires in March.\n",
    "travel.md": "# Travel\n\nTrains are booked in second class. Flights need the approval of the head.\n",
    "kitchen.txt": "The kitchen closes at six. Please clean the coffee machine on Fridays.\n",
}


@pytest.fixture
def handbook(tmp_path: Path) -> Path:
    folder = tmp_path / "handbook"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text, "utf-8")
    return folder


@pytest.fixture
async def desk(tmp_path: Path, handbook: Path) -> AsyncIterator[refdesk.Desk]:
    async with refdesk.aopen(tmp_path / "library", embedder=HashingEmbedder()) as desk:
        await desk.ingest(handbook)
        yield desk
