"""`reason`: follow-up searches."""

import json
from typing import Any

import anyio
import pytest

import refdesk
from refdesk.context import Context
from refdesk.errors import LLMError, SettingsError, StepError
from refdesk.pipeline import Pipeline
from refdesk.steps import Answer, Reason, Search
from refdesk.steps.reason import interleaved
from refdesk.testing.llm import ScriptedLLM
from refdesk.testing.rerankers import sample_hits

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


def test_new_hits_and_the_best_take_turns() -> None:
    hits = sample_hits(["a", "b", "c", "d", "e"])
    new = hits[3:]
    shown = interleaved(new, hits, 4)
    assert [hit.chunk.text for hit in shown] == ["d", "a", "e", "b"]
    assert interleaved((), hits, 2) == hits[:2]
    assert [hit.chunk.text for hit in interleaved(new, hits, 9)] == ["d", "a", "e", "b", "c"]


async def test_what_was_known_takes_no_place_of_what_is_new(desk: refdesk.Desk) -> None:
    """The follow-up finds ten passages again, and behind them one that is new."""

    def many(query: str, collection: str) -> list[dict[str, Any]]:
        known = [{"id": f"k{n}", "text": f"known passage {n}"} for n in range(20)]
        return [*known[:10], {"id": "new", "text": "the new passage"}] if query == "second" else known

    llm = ScriptedLLM([missing("second"), ENOUGH])
    context = await desk.step(Search(searcher=many), await desk.start("first"))
    context = await desk.step(Reason(shown=3), context, llm=llm)
    assert "the new passage" in llm.asked[1][-1].text
    [first, _] = [step for step in context.trace if step.kind == "round"]
    assert (first.measures["hits"], first.measures["new"]) == (11, 1)


async def test_a_hit_of_several_searches_comes_once_and_counts_more(desk: refdesk.Desk) -> None:
    def found_by(query: str, collection: str) -> list[dict[str, Any]]:
        order = ["both", "b"] if query == "second" else ["a", "both"]
        return [{"id": name, "text": name} for name in order]

    context = await desk.step(Search(searcher=found_by), await desk.start("first"))
    context = await desk.step(Reason(), context, llm=ScriptedLLM([missing("second"), ENOUGH]))
    assert [hit.chunk.chunk_id for hit in context.hits] == ["both", "a", "b"]
    assert [(one.question, one.collection) for one in context.results] == [
        ("first", "default"),
        ("second", "default"),
    ]


async def test_every_collection_is_searched_again(desk: refdesk.Desk) -> None:
    context = await desk.step(Search(top_k=1), await desk.start("leave", collections=["default", "pumps"]))
    context = await desk.step(Reason(), context, llm=ScriptedLLM([missing("X300 pump"), ENOUGH]))
    assert [one.collection for one in context.results] == ["default", "pumps"] * 2
    assert context.collections == ("default", "pumps")


async def test_an_empty_follow_up_leaves_scope_and_searcher(desk: refdesk.Desk) -> None:
    asked: list[tuple[str, str]] = []

    async def own(query: str, collection: str) -> list[dict[str, Any]]:
        asked.append((query, collection))
        return [{"id": "1", "text": "x"}] if query == "first" else []

    context = await desk.step(Search(searcher=own), await desk.start("first", collections=["a", "b"]))
    llm = ScriptedLLM([missing("second"), missing("third"), ENOUGH])
    context = await desk.step(Reason(), context, llm=llm)
    assert asked == [(query, name) for query in ("first", "second", "third") for name in ("a", "b")]
    assert context.reason_iterations == 2
    assert [one.question for one in context.results] == ["first", "first"]


async def test_another_searcher_is_held_to_the_filter(desk: refdesk.Desk) -> None:
    def own(query: str, collection: str) -> list[dict[str, Any]]:
        return [{"id": f"{query}{n}", "text": "x", "metadata": {"topic": n}} for n in range(2)]

    before = await found(desk, filters={"topic": 0})
    llm = ScriptedLLM([missing("second"), ENOUGH])
    context = await desk.step(Reason(searcher=own), before, llm=llm)
    assert [hit.chunk.chunk_id for hit in context.results[-1].hits] == ["second0"]


async def test_without_a_collection_no_model_is_asked(desk: refdesk.Desk) -> None:
    llm = ScriptedLLM([ENOUGH])
    context = await desk.step(Search(collection=()), await desk.start("?"))
    context = await desk.step(Reason(), context, llm=llm)
    assert (context.trace[-1].outcome, llm.asked) == ("skipped", [])


