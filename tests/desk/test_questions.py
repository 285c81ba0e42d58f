"""Asking through pipelines: what a call gives to a run, and what comes back."""

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Any, cast

import anyio
import pytest

import refdesk
from refdesk.context import Turn
from refdesk.errors import InputError, LimitReached, LLMError, NotFound, PipelineError, StepError
from refdesk.events import Done, Event, RunFinished, StepFailed, StepFinished, Token
from refdesk.llm import DEFAULTS, Message, Options
from refdesk.pipeline import Step
from refdesk.steps import Answer, Cite, Rerank, Rewrite, Search, Select, When
from refdesk.testing import HashingEmbedder
from refdesk.testing.llm import ScriptedLLM

pytestmark = pytest.mark.anyio

STEPS = ("recall", "condense", "search", "rerank", "answer", "cite", "ground", "remember")
"""Of the preset `default`."""

QUESTION = "How many days of leave do employees get per year?"


async def test_a_pipeline_may_be_given_in_any_form(desk: refdesk.Desk, tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    file.write_text("version: 1\nsteps: [search, answer]\n", "utf-8")
    for pipeline in (Search() | Answer(), str(file), file, "simple", None):
        assert "30 days" in (await desk.ask(QUESTION, pipeline=pipeline)).text


async def test_nothing_runs_where_it_is_wrong(desk: refdesk.Desk) -> None:
    with pytest.raises(PipelineError, match="No step answers"):
        await desk.run(Search(), QUESTION)
    with pytest.raises(PipelineError, match="needs a language model"):
        await desk.ask(QUESTION, pipeline=Rewrite() | Search() | Answer())
    with pytest.raises(NotFound, match="Did you mean 'modular'"):
        await desk.ask(QUESTION, pipeline="modulra")


async def test_run_returns_the_error_and_ask_raises_it(desk: refdesk.Desk) -> None:
    pipeline = Search() | Answer()
    context = await desk.run(pipeline, QUESTION, llm=ScriptedLLM([LLMError("down")]))
    assert isinstance(context.error, LLMError)
    assert context.hits
    with pytest.raises(LLMError):
        await desk.ask(QUESTION, pipeline=pipeline, llm=ScriptedLLM([LLMError("down")]))
    with pytest.raises(LLMError):
        [
            event
            async for event in desk.stream(QUESTION, pipeline=pipeline, llm=ScriptedLLM([LLMError("down")]))
        ]


async def test_a_run_goes_on_from_a_context(desk: refdesk.Desk) -> None:
    context = await desk.step(Rewrite(rewriter=str.upper), await desk.start(QUESTION))
    context = await desk.run(Search() | Rerank() | Answer() | Cite(), context)
    assert [step.path[0] for step in context.trace] == ["rewrite", "search", "rerank", "answer", "cite"]
    assert context.queries_tried == (QUESTION.upper(),)


async def test_options_of_a_call(desk: refdesk.Desk) -> None:
    await desk.ingest_text("Pumps have a warranty.", source_id="pump", collection="pumps")
    everything = await desk.run("simple", "pump warranty leave", collections="all", top_k=2, mode="keyword")
    assert everything.collections == ("default", "pumps")
    assert len(everything.evidence) == 2
    assert {one.mode for one in everything.results} == {"keyword"}
    nothing = await desk.run("simple", QUESTION, collections=[])
    assert nothing.answer is not None
    assert (nothing.results, nothing.answer.refusal) == ((), "nothing_found")


@pytest.mark.parametrize(
    "turn",
    [Turn("user", "Hi"), ("user", "Hi"), {"role": "user", "content": "Hi"}, {"role": "user", "text": "Hi"}],
)
async def test_forms_of_a_turn(desk: refdesk.Desk, turn: Any) -> None:
    assert (await desk.start(QUESTION, history=[turn])).history == (Turn("user", "Hi"),)


@pytest.mark.parametrize("turn", ["Hi", ("system", "x"), {"role": "user"}, ("user", 5), 7, None])
async def test_what_is_no_turn(desk: refdesk.Desk, turn: Any) -> None:
    with pytest.raises(InputError, match="a turn has a role"):
        await desk.start(QUESTION, history=[turn])


async def test_the_time_of_a_question_is_limited(desk: refdesk.Desk) -> None:
    async def slow(prompt: str) -> str:
        await anyio.sleep(60)
        return "too late"

    with pytest.raises(LimitReached) as raised:
        await desk.ask(QUESTION, llm=slow, seconds=0.05)
    assert raised.value.kind == "run_seconds"


@pytest.mark.parametrize("kind", ["async", "thread"])
async def test_leaving_a_stream_ends_every_step(tmp_path: Path, handbook: Path, kind: str) -> None:
    """Also where a model waits in a thread, which nothing can stop, the reader is let go."""
    told: list[Event] = []
    left = anyio.Event()

    class Slow:
        name = "slow"

        async def stream(
            self, messages: tuple[Message, ...], options: Options = DEFAULTS
        ) -> AsyncGenerator[str, None]:
            yield "Leave is "
            await anyio.sleep(60)

    def sleeping(prompt: str) -> str:
        anyio.from_thread.run_sync(left.set)
        time.sleep(1.5)
        return "late"

    async with refdesk.aopen(
        tmp_path / "library", embedder=HashingEmbedder(), listeners=[told.append]
    ) as desk:
        await desk.ingest(handbook)
        llm: Any = Slow() if kind == "async" else sleeping
        async with aclosing(desk.stream(QUESTION, llm=llm)) as events:
            async for event in events:
                if kind == "thread" and getattr(event, "path", ()) == ("answer",):
                    await left.wait()
                    break
                if isinstance(event, Token):
                    break
    ends = [event for event in told if isinstance(event, StepFinished | StepFailed)]
    assert [(event.path[0], event.outcome) for event in ends][-1] == ("answer", "cancelled")
    assert isinstance(told[-1], RunFinished)
    assert told[-1].outcome == "cancelled"


async def test_the_last_event_has_answer_and_context(desk: refdesk.Desk) -> None:
    events = [event async for event in desk.stream(QUESTION)]
    done = events[-1]
    assert isinstance(done, Done)
    assert done.context is not None
    assert done.context.citations == done.answer.citations
    assert set(done.answer.timings) == {*STEPS, "total"}


async def test_steps_of_ones_own_can_be_named_in_files(tmp_path: Path, handbook: Path) -> None:
    class Shout(Step):
        """Search for capital letters."""

        kind = "query_optimizer"
        writes = frozenset({"rewritten_query"})

        async def __call__(self, context: refdesk.Context, run: refdesk.Run) -> refdesk.Context:
            return context.evolve(rewritten_query=context.question.upper())

    file = tmp_path / "own.yaml"
    file.write_text("version: 1\nsteps: [shout, {rewrite: {rewriter: trim}}, search, answer]\n", "utf-8")
    async with refdesk.aopen(
        tmp_path / "library",
        embedder=HashingEmbedder(),
        steps=[Shout],
        workers={"trim": lambda question: question.rstrip("?")},
    ) as desk:
        await desk.ingest(handbook)
        context = await desk.run(file, "leave days?")
    assert context.queries_tried == ("LEAVE DAYS",)


async def test_a_run_without_an_answer_is_an_error(desk: refdesk.Desk) -> None:
    pipeline = Search() | When(condition="hits>99", steps=(Answer(),))
    assert (await desk.run(pipeline, QUESTION)).answer is None
    with pytest.raises(StepError, match="No step answered"):
        await desk.ask(QUESTION, pipeline=pipeline)


@pytest.mark.parametrize("given", [5, Search, {"steps": []}])
async def test_what_is_no_pipeline(desk: refdesk.Desk, given: Any) -> None:
    with pytest.raises(InputError, match="is no pipeline"):
        await desk.run(given, QUESTION)


async def test_things_in_the_wrong_place(desk: refdesk.Desk) -> None:
    anything: Any = Search()
    with pytest.raises(InputError, match="where the question belongs"):
        await desk.run("simple", anything)
    with pytest.raises(InputError, match="is no context"):
        await desk.step(Search(), cast(Any, QUESTION))
    with pytest.raises(InputError, match="is no step"):
        await desk.step(cast(Any, Search() | Answer()), await desk.start(QUESTION))


async def test_what_a_call_names_is_all_that_can_be_chosen(desk: refdesk.Desk, tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("# Secret\n\nThe vault opens at nine.", "utf-8")
    await desk.ingest(tmp_path / "other.md", collection="vault")
    offered: list[tuple[str, ...]] = []

    def choose(question: str, collections: Any) -> tuple[str, ...]:
        offered.append(tuple(one.name for one in collections))
        return offered[-1]

    pipeline = Select(selector=choose) | Search()
    everything = await desk.run(pipeline | Answer(), QUESTION)
    named = await desk.run(pipeline | Answer(), QUESTION, collections="default")
    assert "vault" in offered[0]
    assert everything.collections == offered[0]
    assert offered[1] == named.collections == ("default",)
