"""Tests of several measures at once, corrected for each other, so that a family is rarely wrong."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from refdesk.evaluation.comparing.comparison import MeasureRow, TagRows, Verdict
from refdesk.evaluation.comparing.noise import between_runs
from refdesk.evaluation.comparing.pairing import Group, Paired, pair
from refdesk.evaluation.comparing.statistics import (
    Estimate,
    Floats,
    detectable,
    holm,
    mean_intervals,
    sign_flips,
    standard_error,
)
from refdesk.evaluation.runs.outcomes import lower_is_better

LEAST = 7
"""Cases below which no test of signs can reach `ALPHA`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Families:
    """Makes the tests of one comparison."""

    a: Group
    b: Group
    alpha: float
    seed: int

    def rows(self, measures: Iterable[str], cases: Sequence[str]) -> tuple[MeasureRow, ...]:
        """Return a row for each measure that any case has on both sides; they are one family."""
        pairs = [pair(self.a, self.b, name, cases) for name in measures]
        return self._family([one for one in pairs if one.cases])

    def tags(self, measures: Sequence[str], cases: Sequence[str]) -> tuple[TagRows, ...]:
        """Return rows for each tag that enough cases have, but not all; they are one family."""
        kept = {tag: ids for tag, ids in self._by_tag(cases).items() if LEAST <= len(ids) < len(cases)}
        pairs = [(tag, pair(self.a, self.b, name, ids)) for tag, ids in kept.items() for name in measures]
        pairs = [(tag, one) for tag, one in pairs if len(one.cases) >= LEAST]
        found: dict[str, list[MeasureRow]] = {}
        for (tag, _), row in zip(pairs, self._family([one for _, one in pairs]), strict=True):
            found.setdefault(tag, []).append(row)
        return tuple(TagRows(tag=tag, cases=len(kept[tag]), rows=tuple(rows)) for tag, rows in found.items())

    def _by_tag(self, cases: Iterable[str]) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for case_id in cases:
            for tag in self.a.cases[case_id].tags:
                found.setdefault(tag, []).append(case_id)
        return found

    def _family(self, pairs: Sequence[Paired]) -> tuple[MeasureRow, ...]:
        estimates = differences(pairs, seed=self.seed)
        chances = [sign_flips(one.gaps, seed=self.seed) for one in pairs]
        tested = zip(pairs, estimates, chances, holm(chances), strict=True)
        return tuple(self._row(*one) for one in tested)

    def _row(self, pair: Paired, difference: Estimate, chance: float, corrected: float) -> MeasureRow:
        gains, error = gains_of(pair), standard_error(pair.gaps)
        return MeasureRow(
            measure=pair.measure,
            cases=len(pair.cases),
            a=float(pair.a.mean()),
            b=float(pair.b.mean()),
            difference=difference,
            chance=chance,
            corrected=corrected,
            verdict=self._verdict(difference, corrected, gains),
            better=int((gains > 0).sum()),
            worse=int((gains < 0).sum()),
            detectable=detectable(error, alpha=self.alpha) if error else None,
            left_out=pair.left_out,
            noise_a=between_runs(self.a, pair.measure, pair.cases),
            noise_b=between_runs(self.b, pair.measure, pair.cases),
        )

    def _verdict(self, difference: Estimate, corrected: float, gains: Floats) -> Verdict:
        if corrected > self.alpha or difference.low <= 0 <= difference.high:
            return "no evidence"
        return "better" if gains.mean() > 0 else "worse"


def gains_of(pair: Paired) -> Floats:
    """Return by how much B is better, case by case."""
    return -pair.gaps if lower_is_better(pair.measure) else pair.gaps


def differences(pairs: Sequence[Paired], *, seed: int) -> list[Estimate]:
    """Return the interval of each difference; measures of the same cases are drawn together."""
    alike: dict[tuple[str, ...], list[int]] = {}
    for place, one in enumerate(pairs):
        alike.setdefault(one.cases, []).append(place)
    found: dict[int, Estimate] = {}
    for places in alike.values():
        gaps = np.stack([pairs[place].gaps for place in places], axis=1)
        found |= dict(zip(places, mean_intervals(gaps, seed=seed), strict=True))
    return [found[place] for place in range(len(pairs))]
