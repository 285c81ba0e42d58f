"""What a run did, as a tree with times."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from refdesk.cli.session import Session
from refdesk.cli.terminal import one_line, say

if TYPE_CHECKING:
    from refdesk.context import Context, Measure, Trace, Usage

LONGEST = 160
"""Characters of one measure that are shown; JSON has all of it."""


def show_trace(session: Session, context: "Context") -> None:
    """Print each step under the one it ran in, in order, with its time and what it noted."""
    for line in tree(context.trace):
        say(session.err, line)
    if context.usage.requests:
        session.note(requests(context.usage))


def requests(usage: "Usage") -> str:
    """Return what models were asked for: requests, tokens, and the cost where it is known."""
    about = "about " if usage.estimated else ""
    cost = f", ${usage.cost:.4f}" if usage.cost else ""
    return (
        f"{usage.requests} model request{'s' if usage.requests != 1 else ''}, "
        f"{about}{usage.input_tokens:,} tokens in, {about}{usage.output_tokens:,} out{cost}"
    )


def tree(trace: "Sequence[Trace]") -> Iterator[str]:
    """Yield the lines of a tree of steps."""
    yield from _below((), sorted(trace, key=lambda one: one.started), "")


def _below(path: tuple[str, ...], trace: "Sequence[Trace]", margin: str) -> Iterator[str]:
    steps = [one for one in trace if one.path[:-1] == path]
    for place, step in enumerate(steps):
        last = place == len(steps) - 1
        yield f"{margin}{'└─' if last else '├─'} {_line(step)}"
        inner = f"{margin}{'   ' if last else '│  '}"
        yield from (f"{inner}   {note}" for note in _notes(step))
        yield from _below(step.path, trace, inner)


def _line(step: "Trace") -> str:
    outcome = "" if step.outcome == "done" else f"  {step.outcome}"
    measures = "  ".join(_measures(_told(step)))
    name = one_line(step.path[-1], LONGEST)
    return f"{name}  {step.seconds * 1000:,.0f} ms{outcome}{f'  {measures}' if measures else ''}"


def _told(step: "Trace") -> "Mapping[str, Measure]":
    """Return the measures of a step; those of a tool without what the turn around it says."""
    if step.kind != "tool":
        return step.measures
    told = step.measures.items()
    return {
        name: value for name, value in told if name != "iteration" and (name, value) != ("outcome", "done")
    }


def _measures(measures: "Mapping[str, Measure]") -> Iterator[str]:
    for name, value in measures.items():
        if value is None or value in ("", ()):
            continue
        text = " | ".join(value) if isinstance(value, tuple) else f"{value}"
        if isinstance(value, float):
            text = f"{value:.3g}"
        yield f"{name}={one_line(text, LONGEST)}"


def _notes(step: "Trace") -> Iterator[str]:
    yield from (f"warning: {one_line(warning)}" for warning in step.warnings)
    if step.error and step.outcome == "stopped":
        yield f"error: {one_line(step.error)}"
