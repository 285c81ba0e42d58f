"""`rerank`: order, scores, thresholds, and what is never dropped."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

import refdesk
from refdesk.context import Context
from refdesk.documents import Hit
from refdesk.errors import LLMError
from refdesk.pipeline import Pipeline
from refdesk.steps import Answer, Rerank, Search
from refdesk.testing.llm import ScriptedLLM

pytestmark = pytest.mark.anyio


async def found(desk: refdesk.Desk, count: int = 4) -> Context:
    def many(query: str, collection: str) -> list[dict[str, Any]]:
        return [{"id": f"h{n}", "text": f"passage {n}"} for n in range(count)]

    return await desk.step(Search(searcher=many), await desk.start("Which?"))


def ids(context: Context) -> list[str]:
    return [hit.chunk.chunk_id for hit in context.hits]


def scores(**given: Any) -> ScriptedLLM:
    return ScriptedLLM([json.dumps({"scores": {name[1:]: score for name, score in given.items()}})])


async def test_the_settings_reranker_orders_real_hits(desk: refdesk.Desk) -> None:
    context = await desk.step(Search(), await desk.start("When does the kitchen close?"))
    context = await desk.step(Rerank(), context)
    assert context.hits[0].source_id == "kitchen"
    assert set(context.rerank_scores) == {hit.chunk.chunk_id for hit in context.hits}
    assert context.rerank_scores[context.hits[0].chunk.chunk_id] == context.hits[0].rerank_score
    assert [hit.rank for hit in context.hits] == [1, 2, 3]
    assert len(context.results) == 1


async def test_it_reorders_and_drops_nothing_by_default(desk: refdesk.Desk) -> None:
    context = await desk.step(Rerank(reranker="llm"), await found(desk), llm=scores(_1=0, _2=9, _3=3, _4=1))
    assert ids(context) == ["h1", "h2", "h3", "h0"]
    assert context.rerank_scores == {"h0": 0, "h1": 9, "h2": 3, "h3": 1}


async def test_a_threshold_filters_only_when_given_and_never_to_nothing(desk: refdesk.Desk) -> None:
    low = scores(_1=1, _2=6, _3=2, _4=0)
    context = await desk.step(Rerank(reranker="llm", threshold=7), await found(desk), llm=low)
    assert ids(context) == ["h1"]
    low = scores(_1=1, _2=6, _3=2, _4=0)
    step = Rerank(reranker="llm", threshold=7, keep_at_least=3)
    assert ids(await desk.step(step, await found(desk), llm=low)) == ["h1", "h2", "h0"]
    low = scores(_1=1, _2=6, _3=2, _4=0)
    step = Rerank(reranker="llm", threshold=7, keep_at_least=0)
    assert ids(await desk.step(step, await found(desk), llm=low)) == []


async def test_keep_and_depth(desk: refdesk.Desk) -> None:
    step = Rerank(reranker="llm", depth=2)
    assert ids(await desk.step(step, await found(desk), llm=scores(_1=1, _2=5))) == ["h1", "h0", "h2", "h3"]
    step = Rerank(reranker="llm", depth=2, keep=3)
    assert ids(await desk.step(step, await found(desk), llm=scores(_1=1, _2=5))) == ["h1", "h0", "h2"]


async def test_a_forgotten_hit_stays_behind_with_a_warning(desk: refdesk.Desk) -> None:
    context = await desk.step(Rerank(reranker="llm"), await found(desk), llm=scores(_2=5, _4=8))
    assert ids(context) == ["h3", "h1", "h0", "h2"]
    assert "gave no score to 2 of 4 hits" in context.warnings[0]
    assert "h0" not in context.rerank_scores


@pytest.mark.parametrize(
    "reply", ["no scores", '{"scores": {"9": 3}}', '{"scores": {}}', '{"scores": {"1": "high"}}', "{}"]
)
async def test_nonsense_leaves_the_order_of_retrieval(desk: refdesk.Desk, reply: str) -> None:
    before = await found(desk)
    context = await desk.step(Rerank(reranker="llm"), before, llm=ScriptedLLM([reply]))
    assert context.hits == before.hits
    assert context.rerank_scores == {}
    assert context.trace[-1].outcome == "continued"
    assert context.warnings


async def test_scores_come_in_fences_and_are_brought_into_range(desk: refdesk.Desk) -> None:
    reply = "Here:\n```json\n{'scores': {'1': 70, '2': -3, '3': 5.5, '4': 4,}}\n```"
    context = await desk.step(Rerank(reranker="llm"), await found(desk), llm=ScriptedLLM([reply]))
    assert context.rerank_scores == {"h0": 10, "h1": 0, "h2": 5.5, "h3": 4}


def backwards(question: str, hits: Sequence[Hit]) -> Sequence[Hit]:
    return list(reversed(hits))


def paired(question: str, hits: Sequence[Hit]) -> list[tuple[Hit, float]]:
    return [(hit, float(place)) for place, hit in enumerate(hits)]


async def aligned(question: str, hits: Sequence[Hit]) -> list[float]:
    return [float(place) for place, _ in enumerate(hits)]


@pytest.mark.parametrize("reranker", [backwards, paired, aligned])
async def test_every_form_of_a_rerankers_result(desk: refdesk.Desk, reranker: Any) -> None:
    context = await desk.step(Rerank(reranker=reranker), await found(desk))
    assert ids(context) == ["h3", "h2", "h1", "h0"]
    assert bool(context.rerank_scores) is (reranker is not backwards)


@pytest.mark.parametrize("nonsense", [None, "text", [1.0], [True] * 4, [float("nan")] * 4, 5])
async def test_nonsense_of_ones_own(desk: refdesk.Desk, nonsense: Any) -> None:
    before = await found(desk)
    context = await desk.step(Rerank(reranker=lambda question, hits: nonsense), before)
    assert context.hits == before.hits
    assert context.trace[-1].outcome == "continued"


async def test_a_model_that_is_down_and_one_that_does_not_exist(desk: refdesk.Desk) -> None:
    before = await found(desk)
    context = await desk.step(Rerank(reranker="llm"), before, llm=ScriptedLLM([LLMError("down")]))
    assert context.warnings == ("rerank: down",)
    real = await desk.step(Search(), await desk.start("leave"))
    context = await desk.step(Rerank(reranker="maxsimm"), real)
    assert "'maxsimm'" in context.warnings[0]
    assert context.hits == real.hits


async def test_no_reranker_passes(desk: refdesk.Desk) -> None:
    before = await desk.step(Search(), await desk.start("leave"))
    context = await desk.step(Rerank(reranker="none"), before)
    assert context.hits == before.hits
    assert context.rerank_scores == {}


async def test_a_prompt_of_ones_own(desk: refdesk.Desk) -> None:
    llm = scores(_1=1, _2=2, _3=3, _4=4)
    step = Rerank(reranker="llm", prompt=lambda question, hits: f"Score {len(hits)} for {question}")
    await desk.step(step, await found(desk), llm=llm)
    assert [message.text for message in llm.asked[0]] == ["Score 4 for Which?"]


def test_options_of_the_model_belong_to_the_model() -> None:
    [problem] = Pipeline((Search(), Rerank(llm="openai:x"), Answer())).problems()
    assert "`reranker: llm`" in problem.reason
    [problem] = Pipeline((Search(), Rerank(reranker="llm"), Answer())).problems(llm=False)
    assert "needs a language model" in problem.reason


async def test_skipped_and_empty_pass(desk: refdesk.Desk) -> None:
    context = await desk.start("?")
    assert (await desk.step(Rerank(), context)).trace[-1].measures == {"reason": "there are no hits"}
    skipped = await desk.step(Rerank(), context.evolve(skip_retrieval=True))
    assert skipped.trace[-1].measures == {"reason": "retrieval is skipped"}
