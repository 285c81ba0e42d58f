"""Spans: one for each run, step and request, under the right parent, always ended."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import anyio
import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

import refdesk
from refdesk.errors import LLMError
from refdesk.steps import Answer, Rewrite, Search
from refdesk.telemetry.otel import spans
from refdesk.testing import HashingEmbedder
from refdesk.testing.llm import ScriptedLLM

pytestmark = pytest.mark.anyio

JUDGED = '{"claims": [{"claim": "Leave is 30 days", "verdict": "supported", "sources": [1]}]}'
REPLIES = ("leave days", "Leave is 30 days [[1]].", JUDGED)


@pytest.fixture
def exported() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def listener(exported: InMemorySpanExporter) -> Any:
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exported))
    return spans(provider)


def parents(exporter: InMemorySpanExporter) -> dict[str, str | None]:
    """Return the name of each span's parent."""
    finished = exporter.get_finished_spans()
    names = {span.context.span_id: span.name for span in finished if span.context}
    return {span.name: names[span.parent.span_id] if span.parent else None for span in finished}


async def test_one_tree_per_run(tmp_path: Path, exported: InMemorySpanExporter, listener: Any) -> None:
    async with refdesk.aopen(tmp_path / "library", embedder=HashingEmbedder(), listeners=[listener]) as desk:
        await desk.ingest_text("Employees get 30 days of leave.", source_id="leave")
        pipeline = Rewrite() | Search() | Answer(self_correct=True)
        await desk.run(pipeline, "How many days of leave?", llm=ScriptedLLM(REPLIES))
    assert parents(exported) == {
        "chat scripted": "self_correct",
        "rewrite": "refdesk",
        "search": "refdesk",
        "self_correct": "answer",
        "answer": "refdesk",
        "refdesk": None,
    }
    chats = [span for span in exported.get_finished_spans() if span.name == "chat scripted"]
    assert len(chats) == 3
    attributes = dict(chats[0].attributes or {})
    assert attributes["gen_ai.operation.name"] == "chat"
    assert attributes["gen_ai.request.model"] == "scripted"
    assert attributes["gen_ai.usage.input_tokens"] > 0  # type: ignore[operator]
    assert chats[0].kind is SpanKind.CLIENT
    ids = {(span.attributes or {})["refdesk.run.id"] for span in exported.get_finished_spans()}
    assert len(ids) == 1
    assert not any("leave" in str(value) for span in chats for value in (span.attributes or {}).values())


async def test_failures_have_a_status(tmp_path: Path, exported: InMemorySpanExporter, listener: Any) -> None:
    async with refdesk.aopen(tmp_path / "library", embedder=HashingEmbedder(), listeners=[listener]) as desk:
        await desk.ingest_text("Employees get 30 days of leave.", source_id="leave")
        await desk.run(Search() | Answer(), "Leave?", llm=ScriptedLLM([LLMError("secret text")]))
    failed = [span for span in exported.get_finished_spans() if span.status.status_code is StatusCode.ERROR]
    assert [span.name for span in failed] == ["chat scripted", "answer", "refdesk"]
    assert {(span.attributes or {})["error.type"] for span in failed} == {"llm_failed"}


async def test_spans_end_when_a_reader_leaves(
    tmp_path: Path, exported: InMemorySpanExporter, listener: Any
) -> None:
    async def slowly(question: str, collection: str) -> list[Any]:
        await anyio.sleep(30)
        return []

    async with refdesk.aopen(tmp_path / "library", embedder=HashingEmbedder(), listeners=[listener]) as desk:
        with anyio.move_on_after(0.05):
            await desk.run(Search(searcher=slowly) | Answer(), "Leave?")
    outcomes = {
        span.name: (span.attributes or {})["refdesk.outcome"] for span in exported.get_finished_spans()
    }
    assert outcomes == {"search": "cancelled", "refdesk": "cancelled"}


async def test_runs_at_once_never_mix(tmp_path: Path, exported: InMemorySpanExporter, listener: Any) -> None:
    async with refdesk.aopen(tmp_path / "library", embedder=HashingEmbedder(), listeners=[listener]) as desk:
        await desk.ingest_text("Employees get 30 days of leave.", source_id="leave")
        await asyncio.gather(*(desk.run(Search() | Answer(), "How many days of leave?") for _ in range(50)))
    finished = exported.get_finished_spans()
    traces = Counter(span.context.trace_id for span in finished if span.context)
    assert len(traces) == 50
    assert set(traces.values()) == {3}
    runs = {
        (span.context.trace_id, (span.attributes or {})["refdesk.run.id"])
        for span in finished
        if span.context
    }
    assert len(runs) == 50
