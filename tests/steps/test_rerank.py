"""`rerank`: order, scores, thresholds, and what is never dropped."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import pytest
from tests.steps.services import document, ran, services_on

import refdesk
from refdesk.context import Context
from refdesk.documents import Hit
from refdesk.errors import LimitReached, LLMError, PipelineError, SettingsError, StepError
from refdesk.pipeline import Pipeline
from refdesk.steps import Answer, Rerank, Search
from refdesk.testing.llm import ScriptedLLM
from refdesk.testing.rerankers import sample_hits

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
    with pytest.raises(PipelineError, match="Did you mean 'maxsim'"):
        await desk.step(Rerank(reranker="maxsimm"), real)
    stopped = await desk.step(Rerank(reranker="no-such-folder"), real)
    with pytest.raises(SettingsError, match="Unknown reranker 'no-such-folder'"):
        stopped.raise_for_error()


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


async def test_a_chunk_that_was_found_twice_is_read_once(desk: refdesk.Desk) -> None:
    read: list[int] = []

    def counting(question: str, hits: Sequence[Hit]) -> list[float]:
        read.append(len(hits))
        return [1.0] * len(hits)

    context = (await desk.start("?")).evolve(sub_questions=("leave", "leave days"))
    context = await desk.step(Search(), context)
    assert sum(len(one.hits) for one in context.results) == 6
    context = await desk.step(Rerank(reranker=counting), context)
    assert (read, len(context.hits)) == ([3], 3)


async def test_the_order_is_the_rerankers_not_that_of_its_scores(desk: refdesk.Desk) -> None:
    def own(question: str, hits: Sequence[Hit]) -> list[Hit]:
        return [replace(hit, rerank_score=place / 10) for place, hit in enumerate(hits)]

    context = await desk.step(Rerank(reranker=own), await found(desk))
    assert ids(context) == ["h0", "h1", "h2", "h3"]
    assert [hit.rerank_score for hit in context.hits] == [0.0, 0.1, 0.2, 0.3]
    kept = await desk.step(Rerank(reranker=own, threshold=0.15), await found(desk))
    assert ids(kept) == ["h2", "h3"]


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int64])
async def test_scores_may_be_an_array(desk: refdesk.Desk, kind: Any) -> None:
    step = Rerank(reranker=lambda question, hits: np.arange(len(hits)).astype(kind))
    context = await desk.step(step, await found(desk))
    assert ids(context) == ["h3", "h2", "h1", "h0"]
    assert all(type(score) is float for score in context.rerank_scores.values())


async def test_equal_scores_keep_the_order_of_retrieval(desk: refdesk.Desk) -> None:
    context = await desk.step(Rerank(reranker=lambda question, hits: [1, 2, 1, 2]), await found(desk))
    assert ids(context) == ["h1", "h3", "h0", "h2"]


@pytest.mark.parametrize(("least", "kept"), [(1, ["h0"]), (3, ["h0", "h1", "h2"]), (0, [])])
async def test_a_reranker_that_drops_everything(desk: refdesk.Desk, least: int, kept: list[str]) -> None:
    step = Rerank(reranker=lambda question, hits: [], keep_at_least=least)
    assert ids(await desk.step(step, await found(desk))) == kept


async def test_what_a_reranker_of_ones_own_leaves_out_is_dropped(desk: refdesk.Desk) -> None:
    step = Rerank(reranker=lambda question, hits: [(hits[2], 0.9), (hits[0], 0.95)])
    context = await desk.step(step, await found(desk))
    assert ids(context) == ["h0", "h2"]
    assert context.trace[-1].measures["dropped"] == 2


def foreign(question: str, hits: Sequence[Hit]) -> Any:
    return [*hits, *sample_hits(["from elsewhere"])]


def twice(question: str, hits: Sequence[Hit]) -> Any:
    return [*hits, hits[0]]


def changed(question: str, hits: Sequence[Hit]) -> Any:
    return [replace(hit, chunk=replace(hit.chunk, text="made up")) for hit in hits]


def not_a_number(question: str, hits: Sequence[Hit]) -> Any:
    return [replace(hit, rerank_score=float("inf")) for hit in hits]


def mixed(question: str, hits: Sequence[Hit]) -> Any:
    return [hits[0], (hits[1], 0.5), hits[2], hits[3]]


def words(question: str, hits: Sequence[Hit]) -> Any:
    return [(hit, "high") for hit in hits]


def by_name(question: str, hits: Sequence[Hit]) -> Any:
    return {hit.chunk.chunk_id: 1.0 for hit in hits}


def broken(question: str, hits: Sequence[Hit]) -> Any:
    raise RuntimeError("broken")


@pytest.mark.parametrize("reranker", [foreign, twice, changed, not_a_number, mixed, words, by_name, broken])
async def test_wrong_rerankers_leave_everything(desk: refdesk.Desk, reranker: Any) -> None:
    before = await found(desk)
    context = await desk.step(Rerank(reranker=reranker), before)
    assert (context.results, context.rerank_scores, context.zone) == (before.results, {}, "unknown")
    assert context.trace[-1].outcome == "continued"
    assert context.warnings
    stopped = await desk.step(Rerank(reranker=reranker, on_error="stop"), before)
    assert isinstance(stopped.error, StepError)


async def test_a_reranker_that_takes_too_long(desk: refdesk.Desk) -> None:
    async def sleeping(question: str, hits: Sequence[Hit]) -> list[float]:
        await anyio.sleep_forever()
        return []

    before = await found(desk)
    context = await desk.step(Rerank(reranker=sleeping, timeout=0.01), before)
    assert context.results == before.results
    assert "took longer" in context.warnings[0]
    stopped = await desk.step(Rerank(reranker=sleeping, timeout=0.01, on_error="stop"), before)
    assert isinstance(stopped.error, LimitReached)


async def test_scores_of_an_earlier_reranker_go(desk: refdesk.Desk) -> None:
    first = await desk.step(Rerank(reranker=lambda question, hits: [0.9, 0.8, 0.7, 0.6]), await found(desk))
    context = await desk.step(Rerank(reranker="llm", depth=2), first, llm=scores(_1=3, _2=7))
    assert [hit.rerank_score for hit in context.hits] == [7, 3, None, None]
    assert context.rerank_scores == {"h1": 7, "h0": 3}
    bare = await desk.step(Rerank(reranker=backwards), first)
    assert [hit.rerank_score for hit in bare.hits] == [None] * 4


async def test_a_threshold_without_scores_drops_nothing_and_says_so(desk: refdesk.Desk) -> None:
    step = Rerank(reranker=backwards, threshold=0.5, depth=3)
    context = await desk.step(step, await found(desk))
    assert ids(context) == ["h2", "h1", "h0", "h3"]
    assert "gave no scores" in context.warnings[0]


async def test_a_threshold_drops_what_was_not_read(desk: refdesk.Desk) -> None:
    step = Rerank(reranker="llm", depth=2, threshold=5)
    assert ids(await desk.step(step, await found(desk), llm=scores(_1=9, _2=6))) == ["h0", "h1"]
    step = Rerank(reranker="llm", depth=2, threshold=7, keep_at_least=3)
    assert ids(await desk.step(step, await found(desk), llm=scores(_1=2, _2=6))) == ["h1", "h0", "h2"]


async def test_keep_never_goes_below_keep_at_least(desk: refdesk.Desk) -> None:
    step = Rerank(reranker=backwards, keep=1, keep_at_least=2)
    assert ids(await desk.step(step, await found(desk))) == ["h3", "h2"]


async def test_a_bare_object_of_scores_and_a_list_will_do(desk: refdesk.Desk) -> None:
    for reply in ('{"1": 1, "2": 9, "3": 3, "4": 2}', "[1, 9, 3, 2]"):
        context = await desk.step(Rerank(reranker="llm"), await found(desk), llm=ScriptedLLM([reply]))
        assert ids(context) == ["h1", "h2", "h3", "h0"]


async def test_what_does_not_fit_into_the_window_stays_behind_with_a_warning(tmp_path: Path) -> None:
    texts = [document(f"{name} " * 250, source_id=name) for name in ("alpha", "beta", "gamma")]
    settings = {"llm_window": 2048, "llm_output": 512}
    reply = '{"scores": {"1": 2, "2": 8}}'
    async with services_on(
        tmp_path / "library", *texts, llm=ScriptedLLM([reply]), settings=settings
    ) as services:
        steps = Search(mode="keyword") | Rerank(reranker="llm")
        context = await ran(services, steps, Context(question="alpha beta gamma"))
    assert [hit.rerank_score for hit in context.hits] == [8, 2, None]
    assert any("Evidence 3 was left out" in warning for warning in context.warnings)
    assert any("no score to 1 of 3" in warning for warning in context.warnings)


async def test_hits_from_elsewhere_are_reranked_too(desk: refdesk.Desk) -> None:
    def wiki(query: str, collection: str) -> list[dict[str, Any]]:
        return [{"id": "w1", "text": "Trains run."}, {"id": "w2", "text": "The canteen opens at noon."}]

    context = await desk.start("When does the canteen open?", collections=["wiki"])
    context = await desk.step(Search(searcher=wiki), context)
    context = await desk.step(Rerank(), context)
    assert context.warnings == ()
    assert ids(context)[0] == "w2"


async def test_it_reads_beside_the_question_as_it_was_rewritten(desk: refdesk.Desk) -> None:
    asked: list[str] = []

    def own(question: str, hits: Sequence[Hit]) -> list[Hit]:
        asked.append(question)
        return list(hits)

    await desk.step(Rerank(reranker=own), (await found(desk)).evolve(rewritten_query="which pump"))
    assert asked == ["which pump"]


def test_a_name_that_is_nearly_one_is_a_problem() -> None:
    [problem] = Pipeline((Search(), Rerank(reranker="maxsimm"), Answer())).problems()
    assert "Did you mean 'maxsim'" in problem.remedy
    for name in ("none", "maxsim", "tei:http://127.0.0.1:1", "cohere:rerank-v3.5", "/models/reranker"):
        assert not Pipeline((Search(), Rerank(reranker=name), Answer())).problems()


class Named:
    name = "careful"

    def rerank(self, question: str, hits: Sequence[Hit]) -> Sequence[Hit]:
        return [replace(hit, rerank_score=1.0) for hit in hits]


class Unnamed:
    def __init__(self, bonus: int = 0) -> None:
        self.bonus = bonus

    def rerank(self, question: str, hits: Sequence[Hit]) -> list[float]:
        return [float(self.bonus)] * len(hits)


def by_length(question: str, hits: Sequence[Hit]) -> list[int]:
    return [len(hit.chunk.text) for hit in hits]


@pytest.mark.parametrize(
    ("reranker", "name"),
    [
        (Named(), "careful"),
        (Named, "careful"),
        (Unnamed(), "Unnamed"),
        ((Unnamed, {"bonus": 2}), "Unnamed(bonus=2)"),
        (by_length, "by_length"),
        ("llm", "llm(scripted)"),
    ],
)
async def test_what_scored_is_named(desk: refdesk.Desk, reranker: Any, name: str) -> None:
    context = await desk.step(
        Rerank(reranker=reranker), await found(desk), llm=scores(_1=1, _2=2, _3=3, _4=4)
    )
    assert context.error is None
    assert context.reranker == name


async def test_the_name_has_the_fingerprint_of_the_weights(desk: refdesk.Desk) -> None:
    context = await desk.step(Rerank(), await desk.step(Search(), await desk.start("kitchen")))
    assert context.reranker == f"maxsim({(await desk.services.embedder()).fingerprint})"


async def test_a_reranker_that_fails_leaves_the_name_of_what_scored(desk: refdesk.Desk) -> None:
    def failing(question: str, hits: Sequence[Hit]) -> Any:
        raise RuntimeError("down")

    before = await desk.step(Rerank(reranker=Named()), await found(desk))
    context = await desk.step(Rerank(reranker=failing), before)
    assert (context.reranker, context.rerank_scores) == ("careful", before.rerank_scores)
    assert (await desk.step(Rerank(reranker=failing), await found(desk))).reranker == ""


class Lengths:
    """Scores hits by how long the text is that it was given."""

    name = "lengths"

    def __init__(self) -> None:
        self.given: list[Hit] = []

    def rerank(self, question: str, hits: Sequence[Hit]) -> list[float]:
        self.given = list(hits)
        return [float(len(hit.chunk.text)) for hit in hits]


async def passages(desk: refdesk.Desk, *texts: str) -> Context:
    def search(query: str, collection: str) -> list[dict[str, Any]]:
        return [{"id": f"h{n}", "text": text} for n, text in enumerate(texts)]

    return await desk.step(Search(searcher=search), await desk.start("Which?"))


async def test_an_excerpt_is_read_and_whole_hits_come_back(desk: refdesk.Desk) -> None:
    texts = ("short", "word " * 30, "x" * 99, "A sentence of some words, and more of it.")
    given, lengths = await passages(desk, *texts), Lengths()
    context = await desk.step(Rerank(reranker=lengths, excerpt=24), given)
    assert [hit.chunk.text for hit in lengths.given] == [
        "short",
        "word word word word word",
        "x" * 24,
        "A sentence of some words",
    ]
    for hit in lengths.given:
        assert hit.chunk.end - hit.chunk.start == len(hit.chunk.text)
    assert {hit.chunk for hit in context.hits} == {hit.chunk for hit in given.hits}
    assert ids(context) == ["h1", "h2", "h3", "h0"]
    assert context.reranker == "lengths, 24 characters"
    assert set(context.rerank_scores) == {"h0", "h1", "h2", "h3"}


async def test_an_excerpt_is_not_taken_for_the_whole_by_what_knows_ids(desk: refdesk.Desk) -> None:
    lengths = Lengths()
    await desk.step(Rerank(reranker=lengths, excerpt=20), await passages(desk, "short", "word " * 30))
    assert lengths.given[0].chunk.chunk_id == "h0"
    assert lengths.given[1].chunk.chunk_id not in ("h0", "h1")


async def test_limits_of_whole_hits_do_not_hold_for_excerpts(desk: refdesk.Desk) -> None:
    whole = await desk.step(Rerank(), await found_in(desk))
    short = await desk.step(Rerank(excerpt=20), await found_in(desk))
    assert short.reranker == f"{whole.reranker}, 20 characters"
    assert len(short.hits) == len(whole.hits)


async def found_in(desk: refdesk.Desk) -> Context:
    return await desk.step(Search(), await desk.start("When does the kitchen close?"))
