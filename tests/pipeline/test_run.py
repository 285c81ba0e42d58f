"""How steps run: policies, streaming, events, limits, notes."""

import asyncio
from typing import Any

import anyio
import pytest
from tests.pipeline.parts import CONTEXT, Do, Find, Polish, Say, a_run, finished, shown, told

from refdesk.context import Answer, Context, Usage
from refdesk.errors import LimitReached, LLMError, PipelineError, SettingsError, StepError
from refdesk.events import Event, StepFinished, StepStarted
from refdesk.llm import Message
from refdesk.llm.complete import complete
from refdesk.pipeline import Pipeline, Repeat, Run, Step, When
from refdesk.testing.llm import ScriptedLLM

pytestmark = pytest.mark.anyio


def fail(context: Context, run: Run) -> Context:
    run.measure(tried=1)
    raise LLMError("The model is down.")


def write(context: Context, run: Run) -> Context:
    return context.evolve(rewritten_query="days of leave")


async def sleep(context: Context, run: Run) -> Context:
    await anyio.sleep(30)
    return context


async def test_events_of_a_run_in_order() -> None:
    context, events = await finished(Do(work_of=write), Say(), id_of_run())
    assert told(events) == [
        "do started",
        "do done",
        "say started",
        "token Thirty ",
        "token days.",
        "say done",
        "last started",
        "last done",
    ]
    assert str(context.answer) == "Thirty days." == shown(events)
    assert [step.path for step in context.trace] == [("do",), ("say",), ("last",)]


def id_of_run() -> Step:
    return Do(id="last")


async def test_stop_ends_the_run_and_keeps_the_error() -> None:
    context, events = await finished(Do(work_of=fail), Say())
    assert isinstance(context.error, LLMError)
    assert context.answer is None
    assert told(events) == ["do started", "do stopped"]
    assert context.trace[0].error == "The model is down."
    assert context.trace[0].measures == {"tried": 1}
    with pytest.raises(LLMError):
        context.raise_for_error()


@pytest.mark.parametrize("policy", ["continue", "fallback"])
async def test_continue_notes_a_warning_and_goes_on(policy: Any) -> None:
    context, events = await finished(Do(work_of=fail, on_error=policy), Say())
    assert context.error is None
    assert context.warnings == ("do: The model is down.",)
    assert context.trace[0].outcome == "continued"
    assert "do continued" in told(events)
    assert str(context.answer) == "Thirty days."


async def test_foreign_errors_become_errors_of_the_step_with_their_cause() -> None:
    context, _ = await finished(Do(work_of=lambda context, run: 1 / 0), Say())
    assert isinstance(context.error, StepError)
    assert context.error.step == "do"
    assert isinstance(context.error.__cause__, ZeroDivisionError)


@pytest.mark.parametrize("policy", ["stop", "continue"])
async def test_a_step_that_takes_too_long_has_failed(policy: Any) -> None:
    context, _ = await finished(Do(work_of=sleep, timeout=0.01, on_error=policy), Say())
    if policy == "stop":
        assert isinstance(context.error, LimitReached)
        assert context.error.kind == "step_seconds"
    else:
        assert context.warnings == (
            "do: The step 'do' took longer than 0.01 seconds. Allow more time, or use a faster model.",
        )
        assert context.answer is not None


async def test_the_end_of_the_time_is_never_passed_over() -> None:
    context, _ = await finished(Do(work_of=sleep, on_error="continue"), Say(), deadline=0.01)
    assert isinstance(context.error, LimitReached)
    assert context.error.kind == "run_seconds"
    assert context.answer is None


async def test_a_timeout_of_the_work_itself_is_not_ours() -> None:
    def late(context: Context, run: Run) -> Context:
        raise TimeoutError("socket")

    context, _ = await finished(Do(work_of=late, timeout=20), Say())
    assert isinstance(context.error, StepError)
    assert "TimeoutError: socket" in str(context.error)


