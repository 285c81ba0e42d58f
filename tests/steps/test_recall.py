"""`recall`: what comes back of a conversation."""

from dataclasses import replace
from typing import Any

import pytest
from tests.steps.querying import traced

import refdesk
from refdesk.context import Context, Turn
from refdesk.conversations import KeptHit, KeptResults, Key
from refdesk.conversations.memory import MemoryConversations
from refdesk.errors import StoreError
from refdesk.pipeline import OnError, Pipeline, Run, Step
from refdesk.steps import Answer, Dedupe, Recall, Remember, Search
from refdesk.testing.steps import NoLibrary

pytestmark = pytest.mark.anyio

QUESTION = "How many days of leave do employees get, and when does the kitchen close?"
SAID = tuple(Turn("user" if number % 2 == 0 else "assistant", str(number)) for number in range(30))
HERE = Context(question="And then?", conversation="c")
KEEP = Search() | Answer() | Remember(retrieval=True)
AGAIN = Recall(retrieval=True) | Answer()


async def kept() -> NoLibrary:
    services = NoLibrary()
    await services.conversations.add(Key("", "c"), SAID)
    return services


async def ran(step: Step, context: Context, services: NoLibrary) -> Context:
    return await Run(services=services).steps((step,), context)


async def test_the_last_turns_come_back() -> None:
    context = await ran(Recall(), HERE, await kept())
    assert context.history == SAID[-20:]
    assert traced(context).measures == {"turns": 20}
    assert (await ran(Recall(messages=3), HERE, await kept())).history == SAID[-3:]
    assert (await ran(Recall(messages=0), HERE, await kept())).history == ()
    assert context.results == ()


async def test_other_conversations_and_other_users_stay_apart() -> None:
    services = await kept()
    for other in (HERE.evolve(conversation="d"), HERE.evolve(user="anna")):
        context = await ran(Recall(), other, services)
        assert (context.history, traced(context).outcome) == ((), "done")
    await services.conversations.add(Key("anna", "c"), SAID[:2])
    assert (await ran(Recall(), HERE.evolve(user="anna"), services)).history == SAID[:2]
    assert (await ran(Recall(), HERE, services)).history == SAID[-20:]


async def test_a_question_without_a_conversation_is_left_alone() -> None:
    context = await ran(Recall(retrieval=True), Context(question="Who?", user="anna"), await kept())
    assert traced(context).outcome == "skipped"
    assert traced(context).measures == {"reason": "the question belongs to no conversation"}


async def test_a_history_of_the_caller_stays_and_is_not_doubled() -> None:
    given = (Turn("user", "Mine"),)
    assert (await ran(Recall(), HERE.evolve(history=given), await kept())).history == given


async def test_results_come_back_as_they_are_now(desk: refdesk.Desk) -> None:
    first = await desk.run(KEEP, QUESTION, conversation="c", collections="default")
    begun = (await desk.start("And then?", conversation="c")).evolve(results=first.results[:0])
    context = await desk.run(AGAIN, begun)
    assert context.hits == first.hits
    assert [replace(one, explanation=first.results[0].explanation) for one in context.results] == list(
        first.results
    )
    assert context.trace[0].measures == {"turns": 2, "hits": len(first.hits)}
    await desk.ingest_text("Employees get 30 days of leave per year.", source_id="leave", title="New title")
    renamed = await desk.run(AGAIN, "And then?", conversation="c")
    assert "leave" not in {hit.source_id for hit in renamed.hits}, "its text is another one now"
    assert len(renamed.hits) == len(first.hits) - 1
    assert [hit.rank for hit in renamed.hits] == list(range(1, len(first.hits)))
    assert f"recall: 1 of {len(first.hits)} kept passages are left out" in renamed.warnings[0]


async def test_what_is_known_of_a_document_is_of_now(desk: refdesk.Desk) -> None:
    text = "The roof is closed in winter."
    await desk.ingest_text(text, source_id="roof", title="Old")
    await desk.run(KEEP, text, conversation="c")
    await desk.ingest_text(text, source_id="roof", title="New", metadata={"topic": 7})
    context = await desk.run(AGAIN, "And then?", conversation="c")
    [hit] = [hit for hit in context.hits if hit.source_id == "roof"]
    assert (hit.title, hit.metadata["topic"], hit.chunk.text) == ("New", 7, text)


async def test_a_deleted_document_is_not_recalled(desk: refdesk.Desk) -> None:
    first = await desk.run(KEEP, QUESTION, conversation="c")
    assert len(first.hits) == 3
    store = await desk.services.writable_store()
    await store.delete("default", ["leave"])
    context = await desk.run(AGAIN, "And then?", conversation="c")
    assert {hit.source_id for hit in context.hits} == {"kitchen", "travel"}
    await store.delete("default", ["kitchen", "travel"])
    gone = await desk.run(Recall(retrieval=True) | Search() | Answer(), QUESTION, conversation="c")
    assert gone.warnings[0].startswith("recall: 3 of 3 kept passages are left out")
    assert (gone.hits, len(gone.history), gone.degraded) == ((), 2, ())


