"""`reason`: follow-up searches."""

import json
from typing import Any

import pytest

import refdesk
from refdesk.context import Context
from refdesk.errors import LLMError, StepError
from refdesk.steps import Reason, Search
from refdesk.testing.llm import ScriptedLLM

pytestmark = pytest.mark.anyio

ENOUGH = json.dumps({"sufficient": True})


def missing(query: str) -> str:
    return json.dumps({"sufficient": False, "missing": "something", "follow_up_query": query})


async def found(desk: refdesk.Desk, **options: Any) -> Context:
    context = await desk.start("How many days of leave?", **options)
    return await desk.step(Search(top_k=1), context)


async def test_it_stops_when_the_hits_suffice(desk: refdesk.Desk) -> None:
    before = await found(desk)
    context = await desk.step(Reason(), before, llm=ScriptedLLM([ENOUGH]))
    assert (context.reason_iterations, context.hits) == (0, before.hits)


async def test_it_searches_for_what_is_missing_and_shows_what_it_found(desk: refdesk.Desk) -> None:
    llm = ScriptedLLM([missing("coffee machine kitchen"), ENOUGH])
    context = await desk.step(Reason(), await found(desk), llm=llm)
    assert context.reason_iterations == 1
    assert context.queries_tried == ("How many days of leave?", "coffee machine kitchen")
    assert {hit.source_id for hit in context.hits} == {"leave", "kitchen"}
    assert "coffee machine on Fridays" not in llm.asked[0][-1].text
    assert "coffee machine on Fridays" in llm.asked[1][-1].text
    rounds = [step for step in context.trace if step.kind == "round"]
    assert [step.path for step in rounds] == [("reason", "round-1"), ("reason", "round-2")]


async def test_new_hits_are_shown_among_many(desk: refdesk.Desk) -> None:
    def many(query: str, collection: str) -> list[dict[str, Any]]:
        return [{"id": f"{query}{n}", "text": f"about {query} {n}"} for n in range(30)]

    context = await desk.step(Search(searcher=many), await desk.start("first"))
    llm = ScriptedLLM([missing("second"), ENOUGH])
    await desk.step(Reason(shown=4), context, llm=llm)
    shown = llm.asked[1][-1].text
    assert shown.count("about second") == 2
    assert shown.count("about first") == 2


@pytest.mark.parametrize("again", ["how many DAYS of leave", "“How many days  of leave?”"])
async def test_a_query_is_never_searched_twice(desk: refdesk.Desk, again: str) -> None:
    llm = ScriptedLLM([missing(again)])
    context = await desk.step(Reason(max_iterations=5), await found(desk), llm=llm)
    assert context.reason_iterations == 0
    assert len(llm.asked) == 1


async def test_sub_questions_count_as_tried(desk: refdesk.Desk) -> None:
    context = (await desk.start("?")).evolve(sub_questions=("leave days", "kitchen"))
    context = await desk.step(Search(), context)
    context = await desk.step(Reason(), context, llm=ScriptedLLM([missing("Kitchen")]))
    assert context.reason_iterations == 0


async def test_it_stops_at_the_limit(desk: refdesk.Desk) -> None:
    llm = ScriptedLLM([missing(f"query {n}") for n in range(9)])
    context = await desk.step(Reason(max_iterations=3), await found(desk), llm=llm)
    assert context.reason_iterations == 3
    assert len(llm.asked) == 3
    names = [hit.chunk.chunk_id for hit in context.hits]
    assert len(set(names)) == len(names)


async def test_it_searches_where_and_how_search_did(desk: refdesk.Desk) -> None:
    asked: list[tuple[str, str]] = []

    def own(query: str, collection: str) -> list[dict[str, Any]]:
        asked.append((query, collection))
        return []

    context = await desk.step(Search(searcher=own, collection="pumps"), await desk.start("first"))
    context = await desk.step(Reason(), context, llm=ScriptedLLM([missing("second"), ENOUGH]))
    assert asked == [("first", "pumps"), ("second", "pumps")]
    assert context.collections == ("pumps",)


async def test_the_filter_holds_in_follow_ups(desk: refdesk.Desk) -> None:
    before = await found(desk, filters={"topic": 0})
    context = await desk.step(Reason(), before, llm=ScriptedLLM([missing("kitchen coffee"), ENOUGH]))
    assert "kitchen" not in {hit.source_id for hit in context.hits}


async def test_a_model_that_fails_at_first_is_a_failure(desk: refdesk.Desk) -> None:
    before = await found(desk)
    context = await desk.step(Reason(), before, llm=ScriptedLLM([LLMError("down")]))
    assert context.warnings == ("reason: down",)
    assert context.results == before.results


async def test_a_model_that_fails_later_leaves_what_was_found(desk: refdesk.Desk) -> None:
    llm = ScriptedLLM([missing("coffee machine kitchen"), "no JSON", "still none"])
    context = await desk.step(Reason(), await found(desk), llm=llm)
    assert "kitchen" in {hit.source_id for hit in context.hits}
    assert "what was found before stays" in context.warnings[0]
    assert context.trace[-1].outcome == "done"


@pytest.mark.parametrize("reply", ["{'sufficient': 'perhaps'}", "nothing", '{"follow_up_query": "x"}'])
async def test_an_unreadable_reply_is_no_yes(desk: refdesk.Desk, reply: str) -> None:
    context = await desk.step(Reason(), await found(desk), llm=ScriptedLLM([reply]))
    assert context.trace[-1].outcome == "continued"
    assert context.warnings


async def test_a_reasoner_of_ones_own(desk: refdesk.Desk) -> None:
    def once(question: str, hits: Any) -> str | None:
        return "coffee machine" if len(hits) < 2 else None

    context = await desk.step(Reason(reasoner=once), await found(desk))
    assert context.reason_iterations == 1


async def test_nothing_to_search_with(desk: refdesk.Desk) -> None:
    context = await desk.step(Reason(on_error="stop"), await desk.start("?"), llm=ScriptedLLM([ENOUGH]))
    assert isinstance(context.error, StepError)


async def test_skipped_retrieval_is_not_reasoned_about(desk: refdesk.Desk) -> None:
    context = (await desk.start("?")).evolve(skip_retrieval=True)
    assert (await desk.step(Reason(), context)).trace[-1].outcome == "skipped"
