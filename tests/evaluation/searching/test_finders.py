"""Searches and pipelines as something that is measured."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

import refdesk
from refdesk.configuration import load_pipeline, presets
from refdesk.context import Context, Trace
from refdesk.desk import Desk
from refdesk.errors import InputError, LLMError, PipelineError
from refdesk.evaluation.searching.finders import (
    WAYS,
    Unanswered,
    Way,
    finding,
    passed_over,
    pipeline_finder,
    search_finder,
)
from refdesk.pipeline import Kind, Pipeline, Repeat, Run, Step, When
from refdesk.steps import Answer, Assess, Cite, Decompose, Ground, Reason, Rerank, Review, Search
from refdesk.testing import HashingEmbedder
from refdesk.testing.llm import ScriptedLLM
from refdesk.tooluse import TerminatedBy

pytestmark = pytest.mark.anyio

TEXTS = {
    "leave": "Employees get 30 days of leave a year.",
    "hotel": "A hotel may cost 120 euros a night.",
    "train": "Trains are booked in second class.",
}
BOTH = "days of leave, and what may a hotel cost a night?"
PARTS = '{"sub_questions": ["days of leave a year", "hotel euros a night"]}'
EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "multihop"


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with refdesk.aopen(tmp_path / "lib", embedder=HashingEmbedder()) as desk:
        for name, text in TEXTS.items():
            await desk.ingest_text(text, source_id=name, collection="rules")
        yield desk


async def test_every_way_searches_the_collection(desk: Desk) -> None:
    assert [way.name for way in WAYS] == ["keyword", "vector", "hybrid", "hybrid+rerank"]
    for way in WAYS:
        finder = search_finder(desk, way, collection="rules", top_k=2)
        found = await finder.find("days of leave")
        assert finder.name == way.name
        assert found.hits[0].source_id == "leave"
        assert len(found.hits) <= 2
        assert (found.usage.requests, found.failures) == (0, ())


async def test_a_reranked_search_is_another_with_another_reranker(tmp_path: Path) -> None:
    versions = set()
    for reranker in ("maxsim", "none"):
        async with refdesk.aopen(tmp_path / "lib", embedder=HashingEmbedder(), reranker=reranker) as desk:
            versions.add(search_finder(desk, Way("hybrid", rerank=True), collection="rules").version)
    assert len(versions) == 2


async def test_a_pipeline_is_measured_by_its_hits(desk: Desk) -> None:
    llm = ScriptedLLM([PARTS])
    pipeline = Pipeline((Decompose(), Search(top_k=1), Answer(), Cite()), name="parts")
    finder = pipeline_finder(desk, pipeline, collection="rules", llm=llm)
    found = await finder.find(BOTH)
    assert finder.name == "parts"
    assert sorted(hit.source_id for hit in found.hits) == ["hotel", "leave"]
    assert len(llm.asked) == found.usage.requests == 1, "The answer is left out."
    assert found.failures == ()


async def test_a_step_that_was_passed_over_is_told(desk: Desk) -> None:
    llm = ScriptedLLM([LLMError("It is away.")])
    finder = pipeline_finder(desk, Decompose() | Search(top_k=1) | Answer(), collection="rules", llm=llm)
    found = await finder.find("days of leave")
    assert [hit.source_id for hit in found.hits] == ["leave"]
    assert found.failures == ("decompose",)


async def test_a_part_of_a_step_that_failed_is_told(desk: Desk) -> None:
    class Down(HashingEmbedder):
        async def embed_queries(self, texts: Any) -> Any:
            raise LLMError("It is away.")

    desk.services.built["embedder"] = Down()
    pipeline = Search(top_k=1, on_arm_error="continue") | Answer()
    found = await pipeline_finder(desk, pipeline, collection="rules").find("days of leave")
    assert [hit.source_id for hit in found.hits] == ["leave"]
    assert found.failures == ("search.vector",)


async def test_a_round_that_failed_is_told(desk: Desk) -> None:
    more = '{"sufficient": false, "follow_up_query": "hotel euros"}'
    llm = ScriptedLLM([more, LLMError("It is away.")])
    finder = pipeline_finder(desk, Search(top_k=1) | Reason() | Answer(), collection="rules", llm=llm)
    found = await finder.find("days of leave")
    assert sorted(hit.source_id for hit in found.hits) == ["hotel", "leave"]
    assert found.failures == ("reason/round-2",)


async def test_an_error_of_the_run_is_raised(desk: Desk) -> None:
    llm = ScriptedLLM([LLMError("It is away.")])
    pipeline = Decompose(on_error="stop") | Search() | Answer()
    finder = pipeline_finder(desk, pipeline, collection="rules", llm=llm)
    with pytest.raises(LLMError, match="away"):
        await finder.find("days of leave")


async def test_what_keeps_a_pipeline_from_running_is_told_at_once(desk: Desk) -> None:
    with pytest.raises(PipelineError, match="needs a language model") as raised:
        pipeline_finder(desk, Decompose() | Search() | Answer(), collection="rules")
    assert len(raised.value.problems) == 1
    with pytest.raises(PipelineError, match="No step answers"):
        pipeline_finder(desk, Pipeline((Search(),)), collection="rules")
    with pytest.raises(InputError, match="finds nothing"):
        pipeline_finder(desk, Pipeline((Answer(answerer=lambda question, hits: "Yes."),)), collection="rules")


async def test_no_model_is_needed_for_what_is_not_run(desk: Desk) -> None:
    pipeline = Search(top_k=1) | Answer() | Review()
    assert pipeline_finder(desk, pipeline, collection="rules").name == "pipeline"


async def test_versions_tell_pipelines_and_models_apart(desk: Desk) -> None:
    def version(top_k: int, llm: ScriptedLLM | None = None) -> str:
        return pipeline_finder(desk, Search(top_k=top_k) | Answer(), collection="rules", llm=llm).version

    assert version(3) == version(3)
    assert version(3, ScriptedLLM(["x"])) == version(3, ScriptedLLM(["y"]))
    assert len({version(3), version(4), version(3, ScriptedLLM([""])), version(3, ScriptedLLM([], "b"))}) == 4


@dataclass(frozen=True, kw_only=True)
class Investigate(Step):
    """Searches and answers at once, as a loop does."""

    kind: ClassVar[Kind] = "answer_generator"
    writes: ClassVar[frozenset[str]] = frozenset({"results", "answer"})

    async def __call__(self, context: Context, run: Run) -> Context:
        return context


@pytest.mark.parametrize(
    ("steps", "kept"),
    [
        ((Search(), Answer(), Cite()), (Search(), Unanswered())),
        ((Search(), Rerank(), Assess(), Answer()), (Search(), Rerank(), Unanswered())),
        ((Investigate(), Cite(), Ground()), (Investigate(),)),
        (
            (When(condition="zone=ok", steps=(Search(),)), Answer()),
            (When(condition="zone=ok", steps=(Search(),)), Unanswered()),
        ),
        (
            (Repeat(steps=(Search(), Answer()), until="zone=ok"), Cite()),
            (Repeat(steps=(Search(), Answer()), until="zone=ok"),),
        ),
        (
            (Search(), When(condition="zone=ok", steps=(Assess(),)), Answer()),
            (Search(), Unanswered()),
        ),
    ],
)
def test_a_pipeline_is_run_up_to_what_it_finds(steps: tuple[Step, ...], kept: tuple[Step, ...]) -> None:
    assert finding(Pipeline(steps, name="mine")) == Pipeline(kept)
    assert finding(Pipeline(steps, name="mine")).name == "mine"


@pytest.mark.parametrize("name", presets())
def test_every_preset_can_be_measured(name: str) -> None:
    assert finding(load_pipeline(name)).problems() == ()


@pytest.mark.parametrize(
    ("ended", "failures"), [(None, ()), ("answered", ()), ("gave_up", ()), ("error", ("loop",))]
)
def test_a_loop_that_ended_by_an_error_is_told(ended: TerminatedBy | None, failures: tuple[str, ...]) -> None:
    told = Trace(path=("loop", "turn-1", "search"), kind="tool", outcome="stopped", started=0, seconds=0)
    assert passed_over(Context(question="?", terminated_by=ended, trace=(told,))) == failures


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.yaml")), ids=lambda file: file.stem)
async def test_every_example_can_be_measured(desk: Desk, file: Path) -> None:
    finder = pipeline_finder(desk, load_pipeline(file), collection="rules", llm=ScriptedLLM(["{}"]))
    assert finder.name == file.stem


def test_examples_are_there() -> None:
    assert {file.stem for file in EXAMPLES.glob("*.yaml")} == {"decompose", "reason", "investigate"}
