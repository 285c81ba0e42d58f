"""What a run of a pipeline did, a line for each step."""

from collections.abc import Iterator, Sequence

from refdesk.cleaning import visible
from refdesk.context import Measure, Trace

LONGEST = 160
"""Characters of one measure."""


def trace_lines(trace: Sequence[Trace]) -> tuple[str, ...]:
    """Return path, time, outcome and what was noted of each step, in the order they began."""
    return tuple(map(_line, sorted(trace, key=lambda one: one.started)))


def _line(step: Trace) -> str:
    outcome = "" if step.outcome == "done" else step.outcome
    parts = ["/".join(step.path), f"{step.seconds * 1000:.0f} ms", outcome, *_measures(step)]
    parts += [f"warning: {_short(one)}" for one in step.warnings]
    parts += [f"error: {_short(step.error)}"] if step.error else []
    return "  ".join(filter(None, parts))


def _measures(step: Trace) -> Iterator[str]:
    for name, value in step.measures.items():
        if value not in (None, "", ()):
            yield f"{name}={_short(_text(value))}"


def _text(value: Measure) -> str:
    if isinstance(value, tuple):
        return " | ".join(value)
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _short(text: str) -> str:
    line = " ".join(visible(text).split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
