"""`remember`: what is kept of a question, and of what not."""

from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from tests.steps.querying import assert_passed_over, traced

import refdesk
from refdesk.context import Answer, Context, Turn
from refdesk.conversations.memory import MemoryConversations
from refdesk.errors import NotFound, StoreError
from refdesk.pipeline import Run, Step
from refdesk.results import Results
from refdesk.steps import Answer as Write
from refdesk.steps import Recall, Remember, Search
from refdesk.testing.rerankers import sample_hits
from refdesk.testing.steps import NoLibrary

pytestmark = pytest.mark.anyio

FOUND = (Results(question="leave", hits=sample_hits(), collection="handbook"),)
ANSWERED = Context(
    question="How many days?",
    rewritten_query="days of leave",
    conversation="c",
    results=FOUND,
    answer=Answer(question="How many days?", text="Thirty [1]."),
)
TURNS = (Turn("user", "How many days?"), Turn("assistant", "Thirty [1]."))


async def ran(step: Step, context: Context, services: NoLibrary) -> Context:
    return await Run(services=services).steps((step,), context)


async def test_question_and_answer_are_kept_as_they_were_said() -> None:
    services = NoLibrary()
    context = await ran(Remember(), ANSWERED, services)
    assert await services.conversations.turns("c") == TURNS
    assert context.evolve(trace=()) == ANSWERED
    assert traced(context).measures == {"kept_answer": True, "kept_results": False}
    with pytest.raises(NotFound):
        await services.conversations.found("c")


async def test_a_refusal_is_an_answer_that_was_given() -> None:
    services = NoLibrary()
    refusal = Answer(question="Who?", text="I found nothing.", refusal="nothing_found")
    await ran(Remember(), ANSWERED.evolve(question="Who?", answer=refusal), services)
    assert [turn.text for turn in await services.conversations.turns("c")] == ["Who?", "I found nothing."]


async def test_results_are_kept_where_that_is_asked_for() -> None:
    services = NoLibrary()
    await ran(Remember(retrieval=True), ANSWERED, services)
    assert await services.conversations.found("c") == FOUND
    await ran(Remember(), ANSWERED.evolve(results=()), services)
    assert await services.conversations.found("c") == FOUND
    await ran(Remember(retrieval=True), ANSWERED.evolve(results=()), services)
    with pytest.raises(NotFound):
        await services.conversations.found("c")


async def test_without_an_answer_only_results_are_kept() -> None:
    services = NoLibrary()
    context = await ran(Remember(retrieval=True), ANSWERED.evolve(answer=None), services)
    assert await services.conversations.turns("c") == ()
    assert await services.conversations.found("c") == FOUND
    assert traced(context).measures == {"kept_answer": False, "kept_results": True}


async def test_a_question_without_a_conversation_is_not_kept() -> None:
    services = NoLibrary()
    context = await ran(Remember(retrieval=True), ANSWERED.evolve(conversation=""), services)
    assert traced(context).outcome == "skipped"
    assert await services.conversations.turns("") == ()


async def test_a_question_that_failed_is_not_kept(desk: refdesk.Desk) -> None:
    pipeline = Search(collection="nowhere") | Write() | Remember()
    await desk.run(pipeline, "How many days of leave?", conversation="c")
    assert await desk.services.conversations.turns("c") == ()


async def test_what_is_kept_comes_back_in_the_next_run(desk: refdesk.Desk) -> None:
    first = await desk.run(
        Search() | Write() | Remember(retrieval=True), "How many days of leave?", conversation="c"
    )
    again = await desk.run(Recall(retrieval=True) | Write(), "And how many days then?", conversation="c")
    assert [turn.text for turn in again.history] == ["How many days of leave?", str(first.answer)]
    assert again.results == first.results
    other = await desk.run(Recall() | Search() | Write(), "How many days of leave?", conversation="d")
    assert other.history == ()


@dataclass(slots=True)
class Broken(MemoryConversations):
    async def add(self, conversation: str, turns: Sequence[Turn]) -> None:
        raise StoreError("The disk is full.")


async def test_a_keeper_that_fails_costs_no_answer() -> None:
    services = NoLibrary(conversations=Broken())
    assert_passed_over(await ran(Remember(), ANSWERED, services), ANSWERED, "The disk is full.")
    stopped = await ran(Remember(on_error="stop"), ANSWERED, services)
    assert isinstance(stopped.error, StoreError)
    assert stopped.answer == ANSWERED.answer
