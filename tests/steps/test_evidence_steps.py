"""`dedupe`, `widen`, `distill` and `assess`: what they make of hits."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import refdesk
from refdesk.context import Context
from refdesk.errors import LLMError
from refdesk.pipeline import Pipeline, Step
from refdesk.steps import Answer, Assess, Dedupe, Distill, Rerank, Search, Widen
from refdesk.testing import HashingEmbedder
from refdesk.testing.llm import ScriptedLLM

pytestmark = pytest.mark.anyio


async def found(desk: refdesk.Desk, hits: list[dict[str, Any]]) -> Context:
    return await desk.step(Search(searcher=lambda q, c: hits), await desk.start("Which?"))


def ids(context: Context) -> list[str]:
    return [hit.chunk.chunk_id for hit in context.hits]


HITS: list[dict[str, Any]] = [
    {"id": "a1", "document_id": "a", "text": "a one", "metadata": {"topic": 1}},
    {"id": "a2", "document_id": "a", "text": "a two", "metadata": {"topic": 2}},
    {"id": "b1", "document_id": "b", "text": "b one", "metadata": {"topic": 1}},
    {"id": "c1", "document_id": "c", "text": "c one"},
    {"id": "d1", "document_id": "d", "text": "d one"},
]


@pytest.mark.parametrize(
    ("step", "kept"),
    [
        (Dedupe(), ["a1", "b1", "c1", "d1"]),
        (Dedupe(keep=2), ["a1", "b1"]),
        (Dedupe(by="topic"), ["a1", "a2", "c1", "d1"]),
        (Dedupe(by="nothing"), ["a1", "a2", "b1", "c1", "d1"]),
        (Dedupe(per_value=2), ["a1", "a2", "b1", "c1", "d1"]),
    ],
)
async def test_dedupe_keeps_the_best_of_each(desk: refdesk.Desk, step: Dedupe, kept: list[str]) -> None:
    context = await desk.step(step, await found(desk, HITS))
    assert ids(context) == kept
    assert [hit.rank for hit in context.hits] == list(range(1, len(kept) + 1))
    assert context.trace[-1].measures["dropped"] == 5 - len(kept)


async def long_library(desk: refdesk.Desk) -> str:
    text = "\n\n".join(f"Paragraph {n} speaks of subject{n} and of nothing else at all." for n in range(30))
    await desk.ingest_text(text, source_id="long", collection="long")
    return text


async def test_widen_reaches_over_neighbours_without_overlap(tmp_path: Path) -> None:
    async with refdesk.aopen(tmp_path / "lib", embedder=HashingEmbedder(), chunk_tokens=32) as desk:
        text = await long_library(desk)
        context = await desk.step(Search(top_k=3), await desk.start("subject7 subject8", collections="long"))
        wide = await desk.step(Widen(before=1, behind=2), context)
        assert wide.error is None
        assert wide.warnings == ()
        for hit in wide.hits:
            assert text[hit.chunk.start : hit.chunk.end] == hit.chunk.text
        places = sorted((hit.chunk.start, hit.chunk.end) for hit in wide.hits)
        assert all(end < start for (_, end), (start, _) in pairwise(places))
        assert sum(len(hit.chunk.text) for hit in wide.hits) > sum(len(h.chunk.text) for h in context.hits)
        assert wide.hits[0].source_id == "long"
        answered = await desk.step(Answer(), wide)
        assert answered.answer is not None
        for citation in answered.answer.citations:
            assert text[citation.start : citation.end] == citation.quote


async def test_widen_leaves_hits_from_elsewhere(desk: refdesk.Desk) -> None:
    before = await found(desk, HITS)
    context = await desk.step(Widen(), before)
    assert ids(context) == ids(before)
    assert "5 of 5 hits are in no collection" in context.warnings[0]


async def test_distilled_notes_are_shown_and_cited(desk: refdesk.Desk) -> None:
    context = await desk.step(Search(), await desk.start("How many days of leave?"))
    llm = ScriptedLLM(["<think>hm</think>Leave is 30 days [[1]].", "It is 30 days [[1]]."])
    context = await desk.step(Distill(evidence=2), context, llm=llm)
    assert context.distilled == "Leave is 30 days [[1]]."
    assert len(context.evidence) == len(context.hits) == 2
    context = await desk.step(Answer(), context, llm=llm)
    assert "Leave is 30 days [[1]]." in llm.asked[1][-1].text
    assert "expires in March" not in llm.asked[1][-1].text
    assert context.answer is not None
    assert context.answer.citations[0].source_id == "leave"


async def test_a_later_search_drops_the_notes(desk: refdesk.Desk) -> None:
    context = await desk.step(Search(), await desk.start("leave"))
    context = await desk.step(Distill(), context, llm=ScriptedLLM(["Notes [[1]]."]))
    context = await desk.step(Search(), context)
    assert (context.distilled, context.evidence) == ("", ())


@pytest.mark.parametrize("empty", ["", "  ", None, []])
async def test_empty_output_leaves_the_evidence(desk: refdesk.Desk, empty: Any) -> None:
    before = await found(desk, HITS)
    context = await desk.step(Distill(distiller=lambda question, hits: empty), before)
    assert context.hits == before.hits
    assert context.trace[-1].outcome == "done"


@pytest.mark.parametrize("notes", ["No markers at all.", "Wrong [[9]].", 5, [5]])
async def test_notes_that_cannot_be_cited_are_an_error(desk: refdesk.Desk, notes: Any) -> None:
    before = await found(desk, HITS)
    context = await desk.step(Distill(distiller=lambda question, hits: notes), before)
    assert context.hits == before.hits
    assert context.distilled == ""
    assert context.trace[-1].outcome == "continued"


async def test_a_distiller_may_choose_hits(desk: refdesk.Desk) -> None:
    context = await desk.step(Distill(distiller=lambda question, hits: hits[1::-1]), await found(desk, HITS))
    assert ids(context) == ["a2", "a1"]


async def scored(desk: refdesk.Desk, *scores: float) -> Context:
    before = await found(desk, HITS[: len(scores)])
    return await desk.step(Rerank(reranker=lambda question, hits: list(scores)), before)


@pytest.mark.parametrize(
    ("score", "zone"), [(0.1, "none"), (0.2, "weak"), (0.34, "weak"), (0.35, "ok"), (1.0, "ok")]
)
async def test_zones_by_the_best_score(desk: refdesk.Desk, score: float, zone: str) -> None:
    step = Assess(abstain_below=0.2, weak_below=0.35)
    assert (await desk.step(step, await scored(desk, 0.05, score))).zone == zone


async def test_without_scores_the_zone_is_unknown_with_a_warning(desk: refdesk.Desk) -> None:
    context = await desk.step(Assess(), await found(desk, HITS))
    assert context.zone == "unknown"
    assert "no reranker score" in context.warnings[0]


async def test_without_hits_there_is_no_evidence(desk: refdesk.Desk) -> None:
    assert (await desk.step(Assess(), await desk.start("?"))).zone == "none"


@pytest.mark.parametrize(
    ("returned", "zone", "outcome"), [("weak", "weak", "done"), ("good", "unknown", "continued")]
)
async def test_an_assessor_of_ones_own(desk: refdesk.Desk, returned: Any, zone: str, outcome: str) -> None:
    context = await desk.step(Assess(assessor=lambda question, hits: returned), await found(desk, HITS))
    assert (context.zone, context.trace[-1].outcome) == (zone, outcome)


def test_limits_in_the_wrong_order() -> None:
    steps: tuple[Step, ...] = (Search(), Assess(abstain_below=0.5, weak_below=0.3), Answer())
    [problem] = Pipeline(steps).problems()
    assert "above `weak_below`" in problem.reason


@pytest.mark.parametrize("step", [Distill(), Distill(on_error="stop")])
async def test_a_failing_model(desk: refdesk.Desk, step: Distill) -> None:
    context = await desk.step(step, await found(desk, HITS), llm=ScriptedLLM([LLMError("down")]))
    assert (context.error is None) is (step.on_error == "continue")