async def test_only_what_the_call_is_about_is_recalled(desk: refdesk.Desk) -> None:
    await desk.run(KEEP, "warranty of the pump; leave", conversation="c", collections="all")
    everything = await desk.run(AGAIN, "And?", conversation="c", collections="all")
    assert {hit.chunk.collection for hit in everything.hits} == {"default", "pumps"}
    pumps = await desk.run(AGAIN, "And?", conversation="c", collections="pumps")
    assert {hit.chunk.collection for hit in pumps.hits} == {"pumps"}
    filtered = await desk.run(AGAIN, "And?", conversation="c", filters={"topic": 1})
    assert {hit.source_id for hit in filtered.hits} == {"kitchen"}
    await desk.delete_collection("pumps")
    left = await desk.run(AGAIN, "And?", conversation="c", collections="all")
    assert {hit.chunk.collection for hit in left.hits} == {"default"}


async def test_what_is_not_in_the_library_is_not_recalled(desk: refdesk.Desk) -> None:
    strange = KeptResults(question="q", hits=(KeptHit(chunk_id="1", document_id="2", collection="default"),))
    await desk.services.conversations.keep(Key("", "c"), (strange,))
    context = await desk.run(AGAIN, "And?", conversation="c")
    assert context.hits == ()
    assert "1 of 1 kept passages are left out" in context.warnings[0]


@pytest.mark.parametrize("on_error", ["continue", "stop"])
async def test_a_new_conversation_has_nothing_to_recall(on_error: OnError) -> None:
    step = Recall(retrieval=True, on_error=on_error)
    context = await ran(step, HERE.evolve(conversation="fresh"), await kept())
    assert (context.history, context.results, context.warnings, context.degraded) == ((), (), (), ())
    assert (traced(context).outcome, context.error) == ("done", None)
    assert traced(context).measures == {"turns": 0, "reason": "nothing was said before in the conversation"}


@pytest.mark.parametrize("on_error", ["continue", "stop"])
async def test_turns_come_back_where_no_results_were_kept(on_error: OnError) -> None:
    context = await ran(Recall(retrieval=True, on_error=on_error), HERE, await kept())
    assert (traced(context).outcome, context.history, context.results) == ("done", SAID[-20:], ())
    assert (context.degraded, context.error) == ((), None)
    assert context.warnings == (
        "recall: No results are kept for the conversation 'c': `remember` keeps them with `retrieval: true`,"
        " where nothing has failed.",
    )


async def test_results_of_before_stay_where_none_come_back(desk: refdesk.Desk) -> None:
    found = await desk.step(Search(), await desk.start(QUESTION, conversation="fresh"))
    context = await desk.step(Recall(retrieval=True), found)
    assert context.results == found.results


@pytest.mark.parametrize("history", [(), (("user", "Hello"),)])
async def test_one_pipeline_recalls_what_it_remembers(desk: refdesk.Desk, history: Any) -> None:
    """A first question has nothing to recall, and what it found has to be kept nevertheless."""
    talk = Recall(retrieval=True) | Search() | Answer() | Remember(retrieval=True)
    seen = []
    for _ in range(3):
        context = await desk.run(talk, QUESTION, conversation="c", history=history)
        assert context.warnings == ()
        seen.append((len(context.history), context.trace[0].measures.get("hits")))
    turns = (1, 1, 1) if history else (0, 2, 4)
    assert seen == list(zip(turns, (None, 3, 3), strict=True))
    assert (await desk.conversations.count()).hits == 3


async def test_it_keeps_again_after_results_were_lost(desk: refdesk.Desk) -> None:
    talk = Recall(retrieval=True) | Search() | Answer() | Remember(retrieval=True)
    await desk.run(talk, QUESTION, conversation="c")
    await desk.services.conversations.keep(Key("", "c"), ())
    lost = await desk.run(talk, QUESTION, conversation="c")
    assert (len(lost.history), len(lost.warnings), lost.degraded) == (2, 1, ())
    again = await desk.run(talk, QUESTION, conversation="c")
    assert (len(again.history), again.warnings, again.trace[0].measures["hits"]) == (4, (), 3)


async def test_what_cannot_be_asked_is_a_failure(desk: refdesk.Desk) -> None:
    class Down(MemoryConversations):
        async def found(self, key: Key) -> tuple[KeptResults, ...]:
            raise StoreError("It is down.")

    desk.services.built["conversations"] = Down()
    stopped = await desk.run(Recall(retrieval=True, on_error="stop") | Answer(), QUESTION, conversation="c")
    assert isinstance(stopped.error, StoreError)
    passed = await desk.run(Recall(retrieval=True) | Answer(), QUESTION, conversation="c")
    assert passed.degraded == ("recall",)


def test_what_comes_back_can_be_worked_on() -> None:
    pipeline = Recall(retrieval=True) | Dedupe() | Answer()
    assert pipeline.problems() == ()


@pytest.mark.parametrize("options", [{"messages": -1}, {"retrieval": "perhaps"}])
def test_wrong_options_are_found_before(options: dict[str, Any]) -> None:
    assert [problem.step for problem in Pipeline((Recall(**options), Answer())).problems()] == ["recall"]
