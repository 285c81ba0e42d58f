"""`ground` by its default, and what an earlier step already said."""

from dataclasses import dataclass, replace
from functools import cache
from typing import cast

import pytest
from tests.steps.querying import ASKED, Offline

from refdesk.context import Answer, Context
from refdesk.embedding.names import embedder_for
from refdesk.evidence import number_hits
from refdesk.grounding import Grounder
from refdesk.grounding.named import grounder_for
from refdesk.pipeline import LLMValue, Run, Services, Step
from refdesk.steps import Ground
from refdesk.support import Grounding
from refdesk.testing.rerankers import sample_hits

pytestmark = [pytest.mark.anyio, pytest.mark.model]

ENGLISH = ("Employees get 30 days of leave a year.", "Employees get 30 days of leave a year. Whales sing.")
GERMAN = ("Die Angestellten erhalten jedes Jahr dreißig Tage Urlaub.",) * 2


@cache
def local() -> Grounder:
    return grounder_for("local", embedder=embedder_for("minilm"))


@dataclass(frozen=True, slots=True)
class WithMiniLM(Offline):
    async def grounder(self, name: str, llm: LLMValue = None) -> Grounder:
        return local() if name == "local" else grounder_for(name, llm=self.llm(llm))


def answered(texts: tuple[str, str]) -> Context:
    evidence, text = texts
    return ASKED.evolve(
        evidence=number_hits(sample_hits([evidence])),
        answer=Answer(question=ASKED.question, text=text, model="scripted"),
    )


async def after(step: Step, context: Context) -> tuple[Context, Grounding]:
    found = await Run(services=cast(Services, WithMiniLM())).steps((step,), context)
    assert found.grounding is not None
    return found, found.grounding


@pytest.mark.parametrize(("texts", "judge"), [(ENGLISH, "local"), (GERMAN, "lexical")])
async def test_the_same_text_is_not_judged_twice(texts: tuple[str, str], judge: str) -> None:
    context, first = await after(Ground(), answered(texts))
    _, second = await after(Ground(), context)
    assert first.grounder == second.grounder == judge
    assert first.faithful_spans
    assert second.faithful_spans is first.faithful_spans


async def test_another_text_is_judged_anew() -> None:
    context, first = await after(Ground(), answered(ENGLISH))
    assert context.answer is not None
    answer = replace(context.answer, text=f"Well: {context.answer.text}")
    _, second = await after(Ground(), context.evolve(answer=answer))
    assert second.faithful_spans[0].text != first.faithful_spans[0].text


async def test_what_another_grounder_said_is_not_taken_for_its_own() -> None:
    context, lexical = await after(Ground(grounder="lexical"), answered(ENGLISH))
    _, found = await after(Ground(), context)
    assert (lexical.grounder, found.grounder) == ("lexical", "local")


async def test_where_it_leaves_a_text_to_another_what_that_one_said_is_its_own() -> None:
    context, lexical = await after(Ground(grounder="lexical"), answered(GERMAN))
    _, found = await after(Ground(), context)
    assert found.faithful_spans is lexical.faithful_spans
