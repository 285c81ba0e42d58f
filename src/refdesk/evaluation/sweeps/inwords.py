"""What a sweep found, in sentences: which configuration is the best, by how much, and what it takes."""

from collections.abc import Iterator, Sequence

from refdesk.evaluation.comparing.statistics import Estimate
from refdesk.evaluation.reporting.numbers import duration, moved, written
from refdesk.evaluation.runs.outcomes import is_quality, lower_is_better
from refdesk.evaluation.sweeps.candidates import BASE
from refdesk.evaluation.sweeps.rows import ALPHA, LEAST, Row, badness

FEW = 3
"""Configurations that are named beside the best."""


def verdict(best: Row | None, rows: Sequence[Row], objective: str) -> str:
    """Say which is the best, by what measure and by how much, and whether that is more than chance."""
    if best is None or best.objective is None:
        return "No configuration was asked everything, so none is called the best."
    mean = figure(objective, best.objective.value)
    if best.name == BASE:
        return f"None is better than the base by {objective}: it has {mean}{_next(best, rows, objective)}."
    said = f"Best by {objective}: {best.name} with {mean}"
    if best.difference is None:
        return f"{said}."
    base = next((row.objective for row in rows if row.name == BASE), None)
    beside = f", where the base has {figure(objective, base.value)}" if base else ""
    return f"{said}{beside}: {difference(objective, best.difference)}. {_evidence(best, rows, objective)}"


def _next(best: Row, rows: Sequence[Row], objective: str) -> str:
    """Name the one behind the base."""
    lower = lower_is_better(objective)
    others = [row for row in rows if row is not best and row.status == "done" and row.objective]
    second = min(others, key=lambda row: badness(row, lower), default=None)
    if second is None or second.objective is None:
        return ""
    gap = f", {difference(objective, second.difference)}" if second.difference else ""
    return f"; next is {second.name} with {figure(objective, second.objective.value)}{gap}"


def _evidence(best: Row, rows: Sequence[Row], objective: str) -> str:
    gap, chance = best.difference, best.chance
    if gap is None or chance is None:
        return f"Fewer than {LEAST} questions have both, which is too few to tell it from chance."
    clear = gap.high < 0 if lower_is_better(objective) else gap.low > 0
    compared = sum(row.chance is not None for row in rows)
    of = f", corrected for {compared} comparisons" if compared > 1 else ""
    said = "It is better" if clear and chance < ALPHA else "That is without evidence: chance explains it"
    return f"{said} (p {p_in_words(chance)}{of})."


def price(best: Row | None, rows: Sequence[Row], objective: str) -> str:
    """Say what the best takes beside the base, and which others nobody beats in quality and time."""
    if best is None:
        return ""
    base = next((row for row in rows if row.name == BASE), best)
    costs = "; ".join(_costs(best, None if base is best else base))
    others = [row for row in rows if row.front and row is not best][:FEW]
    named = ", ".join(_named(row, objective) for row in others)
    faster = f" Faster, and not beaten in both: {named}." if named else ""
    return f"A question takes it {costs}.{faster}" if costs else faster.strip()


def _costs(best: Row, base: Row | None) -> Iterator[str]:
    if best.p50 is not None:
        beside = f" (the base {duration(base.p50)})" if base and base.p50 is not None else ""
        yield f"{duration(best.p50)}{beside}"
    for name in ("tokens", "cost"):
        ours, theirs = getattr(best, name), getattr(base, name) if base else 0.0
        if ours or theirs:
            word = " tokens" if name == "tokens" else ""
            beside = f" (the base {written(name, theirs)}{word})" if base else ""
            yield f"{written(name, ours)}{word}{beside}"


def _named(row: Row, objective: str) -> str:
    mean = "" if row.objective is None else figure(objective, row.objective.value)
    time = "" if row.p50 is None else f" in {duration(row.p50)}"
    return f"{row.name} ({mean}{time})"


def figure(objective: str, value: float) -> str:
    """Write a mean of the objective, with its unit where it has one."""
    return f"{value:.4f}" if is_quality(objective) else written(objective, value)


def difference(objective: str, estimate: Estimate) -> str:
    """Write a difference from the base with its interval."""
    value, low, high = (
        moved(objective, round(one, 3) + 0.0 if is_quality(objective) else one)
        for one in (estimate.value, estimate.low, estimate.high)
    )
    return f"{value} ({low} to {high})"


def p_in_words(chance: float) -> str:
    return f"{chance:.3f}" if chance >= 0.001 else "< 0.001"