async def test_no_follow_up_query_ends_it(desk: refdesk.Desk) -> None:
    llm = ScriptedLLM([missing("  ")])
    context = await desk.step(Reason(), await found(desk), llm=llm)
    assert (context.reason_iterations, len(llm.asked), context.warnings) == (0, 1, ())


async def test_no_iteration_asks_nothing(desk: refdesk.Desk) -> None:
    llm = ScriptedLLM([ENOUGH])
    await desk.step(Reason(max_iterations=0), await found(desk), llm=llm)
    assert llm.asked == []


async def test_the_model_is_asked_the_question_as_it_stands_alone(desk: refdesk.Desk) -> None:
    llm = ScriptedLLM([ENOUGH])
    context = (await found(desk)).evolve(rewritten_query="days of leave of part-timers")
    await desk.step(Reason(), context, llm=llm)
    assert "Question: days of leave of part-timers" in llm.asked[0][-1].text


async def test_a_prompt_of_ones_own_gets_the_hits_in_the_order_shown(desk: refdesk.Desk) -> None:
    llm = ScriptedLLM([missing("coffee machine kitchen"), ENOUGH])
    step = Reason(prompt=lambda question, hits: f"{question} {[hit.source_id for hit in hits]}")
    await desk.step(step, await found(desk), llm=llm)
    assert [asked[0].text.split("? ")[1] for asked in llm.asked] == ["['leave']", "['kitchen', 'leave']"]


def failing(question: str, hits: Any) -> str:
    if len(hits) > 1:
        raise ValueError("broken")
    return "coffee machine kitchen"


def nonsense(question: str, hits: Any) -> Any:
    return ["coffee", "machine"] if len(hits) > 1 else "coffee machine kitchen"


@pytest.mark.parametrize("reasoner", [failing, nonsense])
async def test_a_later_failure_leaves_what_was_found_unless_it_stops(
    desk: refdesk.Desk, reasoner: Any
) -> None:
    before = await found(desk)
    context = await desk.step(Reason(reasoner=reasoner), before)
    assert {hit.source_id for hit in context.hits} == {"leave", "kitchen"}
    assert "what was found before stays" in context.warnings[0]
    assert [step.outcome for step in context.trace if step.kind == "round"] == ["done", "stopped"]
    stopped = await desk.step(Reason(reasoner=reasoner, on_error="stop"), before)
    assert isinstance(stopped.error, StepError)


async def test_a_later_search_that_fails_leaves_what_was_found(desk: refdesk.Desk) -> None:
    def own(query: str, collection: str) -> list[dict[str, Any]]:
        if query == "third":
            raise ConnectionError("refused")
        return [{"id": query, "text": query}]

    context = await desk.step(Search(searcher=own), await desk.start("first"))
    llm = ScriptedLLM([missing("second"), missing("third")])
    context = await desk.step(Reason(max_iterations=5), context, llm=llm)
    assert {hit.chunk.chunk_id for hit in context.hits} == {"first", "second"}
    assert "refused" in context.warnings[0]
    assert context.queries_tried == ("first", "second")


async def test_a_wrong_setting_is_never_passed_over(desk: refdesk.Desk) -> None:
    def later(question: str, hits: Any) -> str:
        if len(hits) > 1:
            raise SettingsError("The setting is wrong.")
        return "coffee machine kitchen"

    context = await desk.step(Reason(reasoner=later), await found(desk))
    assert isinstance(context.error, SettingsError)


@pytest.mark.parametrize("value", [5, 0, False, [], ["a"], {"query": "x"}, True, "x" * 5000, "???"])
async def test_nonsense_of_a_reasoner_leaves_the_results(desk: refdesk.Desk, value: Any) -> None:
    before = await found(desk)
    context = await desk.step(Reason(reasoner=lambda question, hits: value), before)
    assert context.trace[-1].outcome == "continued"
    assert (context.results, context.reason_iterations) == (before.results, 0)


async def test_a_reasoner_that_takes_too_long(desk: refdesk.Desk) -> None:
    async def sleeping(question: str, hits: Any) -> str:
        await anyio.sleep_forever()
        return ""

    before = await found(desk)
    context = await desk.step(Reason(reasoner=sleeping, timeout=0.01), before)
    assert context.results == before.results
    assert "took longer" in context.warnings[0]


def test_it_needs_a_search_before_it_and_a_model() -> None:
    [problem] = Pipeline((Reason(), Answer())).problems()
    assert "a step that searches" in problem.reason
    [problem] = Pipeline((Search(), Reason(), Answer())).problems(llm=False)
    assert problem.step == "reason"
    assert not Pipeline((Search(), Reason(reasoner=failing), Answer())).problems(llm=False)
