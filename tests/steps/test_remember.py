"""`remember`: what is kept of a question, and of what not."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest
from tests.steps.querying import traced

import refdesk
from refdesk.context import Answer, Context, Turn
from refdesk.conversations import Key, Said, StoredMessage
from refdesk.conversations.kept import kept
from refdesk.conversations.memory import MemoryConversations
from refdesk.errors import NotFound, StoreError
from refdesk.pipeline import Run, Step
from refdesk.results import Results
from refdesk.steps import Answer as Write
from refdesk.steps import Cite, Ground, Recall, Remember, Rerank, Search
from refdesk.testing.rerankers import sample_hits
from refdesk.testing.steps import NoLibrary

pytestmark = pytest.mark.anyio

KEY = Key("anna", "c")
FOUND = (Results(question="leave", hits=sample_hits(), collection="handbook"),)
ANSWERED = Context(
    question="How many days?",
    rewritten_query="days of leave",
    conversation="c",
    user="anna",
    results=FOUND,
    answer=Answer(question="How many days?", text="Thirty [1]."),
)
TURNS = (Turn("user", "How many days?"), Turn("assistant", "Thirty [1]."))


async def ran(step: Step, context: Context, services: NoLibrary) -> Context:
    return await Run(services=services).steps((step,), context)


async def said(services: NoLibrary, key: Key = KEY) -> tuple[Turn, ...]:
    return tuple(one.turn for one in await services.conversations.messages(key))


async def test_question_and_answer_are_kept_as_they_were_said() -> None:
    services = NoLibrary()
    context = await ran(Remember(), ANSWERED, services)
    assert await said(services) == TURNS
    assert await said(services, Key("", "c")) == ()
    assert context.evolve(trace=()) == ANSWERED
    assert traced(context).measures == {"kept_answer": True, "kept_results": False}
    with pytest.raises(NotFound):
        await services.conversations.found(KEY)


async def test_a_refusal_is_an_answer_that_was_given() -> None:
    services = NoLibrary()
    refusal = Answer(question="Who?", text="I found nothing.", refusal="nothing_found")
    await ran(Remember(), ANSWERED.evolve(question="Who?", answer=refusal), services)
    assert [turn.text for turn in await said(services)] == ["Who?", "I found nothing."]
    answer = (await services.conversations.messages(KEY))[1].answer
    assert answer is not None
    assert answer.refusal == "nothing_found"


async def test_results_are_kept_without_their_texts_where_that_is_asked_for() -> None:
    services = NoLibrary()
    await ran(Remember(retrieval=True), ANSWERED, services)
    found = await services.conversations.found(KEY)
    assert found == (kept(FOUND[0]),)
    assert not any(hit.chunk.text in repr(found) for hit in FOUND[0].hits if hit.chunk.text)
    await ran(Remember(), ANSWERED.evolve(results=()), services)
    assert await services.conversations.found(KEY) == found
    await ran(Remember(retrieval=True), ANSWERED.evolve(results=()), services)
    with pytest.raises(NotFound):
        await services.conversations.found(KEY)


async def test_results_of_a_run_in_which_something_failed_are_not_kept() -> None:
    services = NoLibrary()
    await ran(Remember(retrieval=True), ANSWERED, services)
    context = await ran(Remember(retrieval=True), ANSWERED.evolve(degraded=("rerank",)), services)
    assert traced(context).measures == {"kept_answer": True, "kept_results": False}
    with pytest.raises(NotFound):
        await services.conversations.found(KEY)
    assert len(await said(services)) == 4


async def test_without_an_answer_only_results_are_kept() -> None:
    services = NoLibrary()
    context = await ran(Remember(retrieval=True), ANSWERED.evolve(answer=None), services)
    assert await said(services) == ()
    assert len(await services.conversations.found(KEY)) == 1
    assert traced(context).measures == {"kept_answer": False, "kept_results": True}


async def test_a_question_without_a_conversation_is_not_kept() -> None:
    services = NoLibrary()
    context = await ran(Remember(retrieval=True), ANSWERED.evolve(conversation=""), services)
    assert traced(context).outcome == "skipped"
    assert await services.conversations.everyones() == ()


async def test_a_question_that_failed_is_not_kept(desk: refdesk.Desk) -> None:
    pipeline = Search(collection="nowhere") | Write() | Remember()
    await desk.run(pipeline, "How many days of leave?", conversation="c")
    assert await desk.services.conversations.everyones() == ()


async def test_what_is_kept_comes_back_in_the_next_run(desk: refdesk.Desk) -> None:
    first = await desk.run(
        Search() | Write() | Remember(retrieval=True),
        "How many days of leave?",
        conversation="c",
        user="anna",
    )
    again = await desk.run(
        Recall(retrieval=True) | Write(), "And how many days then?", conversation="c", user="anna"
    )
    assert [turn.text for turn in again.history] == ["How many days of leave?", str(first.answer)]
    assert again.hits == first.hits
    other = await desk.run(Recall() | Search() | Write(), "How many days of leave?", conversation="c")
    assert other.history == ()


async def test_an_answer_that_is_shown_again_is_the_one_that_was_shown(desk: refdesk.Desk) -> None:
    def broken(question: str, hits: object) -> object:
        raise RuntimeError("The reranker is down.")

    pipeline = (
        Search() | Rerank(reranker=broken, on_error="continue") | Write() | Cite() | Ground() | Remember()
    )
    shown = await desk.ask("How many days of leave?", pipeline=pipeline, conversation="c")
    assert shown.citations
    assert shown.grounding
    assert shown.warnings
    kept_one = (await desk.services.conversations.messages(Key("", "c")))[1].answer
    want = replace(shown, evidence=(), timings={})
    assert kept_one == want
    assert repr(kept_one) == repr(want)


@dataclass(slots=True)
class Broken(MemoryConversations):
    async def add(self, key: Key, said: Sequence[Said]) -> tuple[StoredMessage, ...]:
        raise StoreError("The disk is full.")


async def test_a_keeper_that_fails_costs_no_answer() -> None:
    services = NoLibrary(conversations=Broken())
    passed = await ran(Remember(), ANSWERED, services)
    assert (passed.error, passed.answer, traced(passed).outcome) == (None, ANSWERED.answer, "continued")
    assert "The disk is full." in passed.warnings[-1]
    stopped = await ran(Remember(on_error="stop"), ANSWERED, services)
    assert isinstance(stopped.error, StoreError)
    assert stopped.answer == ANSWERED.answer
