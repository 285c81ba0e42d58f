"""`recall`: what comes back of a conversation."""

from typing import Any

import pytest
from tests.steps.querying import assert_passed_over, traced

from refdesk.context import Context, Evidence, Turn
from refdesk.errors import NotFound
from refdesk.pipeline import Pipeline, Run, Step
from refdesk.results import Results
from refdesk.steps import Answer, Dedupe, Recall
from refdesk.testing.rerankers import sample_hits
from refdesk.testing.steps import NoLibrary

pytestmark = pytest.mark.anyio

SAID = tuple(Turn("user" if number % 2 == 0 else "assistant", str(number)) for number in range(30))
FOUND = (Results(question="leave", hits=sample_hits(), collection="handbook"),)
HERE = Context(question="And then?", conversation="c")


async def kept() -> NoLibrary:
    services = NoLibrary()
    await services.conversations.add("c", SAID)
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


async def test_other_conversations_stay_apart() -> None:
    context = await ran(Recall(), HERE.evolve(conversation="d"), await kept())
    assert (context.history, traced(context).outcome) == ((), "done")


async def test_a_question_without_a_conversation_is_left_alone() -> None:
    context = await ran(Recall(retrieval=True), Context(question="Who?"), await kept())
    assert traced(context).outcome == "skipped"
    assert traced(context).measures == {"reason": "the question belongs to no conversation"}


async def test_a_history_of_the_caller_stays_and_is_not_doubled() -> None:
    given = (Turn("user", "Mine"),)
    assert (await ran(Recall(), HERE.evolve(history=given), await kept())).history == given


async def test_results_come_back_in_place_of_those_there_are() -> None:
    services = await kept()
    await services.conversations.keep("c", FOUND)
    hits = sample_hits(["Old."])
    before = HERE.evolve(results=(Results(question="old", hits=hits),), evidence=(Evidence(1, hits[0]),))
    context = await ran(Recall(retrieval=True), before, services)
    assert context.results == FOUND
    assert context.evidence == ()
    assert traced(context).measures == {"turns": 20, "hits": len(FOUND[0].hits)}
    assert (await ran(Recall(), before, services)).results == before.results


@pytest.mark.parametrize("name", ["c", "fresh"])
async def test_results_that_were_never_kept_are_a_failure(name: str) -> None:
    before = HERE.evolve(conversation=name)
    passed = await ran(Recall(retrieval=True), before, await kept())
    assert_passed_over(passed, before, f"is kept for the conversation {name!r}")
    stopped = await ran(Recall(retrieval=True, on_error="stop"), before, await kept())
    assert isinstance(stopped.error, NotFound)


def test_what_comes_back_can_be_worked_on() -> None:
    pipeline = Recall(retrieval=True) | Dedupe() | Answer()
    assert pipeline.problems() == ()


@pytest.mark.parametrize("options", [{"messages": -1}, {"retrieval": "perhaps"}])
def test_wrong_options_are_found_before(options: dict[str, Any]) -> None:
    assert [problem.step for problem in Pipeline((Recall(**options), Answer())).problems()] == ["recall"]
