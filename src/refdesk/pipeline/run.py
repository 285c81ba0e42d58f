"""`Run`: one question on its way through steps. The only code that traces, and that applies `on_error`."""

import math
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import TYPE_CHECKING

import anyio

from refdesk.context import NO_USAGE, Context, Measure, StepOutcome, Trace, Usage
from refdesk.errors import InputError, LimitReached, MissingExtra, RefdeskError, SettingsError, StepError
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
from refdesk.pipeline.notes import Notes, Shown
from refdesk.pipeline.services import LLMValue, Services

if TYPE_CHECKING:
    from refdesk.pipeline.step import Step

FIELDS = tuple(one.name for one in fields(Context))
ALWAYS = frozenset({"warnings", "error", "usage", "trace"})
"""Fields that the runner keeps and every step may add to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The services, the path and the listeners of one question.

    Steps use `services`, `model`, `token`, `measure`, `warn` and `part`; composite steps use `steps`.
    """

    services: Services
    run_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    sinks: tuple[Sink, ...] = ()
    began: float = field(default_factory=time.perf_counter)
    deadline: float = math.inf
    """Seconds since `began` after which everything stops."""
    path: tuple[str, ...] = ()
    kind: str = ""
    streams: bool = False
    """Whether what the step writes is shown at once."""
    shown: Shown = field(default_factory=Shown)
    notes: Notes = field(default_factory=Notes)

    def emit(self, event: Event) -> None:
        for sink in self.sinks:
            sink(event)

    def token(self, text: str) -> None:
        """Show a piece of the answer, where this step is the one that streams."""
        if self.streams and text:
            self.shown.pieces.append(text)
            self.emit(Token(text))

    def warn(self, text: str) -> None:
        """Note for the reader what went wrong without ending the run."""
        self.notes.warnings.append(f"{self.path[-1] if self.path else 'run'}: {text}")

    def measure(self, **measures: Measure) -> None:
        """Note figures and lists for traces and telemetry."""
        self.notes.measures.update(measures)

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
            context = ended[0] if ended else None
            error = context.error if context else None
            self.emit(
                RunFinished(
                    run_id=self.run_id,
                    pipeline=pipeline,
                    outcome="cancelled" if context is None else "stopped" if error else "done",
                    seconds=time.perf_counter() - self.began,
                    usage=context.usage if context else NO_USAGE,
                    error=error,
                )
            )

    async def steps(self, steps: "Sequence[Step]", context: Context, *, streams: bool = False) -> Context:
        """Run steps in order; the last that speaks streams where `streams` allows it."""
        speaker = max((place for place, step in enumerate(steps) if step.speaks), default=-1)
        for place, (label, step) in enumerate(labelled(steps)):
            here = streams and place == speaker
            context = await self.step(step, context, label=label, streams=here)
            if (here or (streams and context.finished)) and context.error is None:
                self._show_whole(context)
            if context.finished:
                break
        return context

    async def step(
        self, step: "Step", context: Context, *, label: str = "", streams: bool = False
    ) -> Context:
        """Run one step. An error that it declares to pass over becomes a warning; any other ends the run.

        A context with an error comes back as it is. Cancellation passes.
        """
        if context.error is not None:
            return context
        inside = self._inside(label or step.label, step.kind, streams)
        began = time.perf_counter()
        inside.emit(
            StepStarted(run_id=self.run_id, path=inside.path, kind=step.kind, facts=step.facts(context))
        )
        new, error = context, None
        outcome: StepOutcome = "cancelled"
        try:
            new, outcome = await self._attempt(step, context, inside)
            error = new.error
        except Exception as raised:
            error = _translated(raised, step)
        finally:
            if error is not None:
                outcome = _policy(step, inside, error)
            inside._end(began, outcome, error)
        return inside._noted(new, began, outcome, error)

    @asynccontextmanager
    async def part(self, name: str, kind: str = "part") -> AsyncIterator["Run"]:
        """Trace a part of a step, such as one attempt, as if it were a step inside it."""
        inside = replace(self, path=(*self.path, name), kind=kind, notes=Notes())
        inside.emit(StepStarted(run_id=self.run_id, path=inside.path, kind=kind))
        began = time.perf_counter()
        outcome: StepOutcome = "cancelled"
        error: RefdeskError | None = None
        try:
            yield inside
            outcome = "done"
        except Exception as raised:
            outcome, error = "stopped", _as_refdesk(raised, name)
            raise
        finally:
            inside._end(began, outcome, error)
            self.notes.parts.extend((*inside.notes.parts, inside._trace(began, outcome, error)))
            self.notes.warnings.extend(inside.notes.warnings)
            self.notes.add_usage(inside.notes.usage)

    def _inside(self, label: str, kind: str, streams: bool) -> "Run":
        return replace(self, path=(*self.path, label), kind=kind, streams=streams, notes=Notes())

    async def _attempt(self, step: "Step", context: Context, inside: "Run") -> tuple[Context, StepOutcome]:
        if reason := step.skips(context):
            inside.measure(reason=reason)
            return context, "skipped"
        left = self.began + self.deadline - time.perf_counter()
        seconds = min(left, step.timeout or math.inf)
        if seconds == math.inf:
            new = await step(context, inside)
        else:
            with anyio.move_on_after(max(seconds, 0)) as scope:
                new = await step(context, inside)
            if scope.cancelled_caught:
                raise _late(step, self.deadline if seconds == left else seconds, seconds == left)
        _check_result(step, context, new)
        return new, "done"

    def _end(self, began: float, outcome: StepOutcome, error: RefdeskError | None) -> None:
        seconds, notes = time.perf_counter() - began, self.notes
        if error is not None:
            self.emit(
                StepFailed(
                    run_id=self.run_id,
                    path=self.path,
                    kind=self.kind,
                    outcome=outcome,
                    seconds=seconds,
                    error=error,
                    measures=notes.measures,
                    usage=notes.usage,
                )
            )
            return
        self.emit(
            StepFinished(
                run_id=self.run_id,
                path=self.path,
                kind=self.kind,
                outcome=outcome,
                seconds=seconds,
                measures=notes.measures,
                usage=notes.usage,
            )
        )

    def _noted(self, new: Context, began: float, outcome: StepOutcome, error: RefdeskError | None) -> Context:
        """Put the notes of a step into the context that it left."""
        notes = self.notes
        if outcome == "continued":
            self.warn(str(error))
        return replace(
            new,
            error=error if outcome == "stopped" else None,
            warnings=(*new.warnings, *notes.warnings),
            usage=new.usage + notes.usage if notes.usage.requests else new.usage,
            trace=(*new.trace, *notes.parts, self._trace(began, outcome, error)),
        )

    def _trace(self, began: float, outcome: StepOutcome, error: RefdeskError | None) -> Trace:
        return Trace(
            path=self.path,
            kind=self.kind,
            outcome=outcome,
            started=began - self.began,
            seconds=time.perf_counter() - began,
            measures=self.notes.measures,
            warnings=tuple(self.notes.warnings),
            error=str(error) if error else "",
            usage=self.notes.usage,
        )

    def _show_whole(self, context: Context) -> None:
        """Show an answer that no step streamed, now that none can replace it."""
        if context.answer is None:
            return
        if not self.shown.pieces:
            replace(self, streams=True).token(context.answer.text)
        assert self.shown.text == context.answer.text, "What was streamed is not the answer's text."


