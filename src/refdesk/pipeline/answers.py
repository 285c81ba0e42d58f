"""The answer that comes of a run."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from refdesk.context import Answer, Context, Trace, Zone
from refdesk.errors import StepError


def answered(context: Context) -> Answer:
    """Return the answer of a run with all that was noted on the way. Errors: the run's own."""
    answer = context.raise_for_error().answer
    if answer is None:
        raise StepError(
            "No step answered: the steps that answer failed and were passed over, or did not run.",
            step="answer",
            remedy="Look at the warnings of `desk.run`, or let the step stop the run.",
        )
    return replace(
        answer,
        zone=_zone(answer, context.trace),
        warnings=tuple(dict.fromkeys((*context.warnings, *answer.warnings))),
        timings=_timings(context.trace),
        degraded=tuple(dict.fromkeys(context.degraded)),
    )


def _zone(answer: Answer, trace: Sequence[Trace]) -> Zone:
    """Return the zone, unknown where a step failed that it depends on."""
    failed = any(one.kind == "context_optimizer" and one.outcome == "continued" for one in trace)
    return "unknown" if failed and answer.zone != "none" else answer.zone


def _timings(trace: Sequence[Trace]) -> Mapping[str, float]:
    seconds = {one.path[0]: one.seconds for one in trace if len(one.path) == 1}
    return {**seconds, "total": sum(seconds.values())}