async def test_a_wrong_setting_is_never_passed_over() -> None:
    def unset(context: Context, run: Run) -> Context:
        raise SettingsError("No such reranker.")

    context, _ = await finished(Do(work_of=unset, on_error="continue"), Say())
    assert isinstance(context.error, SettingsError)


@pytest.mark.parametrize("after", [1, 2])
async def test_a_failure_after_text_was_shown_is_never_passed_over(after: int) -> None:
    context, events = await finished(Say(fails_after=after, on_error="continue"), Do())
    assert isinstance(context.error, StepError)
    assert shown(events) == "".join(("Thirty ", "days.")[:after])


async def test_a_failure_before_any_text_may_be_passed_over() -> None:
    context, events = await finished(Say(), Say(fails_after=0, on_error="continue"))
    assert context.error is None
    assert shown(events) == "Thirty days." == str(context.answer)


async def test_what_a_gate_may_replace_is_not_shown() -> None:
    context, events = await finished(Say(), Polish())
    assert shown(events) == "Polished." == str(context.answer)
    assert told(events)[-2:] == ["polish done", "token Polished."]


async def test_only_the_last_answer_streams() -> None:
    context, events = await finished(Say(pieces=("First.",)), Say(pieces=("Second", ".")))
    assert shown(events) == "Second." == str(context.answer)


async def test_a_gate_that_fails_and_is_passed_over_shows_the_answer_as_it_was() -> None:
    def broken(context: Context, run: Run) -> Context:
        raise LLMError("down")

    class Gate(Polish):
        async def __call__(self, context: Context, run: Run) -> Context:
            return broken(context, run)

    context, events = await finished(Say(), Gate(on_error="continue"))
    assert shown(events) == "Thirty days." == str(context.answer)


async def test_blocks_stream_where_they_are_last() -> None:
    _, events = await finished(When(condition="hits<3", steps=(Say(),), otherwise=(Say(pieces=("No",)),)))
    assert told(events)[:4] == ["when started", "when/say started", "token Thirty ", "token days."]


async def test_a_condition_that_fails_shows_what_was_there() -> None:
    context, events = await finished(Say(), When(condition="hits>3", steps=(Polish(),)))
    assert shown(events) == "Thirty days." == str(context.answer)
    assert context.trace[-1].measures == {"held": False}


async def test_nothing_in_a_repeat_is_shown_before_it_ends() -> None:
    _, events = await finished(Repeat(steps=(Say(),), until="hits>3", times=3))
    assert shown(events) == "Thirty days."
    assert told(events)[-2:] == ["repeat done", "token Thirty days."]
    assert told(events).count("repeat/2/say done") == 1


async def test_a_repeat_ends_when_its_condition_holds() -> None:
    context, _ = await finished(Repeat(steps=(Say(),), until=lambda context: True, times=3))
    assert context.trace[-1].measures == {"rounds": 1}


async def test_what_inner_steps_did_stays_where_a_later_one_failed() -> None:
    inner = When(condition="hits=0", steps=(Do(work_of=write), Do(work_of=fail)), on_error="continue")
    context, _ = await finished(inner, Say())
    assert context.rewritten_query == "days of leave"
    assert context.error is None
    assert context.warnings == ("when: The model is down.",)


async def test_a_step_may_change_only_what_it_declares() -> None:
    context, _ = await finished(Do(work_of=lambda context, run: context.evolve(zone="ok")), Say())
    assert isinstance(context.error, StepError)
    assert "changed zone" in str(context.error)


async def test_a_step_returns_a_context() -> None:
    context, _ = await finished(Do(work_of=lambda context, run: "text"), Say())
    assert "returned str" in str(context.error)


async def test_text_that_was_shown_does_not_change() -> None:
    class Rewriting(Do):
        writes = frozenset({"answer"})

    other = Answer(question="?", text="Other.")
    context, _ = await finished(Say(), Rewriting(work_of=lambda context, run: context.evolve(answer=other)))
    assert isinstance(context.error, StepError)
    assert "changed the text of the answer" in str(context.error)


