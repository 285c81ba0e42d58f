"""Steps inside steps: what stays of their work when something fails, traces, usage, limits."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import anyio
import pytest
from tests.pipeline.parts import CONTEXT, Do, Find, Polish, Say, a_run, finished, shown, told

from refdesk.context import Context
from refdesk.errors import LimitReached, LLMError, SettingsError, StepError
from refdesk.events import Event, StepFailed
from refdesk.llm import Message
from refdesk.llm.complete import complete
from refdesk.pipeline import Kind, Pipeline, Repeat, Run, Step, When
from refdesk.testing.llm import ScriptedLLM

pytestmark = pytest.mark.anyio


async def ask(context: Context, run: Run) -> Context:
    """Ask the model of the run, and take its reply for the query."""
    return context.evolve(rewritten_query=await complete(run.model(), (Message("user", "Well?"),)))


async def ask_in_vain(context: Context, run: Run) -> Context:
    await complete(run.model(), (Message("user", "Well?"),))
    await anyio.sleep(30)
    return context


def fail(context: Context, run: Run) -> Context:
    raise ValueError("broken")


async def sleep(context: Context, run: Run) -> Context:
    await anyio.sleep(30)
    return context


def nonsense(context: Context, run: Run) -> Any:
    return {"answer": "text"}


def in_when(*steps: Step, **options: Any) -> Step:
    return When(condition="hits=0", steps=steps, **options)


def in_repeat(*steps: Step, **options: Any) -> Step:
    return Repeat(until="hits=0", steps=steps, **options)


BLOCKS = pytest.mark.parametrize("block", [in_when, in_repeat])


@BLOCKS
@pytest.mark.parametrize(
    ("work", "options", "said"),
    [
        (fail, {}, "ValueError: broken"),
        (sleep, {"timeout": 0.01}, "took longer than 0.01 seconds"),
        (nonsense, {}, "returned dict; a step returns a context"),
    ],
)
@pytest.mark.parametrize("policy", ["stop", "continue", "fallback"])
async def test_policies_of_inner_steps(
    block: Callable[..., Step], work: Any, options: dict[str, Any], said: str, policy: Any
) -> None:
    context, events = await finished(block(Do(work_of=work, on_error=policy, **options)), Say())
    [inner] = [event for event in events if isinstance(event, StepFailed) and event.path[-1] == "do"]
    assert said in str(inner.error)
    if policy == "stop":
        assert said in str(context.error)
        assert context.answer is None
    else:
        assert context.error is None
        assert [said in warning for warning in context.warnings] == [True]
        assert shown(events) == str(context.answer) == "Thirty days."


@BLOCKS
async def test_a_block_that_continues_keeps_what_was_done(block: Callable[..., Step]) -> None:
    inner = block(Do(work_of=ask), Do(work_of=fail), on_error="continue")
    context, _ = await finished(inner, Say(), model=ScriptedLLM(["leave"]))
    assert context.error is None
    assert context.rewritten_query == "leave"
    assert context.usage.requests == 1
    assert len(context.warnings) == 1


async def test_a_block_that_takes_too_long_keeps_what_was_done() -> None:
    block = in_when(Do(work_of=ask), Do(work_of=ask_in_vain), timeout=0.05, on_error="continue")
    context, events = await finished(block, Say(), model=ScriptedLLM(["leave"]))
    assert context.rewritten_query == "leave"
    assert context.usage.requests == 2
    assert [(step.path[-1], step.outcome) for step in context.trace] == [
        ("do", "done"),
        ("do-2", "cancelled"),
        ("when", "continued"),
        ("say", "done"),
    ]
    assert "when/do-2 cancelled" in told(events)


async def test_a_block_whose_condition_fails_keeps_what_was_done() -> None:
    def broken(context: Context) -> bool:
        raise KeyError("topic")

    block = Repeat(steps=(Do(work_of=ask),), until=broken, on_error="continue")
    context, _ = await finished(block, Say(), model=ScriptedLLM(["leave"]))
    assert context.rewritten_query == "leave"
    assert context.usage.requests == 1
    assert context.warnings == ("repeat: The step 'repeat' failed: KeyError: 'topic'.",)
    assert [step.path for step in context.trace] == [
        ("repeat", "1", "do"),
        ("repeat", "1"),
        ("repeat",),
        ("say",),
    ]


@dataclass(frozen=True, kw_only=True)
class Narrow(Step):
    """Run a step inside, and then fail; declare less than the inner step changes."""

    kind: ClassVar[Kind] = "query_optimizer"
    leaves: ClassVar[str] = "The query as it was."

    inner: Step
    """The step."""

    async def __call__(self, context: Context, run: Run) -> Context:
        await run.step(self.inner, context)
        raise ValueError("too late")


async def test_what_a_step_may_not_write_it_does_not_leave_behind() -> None:
    step = Narrow(inner=Do(work_of=ask), on_error="continue")
    context, _ = await finished(step, Say(), model=ScriptedLLM(["leave"]))
    assert context.rewritten_query == ""
    assert context.usage.requests == 1
    assert [step.path for step in context.trace] == [("narrow", "do"), ("narrow",), ("say",)]


async def test_traces_of_rounds_are_in_order() -> None:
    async def attempts(context: Context, run: Run) -> Context:
        for name in ("first", "second"):
            async with run.part(name) as part:
                await complete(part.model(), (Message("user", "Well?"),))
                part.warn(name)
        return context

    rounds = Repeat(steps=(Do(work_of=attempts), Find()), until="hits>0")
    context, _ = await finished(rounds, Say(), model=ScriptedLLM(["x"]))
    assert ["/".join(step.path) for step in context.trace] == [
        "repeat/1/do/first",
        "repeat/1/do/second",
        "repeat/1/do",
        "repeat/1/find",
        "repeat/1",
        "repeat/2/do/first",
        "repeat/2/do/second",
        "repeat/2/do",
        "repeat/2/find",
        "repeat/2",
        "repeat",
        "say",
    ]
    assert context.usage.requests == 4
    assert context.warnings == ("first: first", "second: second") * 2
    ends = [step.started + step.seconds for step in context.trace]
    assert ends == sorted(ends)


async def test_the_usage_of_a_part_that_fails_counts() -> None:
    async def attempt(context: Context, run: Run) -> Context:
        async with run.part("attempt") as part:
            await complete(part.model(), (Message("user", "Well?"),))
            raise ValueError("broken")

    context, events = await finished(
        Do(work_of=attempt, on_error="continue"), Say(), model=ScriptedLLM(["x"])
    )
    assert context.usage.requests == 1
    assert [(step.path, step.outcome) for step in context.trace][:2] == [
        (("do", "attempt"), "stopped"),
        (("do",), "continued"),
    ]
    assert told(events)[:4] == ["do started", "do/attempt started", "do/attempt stopped", "do continued"]


@BLOCKS
async def test_the_end_of_the_time_inside_a_block(block: Callable[..., Step]) -> None:
    inner = block(Do(work_of=sleep, on_error="continue"), on_error="continue")
    context, events = await finished(inner, Say(), deadline=0.02)
    assert isinstance(context.error, LimitReached)
    assert context.error.kind == "run_seconds"
    assert context.answer is None
    lines = told(events)
    assert sum(line.endswith("started") for line in lines) == sum("started" not in line for line in lines)


async def test_no_step_begins_after_the_end_of_the_time() -> None:
    began: list[str] = []

    def note(context: Context, run: Run) -> Context:
        began.append("began")
        return context

    context, _ = await finished(Do(work_of=note, on_error="continue"), Say(), deadline=-1.0)
    assert began == []
    assert isinstance(context.error, LimitReached)
    assert context.error.limit == -1.0


async def test_a_limit_of_the_step_that_ends_before_the_run_is_the_steps_own() -> None:
    context, _ = await finished(Do(work_of=sleep, timeout=0.01, on_error="continue"), Say(), deadline=30.0)
    assert context.error is None
    assert "'do' took longer than 0.01 seconds" in context.warnings[0]


async def test_a_failure_inside_a_block_after_its_text_was_shown() -> None:
    block = in_when(Say(), Do(work_of=fail), on_error="continue")
    context, events = await finished(block, Do())
    assert isinstance(context.error, StepError)
    assert shown(events) == "Thirty days."
    assert told(events)[-1] == "when stopped"


async def test_a_wrong_setting_inside_a_block() -> None:
    def unset(context: Context, run: Run) -> Context:
        raise SettingsError("No such reranker.")

    context, _ = await finished(in_when(Do(work_of=unset, on_error="continue"), on_error="continue"), Say())
    assert isinstance(context.error, SettingsError)


async def test_a_block_in_a_block_streams_where_both_are_last() -> None:
    _, events = await finished(in_when(Do(), in_when(Say())), Do())
    assert told(events)[3:7] == [
        "when/when started",
        "when/when/say started",
        "token Thirty ",
        "token days.",
    ]
    _, events = await finished(in_when(in_when(Say()), Polish()))
    assert shown(events) == "Polished."


async def test_errors_of_a_task_group_keep_their_kind() -> None:
    async def together(context: Context, run: Run) -> Context:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self_destruct)
        return context

    async def self_destruct() -> None:
        raise LLMError("down")

    context, _ = await finished(Do(work_of=together), Say())
    assert isinstance(context.error, LLMError)


async def test_cancelled_parts_end() -> None:
    async def attempt(context: Context, run: Run) -> Context:
        async with run.part("attempt"):
            await anyio.sleep(30)
        return context

    events: list[Event] = []
    with anyio.move_on_after(0.02) as scope:
        await Pipeline((in_repeat(Do(work_of=attempt)), Say())).run(CONTEXT, a_run((events.append,)))
    assert scope.cancelled_caught
    assert told(events)[-4:] == [
        "repeat/1/do/attempt cancelled",
        "repeat/1/do cancelled",
        "repeat/1 cancelled",
        "repeat cancelled",
    ]


async def test_parts_at_the_same_time_have_names_of_their_own() -> None:
    async def attempts(context: Context, run: Run) -> Context:
        async def attempt(question: str) -> None:
            async with run.part("attempt") as part:
                await anyio.lowlevel.checkpoint()
                part.measure(question=question)

        async with anyio.create_task_group() as tasks:
            for question in ("a", "b", "c"):
                tasks.start_soon(attempt, question)
        return context

    context, _ = await finished(Do(work_of=attempts), Say())
    assert {step.path[-1]: step.measures for step in context.trace[:3]} == {
        "attempt": {"question": "a"},
        "attempt-2": {"question": "b"},
        "attempt-3": {"question": "c"},
    }
