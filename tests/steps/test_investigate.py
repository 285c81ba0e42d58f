"""`investigate`: every way in which a loop ends, over HTTP."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any

import anyio
import pytest
from tests.steps.loops import (
    ANSWER,
    QUESTION,
    SAID,
    answer,
    calls,
    give_up,
    looped,
    model_at,
    results,
    says,
    search,
    told,
)

import refdesk
from refdesk.errors import LimitReached, LLMError, MissingExtra, ModelError, PipelineError
from refdesk.events import Event, LoopFinished, ToolFinished, ToolStarted
from refdesk.llm import ToolCall
from refdesk.steps import Cite, Ground, Loop, Review, Search
from refdesk.testing.chat_server import ServerReply, chat_server

pytestmark = pytest.mark.anyio


async def test_it_searches_and_answers_with_citations(desk: refdesk.Desk) -> None:
    context, server = await looped(
        desk, calls(search()), calls(answer()), loop=Loop() | Cite() | Ground(grounder="lexical")
    )
    assert (context.error, context.terminated_by) == (None, "answered")
    assert context.answer is not None
    assert context.answer.text == SAID
    assert [one.source_id for one in context.citations] == ["leave"]
    assert context.grounding is not None
    assert context.grounding.score == 1.0
    assert [(use.tool, use.iteration, use.outcome) for use in context.tool_history] == [
        ("search", 1, "done"),
        ("answer", 2, "done"),
    ]
    assert context.usage.requests == len(server.requests) == 2
    assert (context.usage.input_tokens, context.usage.output_tokens) == (200, 20)
    assert context.hits[0].source_id == "leave"
    assert context.queries_tried == ("days of leave",)


async def test_full_texts_are_shown_with_numbers_that_stay(desk: refdesk.Desk) -> None:
    _, server = await looped(
        desk, calls(search(limit=1)), calls(search("coffee machine", limit=2)), calls(answer())
    )
    [(_, first)] = results(server, 1)
    [(_, second)] = results(server, 2)
    assert '<source number="1">' in first
    assert "> Employees get 30 days of leave per year. Unused leave expires in March." in first
    assert '<source number="2">' in second
    assert '<source number="1">' not in second


async def test_a_text_without_calls_is_the_answer(desk: refdesk.Desk) -> None:
    context, _ = await looped(desk, calls(search()), says(ANSWER))
    assert context.terminated_by == "answered"
    assert context.answer is not None
    assert context.answer.text == SAID


async def test_an_answer_before_any_search_is_sent_back_once_and_then_refused(desk: refdesk.Desk) -> None:
    context, server = await looped(desk, calls(answer("42")), calls(answer("42")))
    assert "Nothing has been searched yet" in results(server, 1)[0][1]
    assert context.answer is not None
    assert (context.terminated_by, context.answer.refusal) == ("answered", "nothing_found")
    assert "answered without having found anything" in context.warnings[0]
    assert [use.outcome for use in context.tool_history] == ["refused", "done"]
    context, server = await looped(desk, says("42"), says("42"))
    assert "Nothing has been searched yet" in told(server, 1)[-1]["content"]
    assert context.answer is not None
    assert context.answer.refusal == "nothing_found"


async def test_an_answer_may_rest_on_nothing_where_that_is_wanted(desk: refdesk.Desk) -> None:
    context, server = await looped(desk, says("42"), loop=Loop(search_first=False))
    assert len(server.requests) == 1
    assert context.answer is not None
    assert (context.answer.text, context.answer.refusal) == ("42", None)
    assert context.warnings == ("investigate: The answer cites no evidence.",)


async def test_an_answer_where_every_search_failed_or_found_nothing_is_refused(desk: refdesk.Desk) -> None:
    def down(query: str, options: Any) -> list[Any]:
        raise ConnectionError("refused")

    searches: tuple[Any, ...] = (down, lambda query, options: [])
    for search_fn in searches:
        loop = Loop(search_fn=search_fn)
        context, _ = await looped(desk, calls(search()), calls(answer("42")), calls(answer("42")), loop=loop)
        assert context.answer is not None
        assert context.answer.refusal == "nothing_found"


async def test_an_answer_that_cites_nothing_is_sent_back_once(desk: refdesk.Desk) -> None:
    context, server = await looped(desk, calls(search()), calls(answer("30 days.")), calls(answer()))
    assert "The answer cites nothing" in results(server, 2)[0][1]
    assert context.answer is not None
    assert context.answer.text == SAID
    context, _ = await looped(desk, calls(search()), says("30 days."), says("30 days."))
    assert context.answer is not None
    assert context.answer.text == "30 days."
    assert context.warnings == ("investigate: The answer cites no evidence.",)


async def test_any_failure_of_the_controller_is_told_as_the_loop_s(desk: refdesk.Desk) -> None:
    for error in (ModelError("There are no weights."), MissingExtra("There is no package.")):

        class Absent:
            name = "absent"

            async def stream(self, messages: Any, options: Any = None) -> AsyncGenerator[str, None]:
                raise error  # noqa: B023
                yield ""

        context = await desk.run(Loop(controller_llm=Absent()), QUESTION)
        assert context.error is error
        assert context.terminated_by == "error"


async def test_what_was_found_stays_when_the_run_s_time_is_over(desk: refdesk.Desk) -> None:
    async def deaf(messages: Any, facts: Any) -> str:
        with anyio.CancelScope(shield=True):  # the loop's own limit cannot end it in time
            await anyio.sleep(1.1)
        await anyio.sleep_forever()
        return ""

    context, _ = await looped(
        desk, calls(search()), loop=Loop(max_iterations=1, synthesizer=deaf, seconds=60, timeout=1.0)
    )
    assert isinstance(context.error, LimitReached)
    assert context.terminated_by == "budget"
    assert [use.tool for use in context.tool_history] == ["search"]
    assert context.hits


async def test_an_answer_beside_the_first_search_has_not_seen_it(desk: refdesk.Desk) -> None:
    context, server = await looped(desk, calls(search(), answer("42")), calls(answer()))
    assert [text for _, text in results(server, 1)][1].startswith("The answer was written before")
    assert context.answer is not None
    assert context.answer.text == SAID


async def test_giving_up_is_a_refusal_with_the_reason(desk: refdesk.Desk) -> None:
    loop = Loop(answer_llm=lambda prompt: "Prose.")
    context, _ = await looped(
        desk, calls(search()), calls(give_up("No [[1]] <b>word</b> of https://evil.example/x it.")), loop=loop
    )
    assert context.terminated_by == "gave_up"
    assert context.answer is not None
    assert (context.answer.refusal, context.answer.citations) == ("gave_up", ())
    assert context.answer.text.startswith("Could not answer: No")
    assert "evil" not in context.answer.text
    assert "Prose" not in context.answer.text


async def test_the_cap_ends_with_one_synthesis_without_tools(desk: refdesk.Desk) -> None:
    context, server = await looped(
        desk, calls(search()), calls(search("coffee")), says("30 days [[1]]."), loop=Loop(max_iterations=2)
    )
    assert context.terminated_by == "max_iterations"
    assert context.answer is not None
    assert context.answer.text == "30 days [1]."
    assert "tools" not in server.requests[2]
    assert all(message["role"] != "tool" for message in told(server, 2))
    assert "30 days of leave per year" in told(server, 2)[-1]["content"]
    assert context.tool_history[-1].tool == "synthesis"
    assert context.tool_history[-1].arguments == {"text": "30 days [1]."}
    assert context.warnings == ("investigate: The loop was ended: its 2 turns are used up.",)


async def test_the_cap_without_synthesis_or_without_passages(desk: refdesk.Desk) -> None:
    off = Loop(max_iterations=1, fallback_synthesis=False)
    context, server = await looped(desk, calls(search()), loop=off)
    assert context.answer is not None
    assert (context.answer.refusal, len(server.requests)) == ("unfinished", 1)
    none = Loop(max_iterations=1, search_fn=lambda query, options: [])
    context, server = await looped(desk, calls(search()), loop=none)
    assert context.answer is not None
    assert (context.answer.refusal, len(server.requests)) == ("nothing_found", 1)
    assert [use.tool for use in context.tool_history] == ["search"]


async def test_a_synthesis_that_fails_leaves_no_answer_and_the_run_returns(desk: refdesk.Desk) -> None:
    failing = ServerReply(status=400, error="no")
    context, _ = await looped(desk, calls(search()), failing, loop=Loop(max_iterations=1))
    assert (context.error, context.terminated_by) == (None, "max_iterations")
    assert context.answer is not None
    assert context.answer.refusal == "unfinished"
    assert "No answer could be made of what was found" in context.warnings[1]
    assert context.hits


async def test_a_controller_that_fails_is_an_error_and_what_was_found_stays(desk: refdesk.Desk) -> None:
    context, _ = await looped(desk, calls(search()), ServerReply(status=401, error="no key"))
    assert isinstance(context.error, LLMError)
    assert (context.terminated_by, context.answer) == ("error", None)
    assert [use.tool for use in context.tool_history] == ["search"]
    assert context.hits
    assert context.evidence
    assert await desk.ground(context) is context
    with pytest.raises(LLMError):
        context.raise_for_error()


async def test_a_controller_that_fails_can_be_passed_over(desk: refdesk.Desk) -> None:
    context, _ = await looped(desk, ServerReply(status=401, error="no key"), loop=Loop(on_error="continue"))
    assert (context.error, context.terminated_by) == (None, "error")
    assert "no key" in context.warnings[0]


async def test_a_server_that_breaks_off_in_the_midst_of_a_call(desk: refdesk.Desk) -> None:
    broken = replace(calls(search()), break_off=True)
    context, _ = await looped(desk, broken)
    assert context.terminated_by == "error"
    assert context.tool_history == ()


async def test_every_call_gets_a_result_in_order(desk: refdesk.Desk) -> None:
    wanted = [search("leave"), ("nope", {}), search("coffee"), search("Leave!"), ("search", {})]
    context, server = await looped(desk, calls(*wanted), calls(answer()))
    sent = told(server, 1)[-6]["tool_calls"]
    told_back = results(server, 1)
    assert [one["id"] for one in sent] == [one for one, _ in told_back]
    assert [one["function"]["name"] for one in sent] == [name for name, _ in wanted]
    assert [use.outcome for use in context.tool_history] == [
        "done",
        "error",
        "done",
        "repeated",
        "error",
        "done",
    ]
    assert "There is no tool 'nope'" in told_back[1][1]
    assert "You searched for this before; it found [[1]]" in told_back[3][1]
    assert "query" in told_back[4][1]


async def test_calls_behind_an_answer_are_not_run(desk: refdesk.Desk) -> None:
    context, _ = await looped(desk, calls(search()), calls(answer(), search("coffee"), give_up()))
    assert context.terminated_by == "answered"
    assert [use.outcome for use in context.tool_history] == ["done", "done", "refused", "refused"]


@pytest.mark.parametrize("arguments", ["{", '{"text": }', '{"txt": "x"}', '{"text": ""}', "[]", '{"text": 5'])
async def test_broken_arguments_are_told_and_the_loop_goes_on(desk: refdesk.Desk, arguments: str) -> None:
    broken = ServerReply(calls=[call_of("answer", arguments)])
    context, server = await looped(desk, calls(search()), broken, calls(answer()))
    assert context.terminated_by == "answered"
    assert [use.outcome for use in context.tool_history] == ["done", "error", "done"]
    assert results(server, 2)[0][1].startswith("answer: ")


def call_of(name: str, arguments: str) -> Any:
    return ToolCall(name=name, arguments=arguments, id="call-x")


async def test_the_collection_is_no_parameter_where_there_is_one(desk: refdesk.Desk) -> None:
    _, server = await looped(desk, calls(search()), calls(answer()))
    assert list(parameters(server)["properties"]) == ["query", "limit"]
    assert "Collections" not in told(server, 0)[0]["content"]


async def test_several_collections_are_an_enum_and_others_are_refused(desk: refdesk.Desk) -> None:
    context, server = await looped(
        desk,
        calls(search("warranty", collection="pumps"), search("leave", collection="secret"), search("leave")),
        calls(answer()),
        collections=["default", "pumps"],
    )
    assert enum_in(parameters(server)["properties"]["collection"]) == ["default", "pumps"]
    assert "Collections" in told(server, 0)[0]["content"]
    first, second, third = [text for _, text in results(server, 1)]
    assert "in pumps" in first
    assert "x200" in first
    assert "default" in second
    assert "Found 5 passages" in third
    assert [use.outcome for use in context.tool_history[:3]] == ["done", "error", "done"]


@pytest.mark.parametrize("name", ["all", ("default", "pumps"), "pumps", ("nowhere",)])
async def test_the_option_collection(desk: refdesk.Desk, name: Any) -> None:
    context, server = await looped(
        desk, calls(search("warranty")), calls(answer()), loop=Loop(collection=name)
    )
    if name == ("nowhere",):
        assert context.error is not None
        assert "nowhere" in str(context.error)
        assert server.requests == []
    else:
        assert context.collections == (("pumps",) if name == "pumps" else ("default", "pumps"))


async def test_all_means_what_the_call_named(desk: refdesk.Desk) -> None:
    loop = Loop(collection="all")
    context, _ = await looped(desk, calls(search("leave")), calls(answer()), loop=loop, collections=["pumps"])
    assert context.collections == ("pumps",)
    assert {hit.source_id for hit in context.hits} == {"x200", "x300"}


async def test_the_filter_of_the_call_holds(desk: refdesk.Desk) -> None:
    context, _ = await looped(desk, calls(search("leave")), calls(answer()), filters={"topic": 1})
    assert [hit.source_id for hit in context.hits] == ["kitchen"]


def parameters(server: Any) -> dict[str, Any]:
    [found] = [t for t in server.requests[0]["tools"] if t["function"]["name"] == "search"]
    schema: dict[str, Any] = found["function"]["parameters"]
    return schema


def enum_in(schema: dict[str, Any]) -> list[str]:
    options = [schema, *schema.get("anyOf", [])]
    return next(one["enum"] for one in options if "enum" in one)


async def test_the_events_of_a_loop(desk: refdesk.Desk) -> None:
    events: list[Event] = []
    context, _ = await looped(desk, calls(search()), calls(answer()), events=events)
    started = [event for event in events if isinstance(event, ToolStarted)]
    finished = [event for event in events if isinstance(event, ToolFinished)]
    [ended] = [event for event in events if isinstance(event, LoopFinished)]
    assert [(one.tool, one.iteration) for one in started] == [("search", 1), ("answer", 2)]
    assert tuple(one.use for one in finished) == context.tool_history == ended.tool_history
    assert (ended.terminated_by, ended.iterations, ended.path) == ("answered", 2, ("investigate",))
    assert "".join(e.text for e in events if isinstance(e, refdesk.Token)) == SAID


async def test_breaking_off_is_told_and_passes(desk: refdesk.Desk) -> None:
    events: list[Event] = []
    reached = anyio.Event()

    async def hang(query: str, options: Any) -> list[Any]:
        reached.set()
        await anyio.sleep_forever()
        return []

    with chat_server(calls(search())) as server, anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:

            async def work() -> None:
                await desk.run(Loop(search_fn=hang), QUESTION, llm=model_at(server), on_event=events.append)
                raise AssertionError("It went on.")

            tasks.start_soon(work)
            await reached.wait()
            tasks.cancel_scope.cancel()
    [ended] = [event for event in events if isinstance(event, LoopFinished)]
    assert ended.terminated_by == "cancelled"


async def test_a_review_replaces_what_a_loop_wrote_before_anybody_saw_it(desk: refdesk.Desk) -> None:
    events: list[Event] = []
    verdict = says('{"decision": "reject", "reason": "It is rude."}')
    loop = Loop() | Review()
    context, _ = await looped(desk, calls(search()), calls(answer()), verdict, loop=loop, events=events)
    assert context.answer is not None
    assert context.answer.refusal == "review_rejected"
    shown = "".join(event.text for event in events if isinstance(event, refdesk.Token))
    assert shown == context.answer.text


async def test_the_first_hits_of_a_search_before_it_are_shown(desk: refdesk.Desk) -> None:
    loop = Search(top_k=1) | Loop()
    context, server = await looped(desk, calls(answer()), loop=loop)
    asked = told(server, 0)[-1]["content"]
    assert asked.startswith("A first search found:")
    assert '<source number="1">' in asked
    assert context.answer is not None
    assert context.answer.text == SAID


async def test_what_was_said_before_is_shown(desk: refdesk.Desk) -> None:
    history = [("user", "I am new here."), ("assistant", "Welcome [1].")]
    _, server = await looped(desk, calls(search()), calls(answer()), history=history)
    said = [(message["role"], message["content"]) for message in told(server, 0)[1:]]
    assert said == [
        ("user", "I am new here."),
        ("assistant", "Welcome."),
        ("user", f"Question: {QUESTION}"),
    ]


async def test_a_skipped_retrieval_is_answered_without_a_loop(desk: refdesk.Desk) -> None:
    with chat_server(says("Hello!")) as server:
        context = (await desk.start("Hi")).evolve(skip_retrieval=True)
        context = await desk.step(Loop(), context, llm=model_at(server))
    assert context.answer is not None
    assert (context.answer.text, context.terminated_by) == ("Hello!", None)


async def test_it_needs_a_model(desk: refdesk.Desk) -> None:
    with pytest.raises(PipelineError, match="needs a language model"):
        await desk.run(Loop(), QUESTION)
