"""`assess`: zones, and that none is ever pretended."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import anyio
import pytest

from refdesk.context import Context
from refdesk.documents import Hit
from refdesk.errors import LimitReached, SettingsError, StepError
from refdesk.pipeline import Pipeline, Run
from refdesk.reranking.thresholds import Thresholds
from refdesk.results import Results
from refdesk.steps import Answer, Assess, Search
from refdesk.testing.rerankers import sample_hits
from refdesk.testing.steps import NoLibrary

pytestmark = pytest.mark.anyio

LIMITS = Thresholds(abstain_below=0.2, weak_below=0.35)


class Measured(NoLibrary):
    """Services that know the limits of one reranker."""

    async def thresholds(self, reranker: str) -> Thresholds | None:
        return LIMITS if reranker == "mine" else None


class Broken(NoLibrary):
    async def thresholds(self, reranker: str) -> Thresholds | None:
        raise SettingsError("The calibration is broken.")


def scored(*scores: float | None, reranker: str = "mine") -> Context:
    hits = sample_hits([f"text {place}" for place in range(len(scores))])
    found = tuple(replace(hit, rerank_score=score) for hit, score in zip(hits, scores, strict=True))
    results = (Results(question="How long?", hits=found),)
    return Context(question="How long?", results=results, reranker=reranker)


async def assessed(step: Assess, context: Context) -> Context:
    return await Run(services=Measured()).step(step, context)


async def zone(step: Assess, *scores: float | None, reranker: str = "mine") -> str:
    return (await assessed(step, scored(*scores, reranker=reranker))).zone


async def test_the_best_score_decides_wherever_it_stands() -> None:
    assert await zone(Assess(), 0.1, 0.5, 0.2) == "ok"
    assert await zone(Assess(), None, 0.3, None) == "weak"
    assert await zone(Assess(), 0.0, 0.19) == "none"


@pytest.mark.parametrize(
    ("score", "expected"), [(0.19, "none"), (0.2, "weak"), (0.34, "weak"), (0.35, "ok"), (9.0, "ok")]
)
async def test_the_limits_are_those_of_the_reranker(score: float, expected: str) -> None:
    context = await assessed(Assess(), scored(score))
    assert (context.zone, context.warnings) == (expected, ())
    assert context.trace[-1].measures["reranker"] == "mine"


@pytest.mark.parametrize(("score", "expected"), [(-4.1, "none"), (-4.0, "weak"), (-0.1, "weak"), (0.0, "ok")])
async def test_limits_of_ones_own_are_on_the_rerankers_scale(score: float, expected: str) -> None:
    own = Assess(abstain_below=-4.0, weak_below=0.0)
    assert await zone(own, score, -9.0) == await zone(own, score, reranker="") == expected
    assert await zone(Assess(abstain_below=3, weak_below=7), 10.0) == "ok"


async def test_one_limit_of_ones_own_leaves_the_other() -> None:
    assert [await zone(Assess(abstain_below=0.3), score) for score in (0.29, 0.3, 0.4)] == [
        "none",
        "weak",
        "ok",
    ]
    assert [await zone(Assess(weak_below=0.5), score) for score in (0.19, 0.4, 0.5)] == ["none", "weak", "ok"]
    assert [await zone(Assess(abstain_below=0.6), score) for score in (0.59, 0.6)] == ["none", "ok"]
    assert [await zone(Assess(weak_below=0.1), score) for score in (0.09, 0.1)] == ["none", "ok"]


@pytest.mark.parametrize("step", [Assess(), Assess(abstain_below=0.1), Assess(weak_below=0.1)])
@pytest.mark.parametrize(
    ("reranker", "told"), [("theirs", "the reranker 'theirs'"), ("", "what scored the hits")]
)
async def test_an_unknown_reranker_is_never_ok(step: Assess, reranker: str, told: str) -> None:
    context = await assessed(step, scored(0.9, reranker=reranker))
    assert context.zone == "unknown"
    assert told in context.warnings[0]
    assert "`refdesk eval calibrate`" in context.warnings[0]


async def test_a_broken_calibration_ends_the_run() -> None:
    context = await Run(services=Broken()).step(Assess(), scored(0.9))
    assert isinstance(context.error, SettingsError)


async def test_without_scores_it_is_unknown_even_where_it_was_known() -> None:
    context = await assessed(Assess(), scored(None, None).evolve(zone="ok"))
    assert context.zone == "unknown"
    assert "no reranker score" in context.warnings[0]


async def test_an_infinite_limit_is_none() -> None:
    step = Assess(abstain_below=float("-inf"), weak_below=float("-inf"))
    assert await zone(step, -50.0) == "ok"


async def test_equal_limits_leave_nothing_weak() -> None:
    step = Assess(abstain_below=0.5, weak_below=0.5)
    assert [await zone(step, 0.49), await zone(step, 0.5)] == ["none", "ok"]


async def test_without_hits_nobody_is_asked() -> None:
    asked: list[str] = []

    def own(question: str, hits: Sequence[Hit]) -> str:
        asked.append(question)
        return "ok"

    step = Assess(assessor=own)
    assert (await assessed(step, Context(question="?"))).zone == "none"
    assert asked == []


@pytest.mark.parametrize("given", ["none", "weak", "ok", "unknown"])
async def test_an_assessor_decides_from_question_and_hits(given: Any) -> None:
    seen: list[tuple[str, int]] = []

    async def own(question: str, hits: Sequence[Hit]) -> str:
        seen.append((question, len(hits)))
        return str(given)

    context = await assessed(Assess(assessor=own), scored(None, 0.9).evolve(rewritten_query="duration"))
    assert (context.zone, seen) == (given, [("duration", 2)])
    assert context.warnings == ()


async def asleep(question: str, hits: Sequence[Hit]) -> str:
    await anyio.sleep_forever()
    return "ok"


def broken(question: str, hits: Sequence[Hit]) -> str:
    raise RuntimeError("broken")


@pytest.mark.parametrize(
    "assessor", [asleep, broken, *(lambda q, h, v=v: v for v in ("OK", None, True, 0.9, ("ok",), ["ok"], ""))]
)
async def test_an_assessor_that_fails_leaves_the_zone(assessor: Any) -> None:
    context = await assessed(Assess(assessor=assessor, timeout=0.05), scored(0.9))
    assert (context.zone, context.trace[-1].outcome) == ("unknown", "continued")
    assert context.warnings
    stopped = await assessed(Assess(assessor=assessor, timeout=0.05, on_error="stop"), scored(0.9))
    assert isinstance(stopped.error, StepError | LimitReached)


async def test_skipped_retrieval_is_not_assessed() -> None:
    context = await assessed(Assess(), Context(question="?", skip_retrieval=True))
    assert (context.zone, context.trace[-1].outcome) == ("unknown", "skipped")


@pytest.mark.parametrize("limit", [float("nan"), "high"])
async def test_limits_are_numbers(limit: Any) -> None:
    assert Pipeline((Search(), Assess(weak_below=limit), Answer())).problems()
