"""`assess`: zones, and that none is ever pretended."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import anyio
import pytest

from refdesk.context import Context
from refdesk.documents import Hit
from refdesk.errors import LimitReached, StepError
from refdesk.pipeline import Pipeline, Run, Services
from refdesk.results import Results
from refdesk.steps import Answer, Assess, Search
from refdesk.testing.rerankers import sample_hits

pytestmark = pytest.mark.anyio

NOWHERE = cast(Services, None)
"""The step asks for no services."""


def scored(*scores: float | None) -> Context:
    hits = sample_hits([f"text {place}" for place in range(len(scores))])
    found = tuple(replace(hit, rerank_score=score) for hit, score in zip(hits, scores, strict=True))
    return Context(question="How long?", results=(Results(question="How long?", hits=found),))


async def zone(step: Assess, *scores: float | None) -> str:
    return (await Run(services=NOWHERE).step(step, scored(*scores))).zone


async def test_the_best_score_decides_wherever_it_stands() -> None:
    assert await zone(Assess(), 0.1, 0.5, 0.2) == "ok"
    assert await zone(Assess(), None, 0.3, None) == "weak"
    assert await zone(Assess(), 0.0, 0.19) == "none"
    assert await zone(Assess(), 1.0 + 1e-7) == "ok"


@pytest.mark.parametrize(("score", "expected"), [(-4.1, "none"), (-4.0, "weak"), (-0.1, "weak"), (0.0, "ok")])
async def test_limits_of_ones_own_are_on_the_rerankers_scale(score: float, expected: str) -> None:
    assert await zone(Assess(abstain_below=-4.0, weak_below=0.0), score, -9.0) == expected
    assert await zone(Assess(abstain_below=3, weak_below=7), 10.0) == "ok"


@pytest.mark.parametrize("scores", [(7.0, 1.0), (0.4, -3.0), (-0.1,)])
async def test_the_default_limits_are_not_held_against_another_scale(scores: tuple[float, ...]) -> None:
    context = await Run(services=NOWHERE).step(Assess(), scored(*scores))
    assert context.zone == "unknown"
    assert "Set `abstain_below` and `weak_below`" in context.warnings[0]


async def test_without_scores_it_is_unknown_even_where_it_was_known() -> None:
    context = await Run(services=NOWHERE).step(Assess(), scored(None, None).evolve(zone="ok"))
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
    assert (await Run(services=NOWHERE).step(step, Context(question="?"))).zone == "none"
    assert asked == []


@pytest.mark.parametrize("given", ["none", "weak", "ok", "unknown"])
async def test_an_assessor_decides_from_question_and_hits(given: Any) -> None:
    seen: list[tuple[str, int]] = []

    async def own(question: str, hits: Sequence[Hit]) -> str:
        seen.append((question, len(hits)))
        return str(given)

    context = await Run(services=NOWHERE).step(
        Assess(assessor=own), scored(None, 0.9).evolve(rewritten_query="duration")
    )
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
    context = await Run(services=NOWHERE).step(Assess(assessor=assessor, timeout=0.05), scored(0.9))
    assert (context.zone, context.trace[-1].outcome) == ("unknown", "continued")
    assert context.warnings
    stopped = await Run(services=NOWHERE).step(
        Assess(assessor=assessor, timeout=0.05, on_error="stop"), scored(0.9)
    )
    assert isinstance(stopped.error, StepError | LimitReached)


async def test_skipped_retrieval_is_not_assessed() -> None:
    context = await Run(services=NOWHERE).step(Assess(), Context(question="?", skip_retrieval=True))
    assert (context.zone, context.trace[-1].outcome) == ("unknown", "skipped")


@pytest.mark.parametrize("limit", [float("nan"), "high"])
async def test_limits_are_numbers(limit: Any) -> None:
    assert Pipeline((Search(), Assess(weak_below=limit), Answer())).problems()
