"""How a step ended: whether its result can be used, what its error is, and what its policy makes of it."""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from refdesk.context import Context, StepOutcome, Trace
from refdesk.errors import LimitReached, MissingExtra, RefdeskError, SettingsError, StepError

if TYPE_CHECKING:
    from refdesk.pipeline.step import Step

FIELDS = tuple(one.name for one in fields(Context))
ALWAYS = frozenset({"warnings", "degraded", "error", "usage", "trace"})
"""Fields that the runner keeps and every step may add to."""


def check_result(step: "Step", old: Context, new: Context) -> None:
    """Check what a step returned. Errors: `StepError`."""
    if new is old:
        return
    if not isinstance(new, Context):
        raise StepError(
            f"The step {step.label!r} returned {type(new).__name__}; a step returns a context.",
            step=step.label,
        )
    if names := undeclared(step, old, new):
        raise StepError(
            f"The step {step.label!r} changed {', '.join(names)}, which it does not declare.",
            step=step.label,
            remedy="Add them to `writes` of its class.",
        )
    if old.answer is not None and not step.speaks and text_of(old) != text_of(new):
        raise StepError(
            f"The step {step.label!r} changed the text of the answer, which a reader may have seen.",
            step=step.label,
            remedy="Only answer generators and quality gates may change it.",
        )


FIXED = ("principals", "user")
"""Who asks, and whose conversation it is: no step changes that, whatever it declares."""


def check_scope(step: "Step", old: Context, new: Context, named: Sequence[str]) -> None:
    """Check that a step did not widen what may be read. Errors: `StepError`.

    `named` are the collections of the call. Those that the pipeline's author wrote into the step itself may
    be others; steps inside a step were checked one by one.
    """
    if changed := [name for name in FIXED if getattr(old, name) != getattr(new, name)]:
        raise StepError(
            f"The step {step.label!r} changed {', '.join(changed)}, which say who asks.",
            step=step.label,
            remedy="Begin another run for someone else.",
        )
    allowed = {*named, *old.collections, *_own_collections(step)}
    if named and not step.blocks and (more := [name for name in new.collections if name not in allowed]):
        raise StepError(
            f"The step {step.label!r} added the collections {', '.join(map(repr, more))}, and the call named"
            f" {', '.join(map(repr, named))}.",
            step=step.label,
            remedy="Name them in the call, or in an option `collections` of the step.",
        )


def _own_collections(step: "Step") -> tuple[str, ...]:
    given = [getattr(step, name, None) or () for name in ("collection", "collections")]
    return tuple(name for one in given for name in ((one,) if isinstance(one, str) else one))


def check_shown(step: "Step", shown: str, new: Context) -> None:
    """Check that the text which a step showed is its answer's. Errors: `StepError`."""
    if shown and new.error is None and text_of(new) != shown:
        raise StepError(
            f"The step {step.label!r} showed {shown!r:.60}, and its answer is {text_of(new)!r:.60}.",
            step=step.label,
            remedy="The pieces that it gives to `run.token`, joined, have to be the answer's text.",
        )


def text_of(context: Context) -> str | None:
    return None if context.answer is None else context.answer.text


def undeclared(step: "Step", old: Context, new: Context) -> list[str]:
    """Return the names of fields that a step changed and does not declare."""
    return [
        name
        for name in FIELDS
        if getattr(old, name) is not getattr(new, name) and name not in step.writes and name not in ALWAYS
    ]


def left_behind(step: "Step", old: Context, reached: Context | None) -> Context:
    """Return what a step that failed leaves: what steps inside it reached, as far as it may write that."""
    if reached is None:
        return old
    if undeclared(step, old, reached):
        return replace(old, **{name: getattr(reached, name) for name in ALWAYS - {"error"}})
    return reached


def policy(step: "Step", error: RefdeskError, *, half_shown: bool) -> StepOutcome:
    """Decide what a failure does.

    What a reader has seen half of, a wrong setting and the end of the run's time cannot be passed over.
    """
    run_late = isinstance(error, LimitReached) and error.kind == "run_seconds"
    misconfigured = isinstance(error, SettingsError | MissingExtra)
    final = half_shown or run_late or misconfigured or step.on_error == "stop"
    return "stopped" if final else "continued"


def late(step: "Step", limit: float, *, whole_run: bool) -> LimitReached:
    what = "The run" if whole_run else f"The step {step.label!r}"
    return LimitReached(
        f"{what} took longer than {limit:g} seconds"
        + (f", in the step {step.label!r}." if whole_run else "."),
        kind="run_seconds" if whole_run else "step_seconds",
        limit=limit,
        remedy="Allow more time, or use a faster model.",
    )


def as_refdesk(error: Exception, name: str) -> RefdeskError:
    """Return an error as one of ours: itself, the only one of a group, or a `StepError` caused by it."""
    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    if isinstance(error, RefdeskError):
        return error
    said = f"{type(error).__name__}: {error}".rstrip(" .:")
    wrapped = StepError(f"The step {name!r} failed: {said}.", step=name)
    wrapped.__cause__ = error
    return wrapped


def in_order(traces: Sequence[Trace]) -> list[Trace]:
    """Return traces by their end, so that what was inside a step comes before it."""
    return sorted(traces, key=lambda trace: trace.started + trace.seconds)
