"""A small forum in a library, whose embedder and reranker are servers that a test can break."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import refdesk
from refdesk.embedding.http import connect_tei
from refdesk.embedding.remote import Server
from refdesk.reranking.calibration import write_calibration
from refdesk.reranking.http import HttpReranker, Tei
from refdesk.reranking.thresholds import Thresholds
from refdesk.testing.model_server import ModelServer, model_server

POSTS = {
    (
        "welt",
        1,
        "Cleaning a Goodyear welt",
        "Care",
    ): "Clean a Goodyear welt with a soft brush and saddle soap.",
    (
        "welt",
        2,
        "Cleaning a Goodyear welt",
        "Care",
    ): "A Goodyear welt likes a soft brush; water is bad for it.",
    ("last", 1, "Which last for wide feet?", "Sizing"): "For wide feet take a last with a round toe.",
    ("resole", 1, "Resoling in Lyon", "Repairs"): "The cobbler in Lyon resoles shoes within two weeks.",
    ("suede", 1, "Rain on suede", "Care"): "Suede dries slowly: never put suede near a heater.",
}
"""Topic, post, title and category to text."""
QUESTION = "How do I clean a Goodyear welt?"
LINKS = {"forum": "https://forum.example/t/{metadata.topic_id}/{metadata.post}"}


@dataclass(frozen=True)
class Forum:
    """A desk on the forum and the servers behind it."""

    desk: refdesk.Desk
    embedder: ModelServer
    reranker: ModelServer


@pytest.fixture
def embedder() -> Iterator[ModelServer]:
    with model_server() as server:
        yield server


@pytest.fixture
def reranker() -> Iterator[ModelServer]:
    with model_server(model="org/reranker") as server:
        yield server


async def fill(desk: refdesk.Desk) -> None:
    for (topic, post, title, category), text in POSTS.items():
        await desk.ingest_text(
            text,
            source_id=f"{topic}/{post}",
            title=title,
            metadata={"topic_id": topic, "post": post, "category": category, "tags": ("shoes", topic)},
            collection="forum",
        )


@pytest.fixture
async def forum(tmp_path: Path, embedder: ModelServer, reranker: ModelServer) -> AsyncIterator[Forum]:
    limits = Thresholds(abstain_below=-2.0, weak_below=0.0, measured_on="what the test says")
    write_calibration(tmp_path / "calibration.yaml", f"tei:{reranker.url} org/reranker@abc", limits)
    async with refdesk.aopen(
        tmp_path / "library",
        embedder=await connect_tei(Server(url=embedder.url, retries=0)),
        reranker=HttpReranker(Server(url=reranker.url, retries=0), Tei(), f"tei:{reranker.url}"),
        collection="forum",
        links=LINKS,
        pipeline="forum",
        calibration=str(tmp_path / "calibration.yaml"),
    ) as desk:
        await fill(desk)
        yield Forum(desk, embedder, reranker)
