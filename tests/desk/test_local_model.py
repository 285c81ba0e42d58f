"""The whole modular pipeline with a real small model on the processor."""

from pathlib import Path

import pytest

import refdesk
from refdesk.testing import HashingEmbedder

pytestmark = [pytest.mark.anyio, pytest.mark.local]

TEXTS = {
    "leave": "Employees get 30 days of leave a year. Ten days may be carried over until March.",
    "kitchen": "The kitchen closes at six. Whoever leaves last cleans the coffee machine.",
    "travel": "Trains are booked in second class. A hotel may cost 120 euros a night.",
}


async def test_the_modular_pipeline_runs_to_its_end(tmp_path: Path) -> None:
    async with refdesk.aopen(tmp_path, embedder=HashingEmbedder(), llm="local:smollm2") as desk:
        for name, text in TEXTS.items():
            await desk.ingest_text(text, source_id=name)
        context = await desk.run("modular", "How many days of leave do I get?")
    context.raise_for_error()
    assert context.answer is not None
    assert context.answer.text
    assert context.usage.requests >= 5
    assert context.usage.output_tokens > 0
    assert not context.usage.estimated
    assert {trace.outcome for trace in context.trace} <= {"done", "skipped", "continued"}
    reached = [trace.path[0] for trace in context.trace]
    assert reached[0] == "gate"
    assert reached[-1] == "ground"
    print(context.warnings, context.answer.text, context.usage)
    for t in context.trace: print(t.path,t.outcome,round(t.seconds,2),t.usage.requests,t.measures)
