"""Fit the limits of zones on questions whose answers are known, and say how they do on others.

The rule. `abstain_below` costs questions on topic, so it is a promise to them: of new ones, at most the share
`refused` falls below, on average over what may be drawn (a conformal quantile, Vovk et al., Algorithmic
Learning in a Random World, 2005). Where questions off topic are known, and the limit that divides them best
from the others (balanced accuracy) is lower still, that is the limit. `weak_below` divides best between
questions with right and with wrong evidence, as long as at most the share `weak` of those with right evidence
falls below; whatever scores lower than nearly all questions on topic is weak in any case.
"""

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from refdesk.errors import InputError
from refdesk.evaluation.calibrating.asking import Asked, reranker_of
from refdesk.evaluation.calibrating.zones import ZonesReport, report_zones, scores_of
from refdesk.evaluation.comparing.statistics import Estimate, Floats, redrawn
from refdesk.reranking.thresholds import Thresholds

FEWEST = 20
"""Questions on topic, below which nothing is fitted."""
REFITS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What limits may cost."""

    refused: float = 0.01
    """Share of questions on topic that may score below `abstain_below`."""
    weak: float = 0.2
    """Share of questions with right evidence that may score below `weak_below`."""

    def __post_init__(self) -> None:
        for name, share in (("refused", self.refused), ("weak", self.weak)):
            if not 0 <= share < 1:
                raise InputError(f"The share {name} is {share!r}; it has to be from 0 to less than 1.")
        if self.refused > self.weak:
            raise InputError(f"More may be refused, {self.refused:g}, than weak, {self.weak:g}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationReport:
    """Limits that were fitted on one half of the questions, and what they do to the other half."""

    rule: Rule
    thresholds: Thresholds
    abstain_below: Estimate
    """With the interval of fits on questions drawn anew."""
    weak_below: Estimate
    fitted_on: int
    fitted_off_topic: int
    seed: int
    held_out: ZonesReport
    warnings: tuple[str, ...] = ()

    def to_json(self, *, per_query: bool = False) -> dict[str, Any]:
        """Return plain values; `per_query` adds every question of the other half with its score."""
        return {**asdict(self), "held_out": self.held_out.to_json(per_query=per_query)}


def calibrate(
    asked: Sequence[Asked],
    *,
    data: str,
    split: str,
    off_topic: str = "",
    rule: Rule | None = None,
    seed: int = 0,
) -> CalibrationReport:
    """Fit limits on one half of the questions, drawn by chance, and report on the other half.

    Errors: `InputError` for too few questions, none with right evidence, no score, or two rerankers.
    """
    rule = rule or Rule()
    reranker_of(asked)
    mine, others = halves(asked, seed)
    on = [one for one in mine if one.on_topic]
    if len(on) < FEWEST:
        raise InputError(
            f"There are {len(on)} questions on topic to fit limits on; at least {FEWEST} are needed.",
            remedy=f"Give at least {2 * FEWEST}: half of them are kept for the report.",
        )
    limits = fit(mine, rule)
    low, high = _intervals(mine, rule, seed)
    off_named = f" ({off_topic})" if off_topic else ""
    whole = ", ".join(filter(None, (data, split)))
    named = f"{whole}: {len(on)} questions on topic, {len(mine) - len(on)} off topic{off_named}"
    thresholds = Thresholds(abstain_below=limits[0], weak_below=limits[1], measured_on=named)
    return CalibrationReport(
        rule=rule,
        thresholds=thresholds,
        abstain_below=Estimate(limits[0], *low),
        weak_below=Estimate(limits[1], *high),
        fitted_on=len(on),
        fitted_off_topic=len(mine) - len(on),
        seed=seed,
        held_out=report_zones(others, thresholds, data=data, split=split, off_topic=off_topic),
        warnings=tuple(_warnings(mine, rule)),
    )


def halves(asked: Sequence[Asked], seed: int) -> tuple[list[Asked], list[Asked]]:
    """Divide questions by chance, those on topic and those off topic each in half."""
    draw = random.Random(seed)
    fitted: set[tuple[bool, str]] = set()
    for on_topic in (True, False):
        names = sorted(one.query_id for one in asked if one.on_topic == on_topic)
        fitted.update((on_topic, name) for name in draw.sample(names, (len(names) + 1) // 2))
    mine = [one for one in asked if (one.on_topic, one.query_id) in fitted]
    return mine, [one for one in asked if (one.on_topic, one.query_id) not in fitted]


def fit(asked: Sequence[Asked], rule: Rule) -> tuple[float, float]:
    """Return `abstain_below` and `weak_below`, see above. Errors: `InputError` where no evidence is right."""
    right, wrong, off = groups(asked)
    if not len(right):
        raise InputError(
            "No question has a relevant document in its evidence, so nothing can be fitted.",
            remedy="Check that the questions are about this collection, and that ids are source ids.",
        )
    return fit_scores(right, wrong, off, rule)


def groups(asked: Sequence[Asked]) -> tuple[Floats, Floats, Floats]:
    """Return the scores of questions with right evidence, with wrong evidence, and off topic."""
    on = scores_of(asked, on_topic=True)
    right = np.array([one.right for one in asked if one.on_topic], bool)
    return on[right], on[~right], scores_of(asked, on_topic=False)


def fit_scores(right: Floats, wrong: Floats, off: Floats, rule: Rule) -> tuple[float, float]:
    """Fit limits to the scores of questions with right evidence, with wrong evidence, and off topic."""
    on = np.concatenate([right, wrong])
    few = quantile(on, rule.refused)
    abstain = min(few, best_split(on, off)) if len(off) else few
    doubtful = np.concatenate([wrong, off])
    doubtful = doubtful[doubtful >= abstain]
    weak = min(best_split(right, doubtful), quantile(right, rule.weak)) if len(doubtful) else abstain
    return abstain, max(abstain, few, weak)


def quantile(scores: Floats, share: float) -> float:
    """Return a limit that a new score falls below with at most this chance, where there are enough scores.

    Where they are too few to promise it, that is the lowest.
    """
    finite = np.sort(scores[np.isfinite(scores)])
    place = math.floor(share * (len(scores) + 1)) - int(len(scores) - len(finite))
    return float(finite[min(max(place, 1), len(finite)) - 1])


def best_split(high: Floats, low: Floats) -> float:
    """Return the limit with the best balanced accuracy, in the middle of the gap; the lowest of equals."""
    levels = np.unique(np.concatenate([high, low]))
    levels = levels[np.isfinite(levels)]
    kept = 1 - np.searchsorted(np.sort(high), levels, side="left") / len(high)
    held = np.searchsorted(np.sort(low), levels, side="left") / len(low)
    place = int(np.argmax(np.round(kept + held, 12)))
    return float(levels[place] if place == 0 else (levels[place - 1] + levels[place]) / 2)


def _intervals(
    asked: Sequence[Asked], rule: Rule, seed: int
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the intervals of both limits, by fitting them to questions drawn anew."""
    right, wrong, off = groups(asked)
    rng = np.random.default_rng(seed)
    fits = [
        fit_scores(redrawn(right, rng), redrawn(wrong, rng), redrawn(off, rng), rule) for _ in range(REFITS)
    ]
    low, high = np.percentile(fits, [2.5, 97.5], axis=0)
    return (float(low[0]), float(high[0])), (float(low[1]), float(high[1]))


def _warnings(asked: Sequence[Asked], rule: Rule) -> Iterator[str]:
    count = sum(one.on_topic for one in asked)
    if rule.refused * (count + 1) < 1:
        yield (
            f"{count} questions on topic cannot promise that at most {rule.refused:.1%} are refused; the "
            f"least is {1 / (count + 1):.1%}, with the lowest score as `abstain_below`. Give or allow more."
        )
    if all(one.on_topic for one in asked):
        yield "No questions off topic were asked, so it is unknown how many of them are refused."
