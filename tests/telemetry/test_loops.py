"""What handlers and spans are told of an agentic loop: turns, calls of tools, how it ended."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

import refdesk
from refdesk import telemetry
from refdesk.errors import LLMError, SettingsError
from refdesk.steps import Loop
from refdesk.telemetry import Record
from refdesk.telemetry.otel import spans
from refdesk.testing import HashingEmbedder
from refdesk.testing.llm import Calls, ScriptedLLM

pytestmark = pytest.mark.anyio

SEARCH = Calls(("search", {"query": "secret leave"}))
ANSWER = Calls(("answer", {"text": "Leave is 30 days [[1]]."}))
BUSY = Calls(
    ("search", {"query": "secret leave"}),
    ("search", {"query": "secret leave"}),
    ("serch", {"query": "secret"}),
    ("search", {"query": " "}),
)


def weather(city: str) -> str:
    """Tell the weather of a city."""
    raise ValueError(f"no secret {city}")


@pytest.fixture
def seen() -> Iterator[list[Record]]:
    """What a handler of a loop's events is told."""
    records: list[Record] = []
    handle = telemetry.attach("refdesk.pipeline.*", records.append)
    yield records
    telemetry.detach(handle)


@pytest.fixture
def exported() -> InMemorySpanExporter:
    return InMemorySpanExporter()


def provider(exported: InMemorySpanExporter) -> TracerProvider:
    made = TracerProvider(shutdown_on_exit=False)
    made.add_span_processor(SimpleSpanProcessor(exported))
    return made


async def run(
    folder: Path, *replies: Any, step: Loop | None = None, listeners: list[Any] | None = None
) -> refdesk.Context:
    async with refdesk.aopen(
        folder / "library", embedder=HashingEmbedder(), listeners=listeners or []
    ) as desk:
        await desk.ingest_text("Employees get 30 days of leave, which is secret.", source_id="leave")
        return await desk.run(step or Loop(), "How many days of leave?", llm=ScriptedLLM(replies))


def named(exported: InMemorySpanExporter, name: str) -> list[ReadableSpan]:
    return [span for span in exported.get_finished_spans() if span.name == name]


async def test_turns_and_tools_have_the_name_of_their_loop(tmp_path: Path, seen: list[Record]) -> None:
    await run(tmp_path, SEARCH, ANSWER, step=Loop(id="dig"))
    assert [record.name.removeprefix("refdesk.pipeline.") for record in seen] == [
        "dig.start",
        "dig.turn.start",
        "dig.tool.stop",
        "dig.turn.stop",
        "dig.turn.start",
        "dig.tool.stop",
        "dig.turn.stop",
        "dig.stop",
    ]
    end = seen[-1].measures
    assert (end["iterations"], end["terminated_by"]) == (2, "answered")
    assert seen[3].usage.requests == 1


async def test_every_call_is_told_also_one_that_was_not_run(tmp_path: Path, seen: list[Record]) -> None:
    await run(tmp_path, BUSY, ANSWER)
    calls = [record for record in seen if record.name == "refdesk.pipeline.investigate.tool.stop"]
    assert [(call.measures["tool"], call.measures["iteration"], call.outcome) for call in calls] == [
        ("search", 1, "done"),
        ("search", 1, "repeated"),
        ("serch", 1, "error"),
        ("search", 1, "error"),
        ("answer", 2, "done"),
    ]
    assert calls[0].measures["hits"] == 1
    assert all(call.path == ("investigate",) for call in calls)
    assert not any("secret" in str(record.measures) for record in seen)


async def test_texts_of_a_call_are_told_to_those_who_ask(tmp_path: Path) -> None:
    records: list[Record] = []
    handle = telemetry.attach("refdesk.pipeline.investigate.tool.*", records.append, texts=True)
    await run(tmp_path, SEARCH, ANSWER)
    telemetry.detach(handle)
    arguments = records[0].measures["arguments"]
    assert isinstance(arguments, str)
    assert json.loads(arguments)["query"] == "secret leave"
    assert "Found 1 passage" in str(records[0].measures["summary"])


async def test_a_tool_that_ends_the_loop_is_an_exception(tmp_path: Path, seen: list[Record]) -> None:
    def broken(city: str) -> str:
        """Tell the weather."""
        raise SettingsError("wrong")

    call = Calls(("broken", {"city": "Rome"}))
    context = await run(tmp_path, call, step=Loop(tools=("search", "answer", broken)))
    assert context.error is not None
    failed = [record.name for record in seen if record.name.endswith(".exception")]
    assert failed == [
        "refdesk.pipeline.investigate.tool.exception",
        "refdesk.pipeline.investigate.turn.exception",
        "refdesk.pipeline.investigate.exception",
    ]


