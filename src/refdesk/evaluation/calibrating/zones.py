"""What limits on the best reranker score do: zones, tables of limits, risk and coverage.

A question is answered where its best hit scores at least the limit. Its answer is at risk where the evidence
holds no relevant document, as with every question off topic. Risk and coverage are those of El-Yaniv and
Wiener, On the Foundations of Noise-free Selective Classification, 2010.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refdesk.context import Zone
from refdesk.evaluation.calibrating.asking import Asked, reranker_of
from refdesk.evaluation.comparing.statistics import Estimate, Floats, resampled, share
from refdesk.reranking.thresholds import Thresholds

ROWS = 10
"""About as many limits are in the table."""
NARROWEST = 1e-6
"""Scores that lie closer to each other are one."""
SLACK = 1e-6
"""What rounding may add to a number of steps."""
MEASURED: tuple[Zone, ...] = ("none", "weak", "ok")


@dataclass(frozen=True, slots=True, kw_only=True)
class ZoneRow:
    """How the questions of one kind fall into zones."""

    kind: str
    questions: int
    none: Estimate
    weak: Estimate
    ok: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitRow:
    """What it does to answer from this score on."""

    limit: float
    below: float
    """Share of the questions on topic that score lower."""
    off_topic_below: float | None
    """Share of the questions off topic that score lower; None where there are none."""
    risk: float | None
    """Share of answered questions on topic whose evidence holds no relevant document."""
    risk_with_off_topic: float | None
    mark: str = ""
    """`abstain_below` or `weak_below` where it is a limit in force."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Risk by coverage, for a falling limit."""

    coverage: tuple[float, ...]
    risk: tuple[float, ...]
    area: float
    """Mean risk over all coverages."""
    best: float
    """The area of scores that put every right question before every wrong one."""
    chance: float
    """The area of scores that say nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ZonesReport:
    """What the questions of a data set score, and what limits make of it."""

    data: str
    split: str
    off_topic: str
    reranker: str
    thresholds: Thresholds | None
    """Those in force; None where none are known."""
    zones: tuple[ZoneRow, ...]
    limits: tuple[LimitRow, ...]
    auc: Estimate | None
    """Chance that a question on topic scores higher than one off topic; None where none were asked."""
    auc_right: Estimate | None
    """Chance that one with right evidence scores higher than one on topic without."""
    curve: Curve
    curve_with_off_topic: Curve | None
    asked: tuple[Asked, ...]

    def to_json(self, *, per_query: bool = False) -> dict[str, Any]:
        """Return plain values; `per_query` adds every question with its score."""
        record = asdict(self)
        if not per_query:
            del record["asked"]
        return record


def report_zones(
    asked: Sequence[Asked], thresholds: Thresholds | None, *, data: str, split: str, off_topic: str = ""
) -> ZonesReport:
    """Say what limits make of questions. Errors: `InputError` for no score, or those of two rerankers."""
    on, off = scores_of(asked, on_topic=True), scores_of(asked, on_topic=False)
    right = np.array([one.right for one in asked if one.on_topic], bool)
    everything, all_right = np.concatenate([on, off]), np.concatenate([right, np.zeros(len(off), bool)])
    return ZonesReport(
        data=data,
        split=split,
        off_topic=off_topic,
        reranker=reranker_of(asked),
        thresholds=thresholds,
        zones=zone_rows(on, off, thresholds) if thresholds else (),
        limits=limit_rows(on, right, off, thresholds),
        auc=resampled(auc, on, off) if len(off) else None,
        auc_right=resampled(auc, on[right], on[~right]) if right.any() and not right.all() else None,
        curve=risk_coverage(on, right),
        curve_with_off_topic=risk_coverage(everything, all_right) if len(off) else None,
        asked=tuple(asked),
    )


def scores_of(asked: Sequence[Asked], *, on_topic: bool) -> Floats:
    """Return the scores; a question that found nothing scores less than any other."""
    return np.array(
        [-math.inf if one.score is None else one.score for one in asked if one.on_topic == on_topic], float
    )


def zone_rows(on: Floats, off: Floats, thresholds: Thresholds) -> tuple[ZoneRow, ...]:
    """Return how questions on topic and off topic fall into zones."""
    kinds = {"on topic": on, "off topic": off}
    return tuple(_zone_row(kind, scores, thresholds) for kind, scores in kinds.items() if len(scores))


def _zone_row(kind: str, scores: Floats, thresholds: Thresholds) -> ZoneRow:
    zones = np.array([thresholds.zone(score) for score in scores])
    shares = {zone: share(int((zones == zone).sum()), len(zones)) for zone in MEASURED}
    return ZoneRow(kind=kind, questions=len(scores), **shares)


def limit_rows(
    on: Floats, right: NDArray[np.bool_], off: Floats, thresholds: Thresholds | None
) -> tuple[LimitRow, ...]:
    """Return what round limits do, and those in force among them."""
    in_force = {}
    if thresholds:
        in_force = {thresholds.weak_below: "weak_below", thresholds.abstain_below: "abstain_below"}
    limits = sorted({*round_limits(on, off), *in_force})
    return tuple(_limit_row(limit, on, right, off, in_force.get(limit, "")) for limit in limits)


def _limit_row(limit: float, on: Floats, right: NDArray[np.bool_], off: Floats, mark: str) -> LimitRow:
    answered, let_through = on >= limit, int((off >= limit).sum())
    wrong = int((answered & ~right).sum())
    return LimitRow(
        limit=limit,
        below=float((~answered).mean()),
        off_topic_below=float((off < limit).mean()) if len(off) else None,
        risk=_part(wrong, int(answered.sum())),
        risk_with_off_topic=_part(wrong + let_through, int(answered.sum()) + let_through)
        if len(off)
        else None,
        mark=mark,
    )


def _part(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def round_limits(on: Floats, off: Floats) -> list[float]:
    """Return about ten round numbers, from where questions off topic are to the middle of the others."""
    finite = on[np.isfinite(on)]
    if not len(finite):
        return []
    others = off[np.isfinite(off)]
    low = min(float(finite.min()), float(np.median(others)) if len(others) else math.inf)
    high = float(np.percentile(finite, 60))
    if high - low < NARROWEST:
        return [low]
    rough = (high - low) / ROWS
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= rough * 0.999)
    return [
        round(number * step, 10)
        for number in range(math.ceil(low / step - SLACK), math.floor(high / step + SLACK) + 1)
    ]


def auc(high: Floats, low: Floats) -> float:
    """Return the chance that one of the first is above one of the second, equals counting half."""
    ordered = np.sort(low)
    below = np.searchsorted(ordered, high, side="left")
    upto = np.searchsorted(ordered, high, side="right")
    return float((below + upto).mean() / (2 * len(low)))


def risk_coverage(scores: Floats, right: NDArray[np.bool_]) -> Curve:
    """Return risk by coverage. Questions with equal scores are answered together, in no order."""
    order = np.argsort(-scores, kind="stable")
    wrong, levels = (~right[order]).astype(float), scores[order]
    count = len(wrong)
    ends = np.append(np.flatnonzero(levels[1:] != levels[:-1]) + 1, count)
    lengths = np.diff(ends, prepend=0)
    blocks = np.add.reduceat(wrong, np.append(0, ends[:-1]))
    spread = np.repeat(blocks / lengths, lengths)
    answered = np.arange(1, count + 1)
    risks = np.cumsum(spread) / answered
    best = np.cumsum(np.sort(wrong)) / answered
    return Curve(
        coverage=tuple((ends / count).tolist()),
        risk=tuple(risks[ends - 1].tolist()),
        area=float(risks.mean()),
        best=float(best.mean()),
        chance=float(wrong.mean()),
    )