async def test_skipped_steps_say_why() -> None:
    class Idle(Do):
        def skips(self, context: Context) -> str:
            return "nothing to do"

    context, events = await finished(Idle(work_of=fail), Say())
    assert context.trace[0].outcome == "skipped"
    assert context.trace[0].measures == {"reason": "nothing to do"}
    assert told(events)[:2] == ["idle started", "idle skipped"]


async def test_a_context_with_an_error_comes_back_as_it_is() -> None:
    failed = CONTEXT.evolve(error=LLMError("down"))
    assert await a_run().step(Say(), failed) is failed


async def test_the_same_step_twice_has_two_names() -> None:
    context, _ = await finished(Do(), Do(), Do(id="do"), Say())
    assert [step.path[0] for step in context.trace] == ["do", "do-2", "do-3", "say"]


async def test_usage_and_warnings_of_parts_count_once() -> None:
    async def ask(context: Context, run: Run) -> Context:
        async with run.part("attempt") as part:
            await complete(part.model(), (Message("user", "Well?"),))
            part.warn("thin ice")
        return context

    rounds = Repeat(steps=(Do(work_of=ask),), until="hits=0")
    context, events = await finished(rounds, Say(), model=ScriptedLLM(["x"]))
    assert context.usage.requests == 1
    assert len(context.warnings) == 1
    assert [step.path for step in context.trace][:3] == [
        ("repeat", "1", "do", "attempt"),
        ("repeat", "1", "do"),
        ("repeat", "1"),
    ]
    usages = [event.usage for event in events if isinstance(event, StepFinished)]
    assert max(usage.requests for usage in usages) == 1
    assert isinstance(context.usage, Usage)


async def test_every_step_that_started_ends_when_the_run_is_cancelled() -> None:
    events: list[Event] = []
    pipeline = Pipeline((When(condition="hits=0", steps=(Do(work_of=sleep, on_error="continue"),)), Say()))
    with anyio.move_on_after(0.02) as scope:
        await pipeline.run(CONTEXT, a_run((events.append,)))
    assert scope.cancelled_caught
    assert told(events) == ["when started", "when/do started", "when/do cancelled", "when cancelled"]


async def test_runs_at_once_do_not_mix() -> None:
    async def own(context: Context, run: Run) -> Context:
        await asyncio.sleep(0)
        run.warn(context.question)
        run.measure(question=context.question)
        return context.evolve(rewritten_query=context.question)

    pipeline = Do(work_of=own) | Say()
    seen: dict[str, list[Event]] = {}

    async def one(name: str) -> Context:
        events = seen.setdefault(name, [])
        return await pipeline.run(Context(question=name), a_run((events.append,)))

    contexts = await asyncio.gather(*(one(f"question {number}") for number in range(200)))
    for number, context in enumerate(contexts):
        name = f"question {number}"
        assert context.rewritten_query == name
        assert context.warnings == (f"do: {name}",)
        assert len({event.run_id for event in seen[name] if isinstance(event, StepStarted)}) == 1
        assert len(seen[name]) == 8
    everything = {
        event.run_id for events in seen.values() for event in events if isinstance(event, StepStarted)
    }
    assert len(everything) == 200


async def test_nothing_runs_where_a_pipeline_is_invalid() -> None:
    ran: list[str] = []

    def note(context: Context, run: Run) -> Context:
        ran.append("ran")
        return context

    with pytest.raises(PipelineError, match="No step answers"):
        await Pipeline((Do(work_of=note), Find())).run(CONTEXT, a_run())
    assert ran == []


async def test_what_is_noted_hides_nothing_and_steers_nothing() -> None:
    run = a_run()
    run.warn("The model wrote \x1b[2J\u202etxt.exe\U000e0041.")
    run.measure(reason="a\x1b]8;;\x07b\u200b", queries=("c\x9b", "d"), hits=3, none=None)
    assert run.notes.warnings == ["run: The model wrote [2Jtxt.exe."]
    assert run.notes.measures == {"reason": "a]8;;b", "queries": ("c", "d"), "hits": 3, "none": None}
