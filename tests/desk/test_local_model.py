"""The whole modular pipeline with a real small model on the processor."""

from pathlib import Path

import pytest

import refdesk
from refdesk.configuration import load_pipeline
from refdesk.llm.local import LocalLLM
from refdesk.testing import HashingEmbedder

pytestmark = [pytest.mark.anyio, pytest.mark.local]

QUESTION = "How many days of leave do I get?"
TEXTS = {
    "leave": "Employees get 30 days of leave a year. Ten days may be carried over until March.",
    "kitchen": "The kitchen closes at six. Whoever leaves last cleans the coffee machine.",
    "travel": "Trains are booked in second class. A hotel may cost 120 euros a night.",
}
MODULAR = load_pipeline("modular")


@pytest.mark.parametrize("gated", [True, False], ids=["with its gate", "without its gate"])
async def test_the_modular_pipeline_runs_to_its_end(tmp_path: Path, gated: bool) -> None:
    """The gate of so small a model may say anything; without it, every other step has work."""
    pipeline = refdesk.Pipeline(tuple(step for step in MODULAR.steps if gated or step.kind != "router"))
    async with refdesk.aopen(tmp_path, embedder=HashingEmbedder()) as desk:
        for name, text in TEXTS.items():
            await desk.ingest_text(text, source_id=name)
        context = await desk.run(pipeline, QUESTION, llm=LocalLLM(model="smollm2", reply=200))
    context.raise_for_error()
    assert context.answer is not None
    assert context.answer.text
    steps = [trace for trace in context.trace if len(trace.path) == 1]
    assert [trace.path[0] for trace in steps] == [step.name for step in pipeline.steps]
    assert {trace.outcome for trace in steps} <= {"done", "skipped", "continued"}
    assert context.usage.requests >= (2 if gated else 6)
    assert context.usage.input_tokens > context.usage.requests * 20
    assert not context.usage.estimated
