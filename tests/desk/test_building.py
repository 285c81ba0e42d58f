"""Parts of a desk: built once, and left alone for a while where their server could not be reached."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

import refdesk
from refdesk.desk.building import LEFT_ALONE, Building
from refdesk.embedding.http import HttpEmbedder, connect_openai
from refdesk.embedding.remote import Server
from refdesk.errors import EmbeddingMismatch, ModelError, RefdeskError, RemoteError
from refdesk.testing import HashingEmbedder
from refdesk.testing.model_server import Fault, ModelServer, model_server

pytestmark = pytest.mark.anyio


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


class Maker:
    """Counts what it makes, or raises."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.made = 0

    async def __call__(self) -> int:
        self.made += 1
        await anyio.lowlevel.checkpoint()
        if self.errors:
            raise self.errors.pop(0)
        return self.made


async def test_a_part_is_built_once_however_many_ask() -> None:
    building, maker, got = Building({}), Maker(), list[int]()

    async def ask() -> None:
        got.append(await building.once("part", maker))

    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(ask)
    assert got == [1] * 5


async def test_a_part_that_is_slow_keeps_up_no_other() -> None:
    building, asked = Building({}), anyio.Event()

    async def slow() -> int:
        asked.set()
        await anyio.sleep_forever()
        return 0

    async with anyio.create_task_group() as group:
        group.start_soon(building.once, "slow", slow)
        await asked.wait()
        assert await building.once("other", Maker()) == 1
        group.cancel_scope.cancel()


async def test_a_server_that_was_not_reached_is_left_alone_for_a_while() -> None:
    clock = Clock()
    building, maker = Building({}, clock), Maker(RemoteError("down", retryable=True))
    for _ in range(3):
        with pytest.raises(RemoteError, match="down"):
            await building.once("part", maker)
    assert maker.made == 1
    clock.now += LEFT_ALONE
    assert await building.once("part", maker) == 2


@pytest.mark.parametrize("error", [RemoteError("no key", retryable=False), ModelError("no weights")])
async def test_what_can_be_mended_at_once_is_tried_at_once(error: RefdeskError) -> None:
    building, maker = Building({}, Clock()), Maker(error)
    with pytest.raises(type(error)):
        await building.once("part", maker)
    assert await building.once("part", maker) == 2


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with model_server() as server:
        yield server


async def test_another_model_of_the_same_name_is_refused(tmp_path: Path, model: ModelServer) -> None:
    async def opened() -> HttpEmbedder:
        return await connect_openai(Server(url=f"{model.url}/v1"), "m")

    async with refdesk.aopen(tmp_path, embedder=await opened()) as desk:
        await desk.ingest_text("Leave is 30 days.", source_id="leave", title="Leave")
        assert (await desk.search("leave")).hits
    async with refdesk.aopen(tmp_path, embedder=await opened()) as desk:
        assert (await desk.search("leave")).hits
        await desk.ingest_text("Trains are booked.", source_id="trains")
    model.embedder = HashingEmbedder(query_prefix="quite another model with other weights and data ")
    async with refdesk.aopen(tmp_path, embedder=await opened()) as desk:
        for _ in range(2):
            with pytest.raises(EmbeddingMismatch, match="server's model 'm' is not the one") as caught:
                await desk.search("leave")
        assert "by another name" in caught.value.remedy
        with pytest.raises(EmbeddingMismatch):
            await desk.ingest_text("Hotels are paid.", source_id="hotels")
        assert len(await desk.documents()) == 2


async def test_a_server_is_asked_once_for_each_collection(tmp_path: Path, model: ModelServer) -> None:
    async with refdesk.aopen(
        tmp_path, embedder=await connect_openai(Server(url=f"{model.url}/v1"), "m")
    ) as desk:
        await desk.ingest_text("Leave is 30 days.", source_id="leave", acl=("staff",))
    async with refdesk.aopen(
        tmp_path, embedder=await connect_openai(Server(url=f"{model.url}/v1"), "m")
    ) as desk:
        model.requests.clear()
        await desk.search("leave")
        assert len(model.requests) == 2
        await desk.search("leave")
        assert len(model.requests) == 3


async def test_a_reranker_on_a_server_needs_no_embedder(
    tmp_path: Path, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"{model.url}/v1")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    options: dict[str, Any] = {"embedder": "openai:m", "reranker": f"tei:{model.url}", "pipeline": "forum"}
    async with refdesk.aopen(tmp_path, **options) as desk:
        await desk.ingest_text("Leave is 30 days.", source_id="leave")
    model.failing = {"/embeddings": Fault(status=401, error="no")}
    async with refdesk.aopen(tmp_path, **options) as desk:
        context = await desk.run(None, "How many days is leave?")
    assert [one for one in context.degraded if one != "ground"] == ["search.vector", "answer.model"]
    assert context.rerank_scores
    assert context.answer is not None
    assert context.answer.refusal == "model_unavailable"
