"""Listeners and measures: what they are told, and that they cannot break a run."""

import logging
from collections import Counter
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest
from tests.pipeline.parts import CONTEXT, Do, Find, Say, a_run, finished, shown, told

from refdesk.context import Answer, Context, Measure
from refdesk.errors import StepError
from refdesk.events import Event, RunFinished, StepFinished, StepStarted
from refdesk.pipeline import Kind, Pipeline, Run, Step

pytestmark = pytest.mark.anyio


async def test_a_listener_that_raises_is_told_no_more(caplog: pytest.LogCaptureFixture) -> None:
    told_to: list[str] = []
    events: list[Event] = []

    def broken(event: Event) -> None:
        told_to.append(type(event).__name__)
        if isinstance(event, StepStarted):
            raise ValueError("no disk")

    with caplog.at_level(logging.ERROR, "refdesk.pipeline"):
        context = await Pipeline((Do(), Say())).run(CONTEXT, a_run((broken, events.append)))
    assert context.error is None
    assert told_to == ["RunStarted", "StepStarted"]
    assert told(events)[-1] == "say done"
    assert caplog.text.count("is told no more") == 1
    assert "no disk" in caplog.text


async def test_a_listener_cannot_change_what_others_see() -> None:
    def spoil(event: Event) -> None:
        if isinstance(event, StepFinished):
            event.measures.clear()  # type: ignore[attr-defined]

    def measure(context: Context, run: Run) -> Context:
        run.measure(found=3)
        return context

    context = await Pipeline((Do(work_of=measure), Say())).run(CONTEXT, a_run((spoil,)))
    assert context.trace[0].measures == {"found": 3}


async def test_work_that_is_left_behind_cannot_change_a_trace() -> None:
    kept: list[Run] = []

    def keep(context: Context, run: Run) -> Context:
        kept.append(run)
        run.measure(found=3)
        return context

    context, events = await finished(Do(work_of=keep), Say())
    kept[0].measure(found=4)
    kept[0].warn("late")
    assert context.trace[0].measures == {"found": 3}
    assert context.trace[0].warnings == context.warnings == ()
    [ended] = [event for event in events if isinstance(event, StepFinished) and event.path == ("do",)]
    assert ended.measures == {"found": 3}


class Untold(Do):
    """Fail to say what it is given."""

    def facts(self, context: Context) -> dict[str, Measure]:
        raise KeyError("hits")


class Undecided(Do):
    """Fail to say whether there is anything to do."""

    def skips(self, context: Context) -> str:
        raise KeyError("hits")


async def test_facts_that_cannot_be_told_are_a_warning() -> None:
    context, events = await finished(Untold(), Say())
    assert context.error is None
    assert "What it is given could not be told" in context.warnings[0]
    assert told(events)[:2] == ["untold started", "untold done"]


@pytest.mark.parametrize("policy", ["stop", "continue"])
async def test_a_step_that_cannot_decide_has_failed(policy: Any) -> None:
    context, events = await finished(Undecided(on_error=policy), Say())
    assert (context.error is not None) is (policy == "stop")
    assert told(events)[:2] == [
        "undecided started",
        "undecided stopped" if policy == "stop" else "undecided continued",
    ]


async def test_event_and_trace_agree() -> None:
    context, events = await finished(Do(), Say())
    ended = [event.seconds for event in events if isinstance(event, StepFinished)]
    assert ended == [step.seconds for step in context.trace]


@dataclass(frozen=True, kw_only=True)
class Lying(Step):
    """Show one text and answer another."""

    kind: ClassVar[Kind] = "answer_generator"
    writes: ClassVar[frozenset[str]] = frozenset({"answer"})
    leaves: ClassVar[str] = "No answer."

    async def __call__(self, context: Context, run: Run) -> Context:
        run.token("Ten")
        return context.evolve(answer=Answer(question=context.question, text="Thirty"))


async def test_what_is_shown_has_to_be_the_answer() -> None:
    context, events = await finished(Lying(on_error="continue"))
    assert isinstance(context.error, StepError)
    assert "showed 'Ten', and its answer is 'Thirty'" in str(context.error)
    assert shown(events) == "Ten"
    ended = events[-1]
    assert isinstance(ended, RunFinished)
    assert ended.outcome == "stopped"


async def test_names_of_steps_are_never_the_same() -> None:
    steps = (Find(id="do-2"), Do(), Do(), Do(), Say())
    context, _ = await finished(*steps)
    assert Counter(step.path for step in context.trace).most_common(1)[0][1] == 1


async def test_a_step_is_called_once_and_copied_never() -> None:
    """The runner adds two events and one trace per step, whatever the number of steps."""
    calls: list[int] = []

    def note(context: Context, run: Run) -> Context:
        calls.append(id(context))
        return context

    context, events = await finished(*(Do(work_of=note) for _ in range(9)), Say())
    assert len(calls) == 9
    assert len(context.trace) == 10
    assert len(told(events)) == 2 * 10 + 2
    assert not hasattr(context, "__dict__")
