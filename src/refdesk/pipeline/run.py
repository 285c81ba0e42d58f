"""`Run`: one question on its way through steps. The only code that traces, and that applies `on_error`."""

import logging
import math
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio

from refdesk.cleaning import visible
from refdesk.context import Context, Measure, StepOutcome, Trace, Usage
from refdesk.errors import InputError, RefdeskError
from refdesk.events import (
    Event,
    ModelCalled,
    RunFinished,
    RunStarted,
    Sink,
    StepFailed,
    StepFinished,
    StepStarted,
    Token,
)
from refdesk.llm import LLM
from refdesk.pipeline.metering import MeteredLLM
from refdesk.pipeline.notes import Notes, Shared
from refdesk.pipeline.outcomes import (
    as_refdesk,
    check_result,
    check_scope,
    check_shown,
    in_order,
    late,
    left_behind,
    policy,
)
from refdesk.pipeline.services import LLMValue, Services

if TYPE_CHECKING:
    from refdesk.pipeline.step import Step

LOG = logging.getLogger("refdesk.pipeline")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The services, the path and the listeners of one question.

    Steps use `services`, `model`, `token`, `measure`, `warn`, `degrade`, `part`; composite ones use `steps`.
    """

    services: Services
    collections: tuple[str, ...] = ()
    """Collections that the call named, beyond which no step may search; empty where it named none, or all."""
    run_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    sinks: tuple[Sink, ...] = ()
    began: float = field(default_factory=time.perf_counter)
    deadline: float = math.inf
    """Seconds since `began` after which everything stops."""
    path: tuple[str, ...] = ()
    kind: str = ""
    streams: bool = False
    """Whether what the step writes is shown at once."""
    shared: Shared = field(default_factory=Shared)
    notes: Notes = field(default_factory=Notes)

    def emit(self, event: Event) -> None:
        """Tell the listeners. One that raises is told no more in this run, with a line in the log."""
        for sink in self.sinks:
            if sink not in self.shared.deaf:
                try:
                    sink(event)
                except Exception:
                    self.shared.deaf.append(sink)
                    LOG.exception("The listener %r failed and is told no more of the run.", sink)

    def token(self, text: str) -> None:
        """Show a piece of the answer, where this step is the one that streams."""
        if self.streams and text:
            self.shared.pieces.append(text)
            self.emit(Token(text))

    def warn(self, text: str) -> None:
        """Note for the reader what went wrong without ending the run."""
        self.notes.warnings.append(f"{self.path[-1] if self.path else 'run'}: {visible(text)}")

    def degrade(self, part: str, text: str) -> None:
        """Note that a part of the step failed and was done without, with a warning."""
        self.notes.degraded.append(f"{self.path[-1]}.{part}" if self.path else part)
        self.warn(text)

    def measure(self, **measures: Measure) -> None:
        """Note figures and lists for traces and telemetry; texts lose what nobody sees in them."""
        self.notes.measures.update({name: _shown(value) for name, value in measures.items()})

    def model(self, value: LLMValue = None) -> LLM:
        """Return a model whose usage is counted. Errors: `InputError` where none is named anywhere."""
        llm = self.services.llm(value)
        if llm is None:
            raise InputError(
                f"The step {self.path[-1] if self.path else ''!r} needs a language model and none is named.",
                remedy="Set the setting `llm`, give the call `llm=`, or give the step `llm=`.",
            )
        return MeteredLLM(llm, partial(self._called, llm.name))

    def _called(self, model: str, usage: Usage, seconds: float, error: BaseException | None) -> None:
        self.notes.add_usage(usage)
        self.emit(
            ModelCalled(
                run_id=self.run_id, path=self.path, model=model, seconds=seconds, usage=usage, error=error
            )
        )

    @contextmanager
    def whole(self, pipeline: str) -> Iterator[Callable[[Context], Context]]:
        """Tell the listeners that a pipeline begins, and how it ends."""
        ended: list[Context] = []

        def end(context: Context) -> Context:
            ended.append(context)
            return context

        self.emit(RunStarted(run_id=self.run_id, pipeline=pipeline))
        try:
            yield end
        finally:
            context, notes = ended[0] if ended else None, self.notes
            error = context.error if context else None
            usage = notes.usage if notes.reached is None else notes.reached.usage + notes.usage
            self.emit(
                RunFinished(
                    run_id=self.run_id,
                    pipeline=pipeline,
                    outcome="cancelled" if context is None else "stopped" if error else "done",
                    seconds=time.perf_counter() - self.began,
                    usage=context.usage if context else usage,
                    error=error,
                )
            )

    async def steps(self, steps: "Sequence[Step]", context: Context, *, streams: bool = False) -> Context:
        """Run steps in order; the last that speaks streams where `streams` allows it."""
        speaker = max((place for place, step in enumerate(steps) if step.speaks), default=-1)
        for place, step in enumerate(steps):
            here = streams and place == speaker
            context = await self.step(step, context, streams=here)
            if (here or (streams and context.finished)) and context.error is None:
                self._show_whole(context)
            if context.finished or context.error is not None:
                break
        return context

    async def step(self, step: "Step", context: Context, *, streams: bool = False) -> Context:
        """Run one step. An error that it declares to pass over becomes a warning; any other ends the run.

        A step that failed leaves the context as it was, or as steps inside it left it. A context with an
        error comes back as it is. Cancellation passes.
        """
        if context.error is not None:
            return context
        inside = self._inside(step.label, step.kind, streams)
        began = time.perf_counter()
        inside._start(step, context)
        new, error = context, None
        outcome: StepOutcome = "cancelled"
        try:
            new, outcome = await self._attempt(step, context, inside)
            error = new.error
        except Exception as raised:
            error = as_refdesk(raised, step.label)
            new = left_behind(step, context, inside.notes.reached)
        finally:
            if error is not None:
                half_shown = streams and bool(inside.shared.pieces)
                outcome = policy(step, error, half_shown=half_shown)
            trace = inside._end(began, outcome, error)
            if outcome == "cancelled":
                self.notes.take(inside.notes, trace)
        self.notes.reached = inside._noted(context, new, trace, error)
        return self.notes.reached

    @asynccontextmanager
    async def part(self, name: str, kind: str = "part") -> AsyncIterator["Run"]:
        """Trace a part of a step, such as one attempt, as if it were a step inside it."""
        inside = self._inside(name, kind, self.streams)
        inside.emit(StepStarted(run_id=self.run_id, path=inside.path, kind=kind))
        began = time.perf_counter()
        outcome: StepOutcome = "cancelled"
        error: RefdeskError | None = None
        try:
            yield inside
            outcome = "done"
        except Exception as raised:
            outcome, error = "stopped", as_refdesk(raised, name)
            raise
        finally:
            self.notes.take(inside.notes, inside._end(began, outcome, error))

    def _inside(self, label: str, kind: str, streams: bool) -> "Run":
        path = (*self.path, self.notes.name_for(label))
        return replace(self, path=path, kind=kind, streams=streams, notes=Notes())

    def _start(self, step: "Step", context: Context) -> None:
        try:
            facts = step.facts(context)
        except Exception as error:
            facts = {}
            self.warn(f"What it is given could not be told: {as_refdesk(error, step.label)}")
        self.emit(StepStarted(run_id=self.run_id, path=self.path, kind=self.kind, facts=facts))

    async def _attempt(self, step: "Step", context: Context, inside: "Run") -> tuple[Context, StepOutcome]:
        if reason := step.skips(context):
            inside.measure(reason=reason)
            return context, "skipped"
        left = self.began + self.deadline - time.perf_counter()
        if left <= 0:
            raise late(step, self.deadline, whole_run=True)
        seconds = min(left, step.timeout or math.inf)
        if seconds == math.inf:
            new = await step(context, inside)
        else:
            with anyio.move_on_after(seconds) as scope:
                new = await step(context, inside)
            if scope.cancelled_caught:
                run_late = seconds == left
                raise late(step, self.deadline if run_late else seconds, whole_run=run_late)
        check_result(step, context, new)
        check_scope(step, context, new, self.collections)
        if inside.streams:
            check_shown(step, inside.shared.text, new)
        return new, "done"

    def _end(self, began: float, outcome: StepOutcome, error: RefdeskError | None) -> Trace:
        """Tell the listeners that a step or part has ended; return its trace."""
        notes, seconds = self.notes, time.perf_counter() - began
        if outcome == "continued":
            notes.degraded.append(self.path[-1])
            self.warn(str(error))
        ended: dict[str, Any] = {
            "path": self.path,
            "kind": self.kind,
            "outcome": outcome,
            "seconds": seconds,
            "usage": notes.usage,
        }
        measures = dict(notes.measures)
        if error is None:
            self.emit(StepFinished(run_id=self.run_id, measures=measures, **ended))
        else:
            self.emit(StepFailed(run_id=self.run_id, measures=measures, error=error, **ended))
        return Trace(
            started=began - self.began,
            measures=dict(notes.measures),
            warnings=tuple(notes.warnings),
            error=str(error) if error else "",
            **ended,
        )

    def _noted(self, old: Context, new: Context, trace: Trace, error: RefdeskError | None) -> Context:
        """Put the notes of a step into the context that it left."""
        notes = self.notes
        before, inner = len(old.trace), (*notes.parts, trace)
        if len(new.trace) > before and notes.parts:
            new, inner = replace(new, trace=old.trace), tuple(in_order((*new.trace[before:], *inner)))
        return replace(
            new,
            error=error if trace.outcome == "stopped" else None,
            warnings=(*new.warnings, *notes.warnings) if notes.warnings else new.warnings,
            degraded=(*new.degraded, *notes.degraded) if notes.degraded else new.degraded,
            usage=new.usage + notes.usage if notes.usage.requests else new.usage,
            trace=(*new.trace, *inner),
        )

    def _show_whole(self, context: Context) -> None:
        """Show an answer that no step streamed, now that none can replace it."""
        if context.answer is not None and not self.shared.pieces:
            replace(self, streams=True).token(context.answer.text)


def _shown(measure: Measure) -> Measure:
    """Return a measure whose texts hide nothing: models write some of them."""
    if isinstance(measure, tuple):
        return tuple(map(visible, measure))
    return visible(measure) if isinstance(measure, str) else measure
