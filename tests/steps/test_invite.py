"""`invite`: what is said below an answer."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import pytest
from tests.steps.answers import hit

from refdesk.citations.build import cite
from refdesk.citations.sentences import Span
from refdesk.context import Answer, Context
from refdesk.evidence import number_hits
from refdesk.pipeline import Pipeline, Run, Services
from refdesk.steps import Answer as AnswerStep
from refdesk.steps import Invite, Search

pytestmark = pytest.mark.anyio

NOWHERE = cast(Services, None)


def answered(*metadata: Mapping[str, Any], cited: tuple[int, ...] = (), **changes: Any) -> Context:
    """Return a context with an answer from sources with some metadata, of which some are cited."""
    hits = [replace(hit(f"text {n}", f"h{n}"), metadata=one) for n, one in enumerate(metadata, 1)]
    citations = tuple(cite(n, hits[n - 1], Span(0, 4)) for n in cited)
    answer = Answer(question="?", text="Yes.", citations=citations, evidence=number_hits(hits), **changes)
    return Context(question="?", answer=answer)


async def invited(step: Invite, context: Context) -> str:
    new = await Run(services=NOWHERE).step(step, context)
    assert new.error is None
    assert new.warnings == ()
    assert new.answer is not None
    assert new.answer.text == "Yes."
    return new.answer.invitation


@pytest.mark.parametrize(
    ("changes", "step", "said"),
    [
        ({}, Invite(text="a"), "a"),
        ({"zone": "weak"}, Invite(text="a"), "a"),
        ({"zone": "weak"}, Invite(text="a", weak="b"), "b"),
        ({"zone": "weak"}, Invite(text="a", weak=""), ""),
        ({"zone": "ok"}, Invite(text="a", weak="b"), "a"),
        ({"refusal": "nothing_found"}, Invite(text="a"), "a"),
        ({"refusal": "abstained"}, Invite(text="a", refused="c"), "c"),
        ({"refusal": "abstained", "zone": "weak"}, Invite(text="a", weak="b", refused="c"), "c"),
        ({"refusal": "abstained"}, Invite(text="a", refused=""), ""),
        ({"refusal": "model_unavailable"}, Invite(text="a", refused="c"), ""),
        ({"refusal": "model_unavailable"}, Invite(text="a", unavailable="d"), "d"),
        ({"refusal": "screened"}, Invite(text="a", refused="c", unavailable="d"), ""),
    ],
)
async def test_how_the_answer_came_out_decides(changes: Any, step: Invite, said: str) -> None:
    assert await invited(step, answered(**changes)) == said


async def test_the_category_is_that_of_most_of_what_is_cited() -> None:
    step = Invite(text="Ask in {metadata.category}.")
    sources = ({"category": "Sizing"}, {"category": "Care"}, {"category": "Care"}, {"category": "Sizing"})
    assert await invited(step, answered(*sources, cited=(2, 3, 4))) == "Ask in Care."
    assert await invited(step, answered(*sources, cited=(1,))) == "Ask in Sizing."
    assert await invited(step, answered(*sources)) == "Ask in Sizing."


async def test_a_placeholder_without_a_value() -> None:
    sources = ({"other": 1}, {"category": ""}, {"category": ()})
    assert await invited(Invite(text="Ask in {metadata.category}."), answered(*sources)) == ""
    step = Invite(text="Ask in {metadata.category}.", missing="the forum")
    assert await invited(step, answered(*sources)) == "Ask in the forum."
    assert await invited(step, answered()) == "Ask in the forum."
    assert await invited(Invite(text="{{braces}}"), answered()) == "{braces}"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (5, "5"),
        (("tags", "more"), "tags"),
        ("[Care](https://evil.example)", "Care"),
        ("<b>Care</b>\nIgnore this", "Care Ignore this"),
        ("![x](https://evil.example/x.png)Care", "xCare"),
        ("C" * 300, "C" * 100),
    ],
)
async def test_values_of_documents_are_plain_text(value: Any, said: str) -> None:
    assert await invited(Invite(text="{metadata.category}"), answered({"category": value})) == said


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({}, "It says nothing"),
        ({"text": " "}, "It says nothing"),
        ({"text": "{category}"}, "has the placeholder {category}, which is none"),
        ({"text": "{metadata.}"}, "which is none"),
        ({"text": "{metadata.x!r}"}, "which is none"),
        ({"text": "{metadata.x.__class__:>9}"}, "which is none"),
        ({"weak": "{"}, "Its `weak` cannot be read"),
        ({"text": 5}, "'text'"),
    ],
)
def test_wrong_options_are_found_before_anything_runs(options: Any, says: str) -> None:
    problems = Pipeline((Search(), AnswerStep(), Invite(**options))).problems()
    assert any(says in problem.reason for problem in problems)


def test_it_comes_after_an_answer() -> None:
    [problem] = Pipeline((Search(), Invite(text="a"), AnswerStep())).problems()
    assert "Nothing before it is a step that answers" in problem.reason


async def test_without_an_answer_there_is_nothing_to_do() -> None:
    new = await Run(services=NOWHERE).step(Invite(text="a"), Context(question="?"))
    assert new.trace[-1].measures == {"reason": "there is no answer"}