async def test_a_model_that_fails_ends_its_turn(tmp_path: Path, seen: list[Record]) -> None:
    await run(tmp_path, SEARCH, LLMError("down"))
    names = [record.name.removeprefix("refdesk.pipeline.investigate.") for record in seen]
    assert names[-2] == "turn.exception"
    assert seen[-1].measures["terminated_by"] == "error"


async def test_a_tool_is_a_span_of_the_conventions(tmp_path: Path, exported: InMemorySpanExporter) -> None:
    await run(tmp_path, BUSY, ANSWER, listeners=[spans(provider(exported))])
    names = {span.context.span_id: span.name for span in exported.get_finished_spans() if span.context}
    found = {
        (span.name, names[span.parent.span_id] if span.parent else None)
        for span in exported.get_finished_spans()
    }
    assert found == {
        ("refdesk", None),
        ("investigate", "refdesk"),
        ("turn-1", "investigate"),
        ("turn-2", "investigate"),
        ("chat scripted", "turn-1"),
        ("chat scripted", "turn-2"),
        ("execute_tool search", "turn-1"),
        ("execute_tool answer", "turn-2"),
    }
    searches = named(exported, "execute_tool search")
    ids = []
    for span in searches:
        attributes = dict(span.attributes or {})
        assert span.kind is SpanKind.INTERNAL
        assert attributes["gen_ai.operation.name"] == "execute_tool"
        assert attributes["gen_ai.tool.name"] == "search"
        assert attributes["gen_ai.tool.type"] == "function"
        assert "gen_ai.tool.call.arguments" not in attributes
        assert "secret" not in str(attributes)
        ids.append(attributes.get("gen_ai.tool.call.id"))
    assert len(set(ids)) == len(searches)
    assert all(ids)
    [loop] = named(exported, "investigate")
    assert (loop.attributes or {})["refdesk.terminated_by"] == "answered"
    assert (loop.attributes or {})["refdesk.iterations"] == 2


async def test_arguments_are_attributes_where_texts_are_wanted(
    tmp_path: Path, exported: InMemorySpanExporter
) -> None:
    two = Calls(("search", {"query": "one"}), ("search", {"query": "two"}))
    await run(tmp_path, two, ANSWER, listeners=[spans(provider(exported), texts=True)])
    asked = [
        json.loads(str((span.attributes or {})["gen_ai.tool.call.arguments"]))["query"]
        for span in named(exported, "execute_tool search")
    ]
    assert sorted(asked) == ["one", "two"]
    for span in named(exported, "execute_tool search"):
        attributes = span.attributes or {}
        assert (
            json.loads(str(attributes["gen_ai.tool.call.arguments"]))["query"] == attributes["refdesk.query"]
        )


async def test_a_tool_that_fails_has_a_status(tmp_path: Path, exported: InMemorySpanExporter) -> None:
    step = Loop(tools=("search", "answer", weather))
    call = Calls(("weather", {"city": "Rome"}))
    context = await run(tmp_path, call, SEARCH, ANSWER, step=step, listeners=[spans(provider(exported))])
    assert context.error is None
    failed = [span for span in exported.get_finished_spans() if span.status.status_code is StatusCode.ERROR]
    assert [span.name for span in failed] == ["execute_tool weather"]
    assert (failed[0].attributes or {})["error.type"] == "tool_failed"
    assert "secret" not in str(failed[0].status.description)


async def test_spans_of_tools_end_when_the_loop_is_broken_off(
    tmp_path: Path, exported: InMemorySpanExporter
) -> None:
    async def slow(city: str) -> str:
        """Tell the weather, slowly."""
        scope.cancel()
        await anyio.sleep(30)
        return "sunny"

    call = Calls(("slow", {"city": "Rome"}))
    listener = spans(provider(exported))
    with anyio.CancelScope() as scope:
        await run(tmp_path, call, step=Loop(tools=(slow,)), listeners=[listener])
    outcomes = {
        span.name: (span.attributes or {}).get("refdesk.outcome") for span in exported.get_finished_spans()
    }
    assert outcomes["execute_tool slow"] == "cancelled"
    assert outcomes["investigate"] == outcomes["turn-1"] == outcomes["refdesk"] == "cancelled"
