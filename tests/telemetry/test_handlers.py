"""Handlers are called for the events that they name, and cannot break a run."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from pathlib import Path

import pytest

import refdesk
from refdesk import telemetry
from refdesk.errors import LLMError
from refdesk.events import Token
from refdesk.llm import DEFAULTS, Message, Options
from refdesk.pipeline import When
from refdesk.steps import Answer, Rewrite, Search
from refdesk.telemetry import Record
from refdesk.testing import HashingEmbedder
from refdesk.testing.llm import ScriptedLLM

pytestmark = pytest.mark.anyio

PIPELINE = Rewrite() | Search() | Answer(self_correct=True)
JUDGED = '{"claims": [{"claim": "Leave is 30 days", "verdict": "supported", "sources": [1]}]}'
REPLIES = ("leave days", "Leave is 30 days [[1]].", JUDGED)


@pytest.fixture
def seen() -> Iterator[list[Record]]:
    """What a handler of everything is told."""
    records: list[Record] = []
    handle = telemetry.attach("*", records.append)
    yield records
    telemetry.detach(handle)


async def ask(folder: Path, llm: ScriptedLLM, question: str = "How many days of leave?") -> refdesk.Context:
    async with refdesk.aopen(folder / "library", embedder=HashingEmbedder()) as desk:
        await desk.ingest_text("Employees get 30 days of leave.", source_id="leave")
        return await desk.run(PIPELINE, question, llm=llm)


async def test_every_step_starts_and_stops(tmp_path: Path, seen: list[Record]) -> None:
    await ask(tmp_path, ScriptedLLM(REPLIES))
    assert [record.name.removeprefix("refdesk.") for record in seen] == [
        "run.start",
        "pipeline.rewrite.start",
        "llm.stop",
        "pipeline.rewrite.stop",
        "pipeline.search.start",
        "pipeline.search.stop",
        "pipeline.answer.start",
        "llm.stop",
        "pipeline.answer.self_correct.start",
        "llm.stop",
        "pipeline.answer.self_correct.stop",
        "pipeline.answer.stop",
        "run.stop",
    ]
    assert len({record.run_id for record in seen}) == 1
    [search] = [record for record in seen if record.name == "refdesk.pipeline.search.stop"]
    assert search.seconds is not None
    assert search.measures == {"hits": 1}
    assert seen[-1].usage.requests == 3


async def test_texts_are_told_to_those_who_ask(tmp_path: Path) -> None:
    records: list[Record] = []
    handle = telemetry.attach("refdesk.pipeline.search.stop", records.append, texts=True)
    await ask(tmp_path, ScriptedLLM(REPLIES))
    telemetry.detach(handle)
    [record] = records
    assert record.measures["queries"] == ("leave days",)
    await ask(tmp_path, ScriptedLLM(REPLIES))
    assert len(records) == 1


async def test_failures_are_exceptions(tmp_path: Path, seen: list[Record]) -> None:
    context = await ask(tmp_path, ScriptedLLM([LLMError("down")]))
    failed = [record for record in seen if record.name.endswith(".exception")]
    assert [(record.name.removeprefix("refdesk."), record.outcome) for record in failed] == [
        ("llm.exception", "stopped"),
        ("pipeline.rewrite.exception", "continued"),
        ("llm.exception", "stopped"),
        ("pipeline.answer.exception", "stopped"),
        ("run.exception", "stopped"),
    ]
    assert failed[-1].error is context.error


async def test_a_handler_that_raises_is_detached(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    calls: list[str] = []

    def broken(record: Record) -> None:
        calls.append(record.name)
        raise ValueError("broken")

    telemetry.attach("refdesk.pipeline.*", broken)
    with caplog.at_level(logging.ERROR, "refdesk.telemetry"):
        context = await ask(tmp_path, ScriptedLLM(REPLIES))
    assert context.error is None
    assert calls == ["refdesk.pipeline.rewrite.start"]
    assert "was detached" in caplog.text


async def test_runs_at_once_are_told_apart(tmp_path: Path, seen: list[Record]) -> None:
    async with refdesk.aopen(tmp_path / "library", embedder=HashingEmbedder()) as desk:
        await desk.ingest_text("Employees get 30 days of leave.", source_id="leave")
        await asyncio.gather(*(desk.run(Search() | Answer(), "How many days of leave?") for _ in range(20)))
    runs = {record.run_id for record in seen}
    assert len(runs) == 20
    for run in runs:
        names = [record.name for record in seen if record.run_id == run]
        assert names[0] == "refdesk.run.start"
        assert len(names) == 6


class Endless:
    """A model that goes on and on."""

    name = "endless"

    async def stream(
        self, messages: tuple[Message, ...], options: Options = DEFAULTS
    ) -> AsyncGenerator[str, None]:
        while True:
            yield "Leave is 30 days [[1]]. "
            await asyncio.sleep(0)


async def test_everything_that_started_stops_when_a_reader_leaves(tmp_path: Path, seen: list[Record]) -> None:
    pipeline = Search() | When(condition="hits>0", steps=(Answer(),))
    async with refdesk.aopen(tmp_path / "library", embedder=HashingEmbedder()) as desk:
        await desk.ingest_text("Employees get 30 days of leave.", source_id="leave")
        async with aclosing(desk.stream("Leave?", pipeline=pipeline, llm=Endless())) as events:
            async for event in events:
                if isinstance(event, Token):
                    break
    ended = [(record.name.removeprefix("refdesk."), record.outcome) for record in seen if record.outcome]
    assert ended == [
        ("pipeline.search.stop", "done"),
        ("llm.stop", "cancelled"),
        ("pipeline.answer.stop", "cancelled"),
        ("pipeline.when.stop", "cancelled"),
        ("run.stop", "cancelled"),
    ]
    assert all(record.error is None for record in seen)
