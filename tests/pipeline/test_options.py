"""Options that take code: implementations, prompts, conditions."""

from collections.abc import Awaitable
from functools import partial
from typing import Any

import pytest

from refdesk.context import Answer, Context, Turn, Verdict
from refdesk.errors import InputError
from refdesk.llm import Message
from refdesk.pipeline import Pipeline, When
from refdesk.pipeline.conditions import FACTS, holds
from refdesk.pipeline.prompts import messages_of
from refdesk.pipeline.workers import bind
from refdesk.steps import Answer as AnswerStep
from refdesk.steps import Rewrite

pytestmark = pytest.mark.anyio


class Shouting:
    def __init__(self, mark: str = "!") -> None:
        self.mark = mark

    def rewrite(self, question: str) -> str:
        return question.upper() + self.mark


class Slowly:
    async def rewrite(self, question: str) -> str:
        return question.upper() + "!"


class Callable_:
    async def __call__(self, question: str) -> str:
        return question.upper() + "!"


def sync(question: str, mark: str = "!") -> str:
    return question.upper() + mark


async def later(question: str) -> str:
    return question.upper() + "!"


def gives_awaitable(question: str) -> Awaitable[str]:
    return later(question)


@pytest.mark.parametrize(
    "worker",
    [
        Shouting(),
        Shouting,
        (Shouting, {"mark": "!"}),
        Slowly(),
        Slowly,
        Callable_(),
        sync,
        partial(sync, mark="!"),
        (sync, {"mark": "!"}),
        later,
        gives_awaitable,
        lambda question: question.upper() + "!",
    ],
)
async def test_every_form_of_an_implementation(worker: Any) -> None:
    assert await bind(worker, "rewrite", "rewrite")("hi") == "HI!"
    assert Pipeline((Rewrite(rewriter=worker), AnswerStep())).problems(llm=False) == ()


def test_what_is_no_implementation() -> None:
    with pytest.raises(InputError, match="cannot work with 5"):
        bind(5, "rewrite", "rewrite")


def test_prompts_are_functions_or_templates() -> None:
    assert messages_of(lambda question: f"Q {question}", question="a") == (Message("user", "Q a"),)
    assert messages_of("Q {question} {other}", question="{x}", other=("b", "c")) == (
        Message("user", "Q {x} b\nc"),
    )
    own = (Message("system", "s"), Message("user", "u"))
    assert messages_of(lambda question: own, question="a") == own
    with pytest.raises(InputError, match="returned None"):
        messages_of(lambda question: None, question="a")  # type: ignore[arg-type, return-value]


def test_a_placeholder_that_a_step_does_not_know() -> None:
    [problem] = Pipeline((Rewrite(prompt="{question} {evidence}"), AnswerStep())).problems()
    assert "has the placeholder {evidence}; allowed: question, hits" in problem.reason


ANSWERED = Context(question="two words").evolve(
    history=(Turn("user", "before"),),
    zone="weak",
    answer=Answer(question="?", text="x", refusal="review_rejected"),
    verdict=Verdict("reject"),
)


@pytest.mark.parametrize(
    ("condition", "held"),
    [
        ("question_words=2", True),
        ("history>1", False),
        ("zone=weak", True),
        ("zone!=weak", False),
        ("zone:ok,weak", True),
        ("skip_retrieval=true", False),
        ("answered=false", True),
        ("refusal=review_rejected", True),
        ("verdict=reject", True),
        ("grounding<0.5", False),
        ("grounding:*", False),
        (("zone=weak", "hits<3"), True),
        (("zone=weak", "hits>3"), False),
        (lambda context: context.zone == "weak", True),
    ],
)
def test_conditions(condition: Any, held: bool) -> None:
    assert holds(condition, ANSWERED) is held


@pytest.mark.parametrize("condition", ["hits<", "hits < three", "hits=>3", "zone=wek", "zone:ok,wek"])
def test_a_condition_that_can_never_hold_is_a_problem(condition: str) -> None:
    [problem] = Pipeline((When(condition=condition, steps=(AnswerStep(),)),)).problems()
    assert "can never hold" in problem.reason
    assert "Allowed: " in problem.reason


def test_a_model_string_that_cannot_be_read_is_a_problem() -> None:
    [problem] = Pipeline((Rewrite(llm="nosuch"), AnswerStep())).problems()
    assert "The model string 'nosuch' cannot be read" in problem.reason


@pytest.mark.parametrize("condition", ["hitz<3", "", [], 5, ["hits<3", 5], "hits"])
def test_wrong_conditions_are_problems(condition: Any) -> None:
    problems = Pipeline((When(condition=condition, steps=(AnswerStep(),)),)).problems()
    assert "Its option 'condition'" in problems[0].reason


def test_every_fact_has_a_name_that_can_be_asked() -> None:
    assert {name for name in FACTS if holds(f"{name}:*", ANSWERED)} >= {"zone", "hits", "verdict", "refusal"}


def test_a_condition_is_no_async_function() -> None:
    async def later(context: Context) -> bool:
        return False

    condition: Any = later
    problems = Pipeline((When(condition=condition, steps=(AnswerStep(),)),)).problems()
    assert "an async function" in problems[0].reason
