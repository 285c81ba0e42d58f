"""What a sweep found: configurations beside their base, the effects of factors, what is worth its time."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from refdesk.evaluation.comparing.statistics import holm, mean_interval, sign_flips
from refdesk.evaluation.runs.outcomes import lower_is_better
from refdesk.evaluation.searching.metrics import percentile
from refdesk.evaluation.sweeps.effects import Effect, effects_of
from refdesk.evaluation.sweeps.inwords import price, verdict
from refdesk.evaluation.sweeps.rows import LEAST, Row, badness
from refdesk.evaluation.sweeps.tried import Tried, seconds_of, values_of


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepReport:
    """All configurations of a sweep, the base first."""

    name: str
    data: str
    split: str
    questions: int
    objective: str
    strategy: str
    rows: tuple[Row, ...]
    effects: tuple[Effect, ...]
    best: str
    """Name of the best configuration that was asked everything; empty for none."""
    verdict: str
    """Which it is, by what measure, by how much, and whether that is more than chance."""
    price: str
    """What it takes beside the base; the others that none beats in quality and time."""
    warnings: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def report(
    tried: Sequence[Tried],
    *,
    name: str,
    data: str,
    split: str,
    questions: int,
    objective: str,
    strategy: str,
    warnings: Sequence[str] = (),
    seed: int = 0,
) -> SweepReport:
    """Compare configurations with the first, which is the base."""
    lower = lower_is_better(objective)
    rows = _corrected([_row(one, tried[0], objective, seed) for one in tried])
    rows = _fronted(rows, lower)
    finished = [row for row in rows if row.status == "done" and row.objective is not None]
    best = min(finished, key=lambda row: badness(row, lower), default=None)
    return SweepReport(
        name=name,
        data=data,
        split=split,
        questions=questions,
        objective=objective,
        strategy=strategy,
        rows=tuple(rows),
        effects=tuple(effects_of(tried, objective, seed)),
        best=best.name if best else "",
        verdict=verdict(best, rows, objective),
        price=price(best, rows, objective),
        warnings=tuple(warnings),
    )


def _row(one: Tried, base: Tried, objective: str, seed: int) -> Row:
    values = values_of(one.outcomes, objective)
    row = Row(
        name=one.candidate.name,
        run=one.run,
        values=one.candidate.values,
        status=one.status,
        error=one.error,
        asked=len(one.outcomes),
        missing=len(one.outcomes) - len(values),
    )
    if not values:
        return row
    seconds = [seconds_of(each, objective) for each in one.outcomes.values() if not each.error]
    count = len(one.outcomes)
    row = replace(
        row,
        objective=mean_interval(np.array(list(values.values())), seed=seed),
        p50=percentile(seconds, 0.5),
        p95=percentile(seconds, 0.95),
        cost=sum(each.cost for each in one.outcomes.values()) / count,
        tokens=sum(each.tokens for each in one.outcomes.values()) / count,
    )
    return row if one is base else _compared(row, values, values_of(base.outcomes, objective), seed)


def _compared(row: Row, ours: Mapping[str, float], theirs: Mapping[str, float], seed: int) -> Row:
    gaps = np.array([ours[name] - theirs[name] for name in ours if name in theirs])
    if not len(gaps):
        return row
    return replace(
        row,
        difference=mean_interval(gaps, seed=seed),
        changed=int((np.abs(gaps) > 1e-12).sum()),
        chance=sign_flips(gaps, seed=seed) if len(gaps) >= LEAST else None,
    )


def _corrected(rows: Sequence[Row]) -> list[Row]:
    """Make the chances hold for all comparisons together."""
    known = [row.chance for row in rows if row.chance is not None]
    corrected = iter(holm(known))
    return [row if row.chance is None else replace(row, chance=next(corrected)) for row in rows]


def _fronted(rows: Sequence[Row], lower: bool) -> list[Row]:
    """Mark the rows that no other beats in quality without being slower, and the other way round."""
    points = {
        row.name: (badness(row, lower), row.p50)
        for row in rows
        if row.status == "done" and row.objective is not None and row.p50 is not None
    }
    front = {
        name for name, point in points.items() if not any(_beats(other, point) for other in points.values())
    }
    return [replace(row, front=row.name in front) for row in rows]


def _beats(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return one != other and one[0] <= other[0] and one[1] <= other[1]