def labelled(steps: "Sequence[Step]") -> list[tuple[str, "Step"]]:
    """Give each step a name of its own: a second `search` becomes `search-2`."""
    seen: dict[str, int] = {}
    named = []
    for step in steps:
        seen[step.label] = count = seen.get(step.label, 0) + 1
        named.append((step.label if count == 1 else f"{step.label}-{count}", step))
    return named


def _policy(step: "Step", inside: Run, error: RefdeskError) -> StepOutcome:
    """Decide what a failure does.

    What a reader has seen half of, a wrong setting and the end of the run's time cannot be passed over.
    """
    broken_text = inside.streams and bool(inside.shown.pieces)
    run_late = isinstance(error, LimitReached) and error.kind == "run_seconds"
    misconfigured = isinstance(error, SettingsError | MissingExtra)
    final = broken_text or run_late or misconfigured or step.on_error == "stop"
    return "stopped" if final else "continued"


def _check_result(step: "Step", old: Context, new: Context) -> None:
    if not isinstance(new, Context):
        raise StepError(
            f"The step {step.name!r} returned {type(new).__name__}; a step returns a context.", step=step.name
        )
    changed = [name for name in FIELDS if getattr(old, name) is not getattr(new, name)]
    if undeclared := [name for name in changed if name not in step.writes and name not in ALWAYS]:
        raise StepError(
            f"The step {step.name!r} changed {', '.join(undeclared)}, which it does not declare.",
            step=step.name,
            remedy="Add them to `writes` of its class.",
        )
    if not step.speaks and old.answer and (new.answer is None or new.answer.text != old.answer.text):
        raise StepError(
            f"The step {step.name!r} changed the text of the answer, which a reader may have seen.",
            step=step.name,
            remedy="Only answer generators and quality gates may change it.",
        )


def _late(step: "Step", limit: float, whole_run: bool) -> LimitReached:
    what = "The run" if whole_run else f"The step {step.label!r}"
    return LimitReached(
        f"{what} took longer than {limit:g} seconds"
        + (f", in the step {step.label!r}." if whole_run else "."),
        kind="run_seconds" if whole_run else "step_seconds",
        limit=limit,
        remedy="Allow more time, or use a faster model.",
    )


def _translated(error: Exception, step: "Step") -> RefdeskError:
    return _as_refdesk(error, step.label)


def _as_refdesk(error: Exception, name: str) -> RefdeskError:
    if isinstance(error, RefdeskError):
        return error
    wrapped = StepError(f"The step {name!r} failed: {type(error).__name__}: {error}.", step=name)
    wrapped.__cause__ = error
    return wrapped
