"""Whether a run may pass: it may not where there is evidence that it is worse by more than is allowed."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from refdesk.errors import InputError
from refdesk.evaluation.comparing.families import LEAST, gains_of
from refdesk.evaluation.comparing.gateresult import (
    Finding,
    Gate,
    GateRow,
    failures,
    notes_on,
    regression,
    unproven,
)
from refdesk.evaluation.comparing.headline import headline
from refdesk.evaluation.comparing.pairing import (
    FAILED,
    Group,
    Paired,
    Runs,
    common_cases,
    group,
    pair,
    refuse_other_data,
)
from refdesk.evaluation.comparing.statistics import (
    ALPHA,
    Estimate,
    Floats,
    cases_needed,
    cases_unseen,
    detectable,
    holm,
    mean_interval,
    share,
    sign_flips,
    standard_error,
)
from refdesk.evaluation.runs.outcomes import is_quality

MAX_REGRESSION = 0.01


def gate(
    baseline: Runs,
    candidate: Runs,
    *,
    max_regression: float = MAX_REGRESSION,
    measures: Sequence[str] | None = None,
    max_failed: int = 0,
    strict: bool = False,
    alpha: float = ALPHA,
    seed: int = 0,
    force: bool = False,
) -> Gate:
    """Say whether a candidate may pass. It may not where there is evidence that it is worse than allowed:

    - the interval of a gain lies below `-max_regression` as a whole, and a test of signs, corrected for the
      number of measures, says the same; of what a case takes (seconds, tokens, cost) it is a share of that;
    - or more cases failed than in the baseline, by more than `max_failed`.

    A regression that is possible but not shown passes, and is called `cannot tell`; `strict` stops that too.
    Errors: `InputError` for a candidate that did not come to its end, and those of `compare`.
    """
    _check(max_regression, max_failed, alpha)
    first, second = group(baseline), group(candidate)
    refuse_other_data(first, second, force=force)
    _refuse_unfinished(second)
    cases, left_out = common_cases(first, second)
    names, notes = _watched(first, second, cases, measures)
    pairs = [found for name in names if (found := pair(first, second, name, cases)).cases]
    rows = tuple(_rows([_Watched.of(one, max_regression) for one in pairs], alpha, seed))
    failed = tuple(one for one in cases if second.failures(one) > first.failures(one))
    before = tuple(one for one in cases if first.failures(one) > second.failures(one))
    reasons = [regression(row, max_regression) for row in rows if row.finding == "regressed"]
    if len(failed) - len(before) > max_failed:
        reasons.append(failures(len(failed), len(before), max_failed))
    reasons += unproven(rows, names, max_regression) if strict else ()
    return Gate(
        baseline=tuple(run.header.name for run in first.runs),
        candidate=tuple(run.header.name for run in second.runs),
        max_regression=max_regression,
        max_failed=max_failed,
        cases=len(cases),
        passed=not reasons,
        rows=rows,
        failed=failed,
        failed_before=before,
        reasons=tuple(reasons),
        notes=(*_notes(first, second), *notes, *notes_on(rows, names, left_out, first.runs, max_regression)),
        alpha=alpha,
        seed=seed,
    )


def _notes(first: Group, second: Group) -> Iterator[str]:
    if first.runs == second.runs:
        yield "Baseline and candidate are the same run."


@dataclass(frozen=True, slots=True, kw_only=True)
class _Watched:
    """A measure on the scale that it is judged on: as it is, or as logarithms where shares of it count."""

    pair: Paired
    gains: Floats
    margin: float
    shares: bool

    @property
    def moved(self) -> int:
        return int((self.gains != 0).sum())

    @property
    def unseen(self) -> float:
        """Return the share of cases that may be worse; few that moved say little of those never asked."""
        return share(int((self.gains < 0).sum()), len(self.gains)).high

    @classmethod
    def of(cls, pair: Paired, max_regression: float) -> "_Watched":
        if is_quality(pair.measure):
            return cls(pair=pair, gains=gains_of(pair), margin=max_regression, shares=False)
        if min(pair.a.min(), pair.b.min()) <= 0:
            raise InputError(
                f"{pair.measure!r} is 0 in some cases, so no share of it can be judged.",
                remedy="Watch another measure.",
            )
        gains = np.log(pair.a) - np.log(pair.b)
        return cls(pair=pair, gains=gains, margin=math.log1p(max_regression), shares=True)

    def mean(self, values: Floats) -> float:
        """Return a mean; where shares count the geometric one, so that the gain is what two of them say."""
        return math.exp(np.log(values).mean()) if self.shares else float(values.mean())

    def shown(self, gain: float) -> float:
        """Return a gain as it is told; as a share it is how much less the candidate takes."""
        return -math.expm1(-gain) if self.shares else gain


def _rows(watched: Sequence[_Watched], alpha: float, seed: int) -> Iterator[GateRow]:
    chances = [sign_flips(one.gains + one.margin, "below", seed=seed) for one in watched]
    for one, chance, corrected in zip(watched, chances, holm(chances), strict=True):
        gain = mean_interval(one.gains, seed=seed)
        error = standard_error(one.gains)
        spread = error * math.sqrt(len(one.gains)) if error else 0.0
        yield GateRow(
            measure=one.pair.measure,
            cases=len(one.gains),
            moved=one.moved,
            baseline=one.mean(one.pair.a),
            candidate=one.mean(one.pair.b),
            gain=Estimate(*(one.shown(value) for value in (gain.value, gain.low, gain.high))),
            chance=chance,
            corrected=corrected,
            finding=_finding(gain, one, unlikely=corrected <= alpha),
            seen_from=-one.shown(-one.margin - detectable(error, alpha=alpha)) if error else None,
            needed=_needed(one, spread, alpha) if one.margin else None,
            shares=one.shares,
            left_out=one.pair.left_out,
        )


def _finding(gain: Estimate, one: _Watched, *, unlikely: bool) -> Finding:
    """Name what was found; where few cases moved, their interval says nothing of the others."""
    if unlikely and gain.high < -one.margin:
        return "regressed"
    told = one.moved >= LEAST or one.unseen <= one.margin
    return "held" if told and len(one.gains) >= LEAST and gain.low >= -one.margin else "cannot tell"


def _needed(one: _Watched, spread: float, alpha: float) -> int:
    """Return how many cases it would take; where few moved, so that as few rule it out."""
    by_share = cases_unseen(one.margin) if one.moved < LEAST else 0
    return max(by_share, cases_needed(spread, one.margin, alpha=alpha) if spread else 0)


def _watched(
    a: Group, b: Group, cases: Sequence[str], measures: Sequence[str] | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what is watched; failures are counted apart, and costs only where they are named."""
    found = headline(a, b, cases, measures)
    named = [name for name in dict.fromkeys(measures or ()) if not is_quality(name)]
    return (*(name for name in found.measures if name != FAILED), *named), () if named else found.notes


def _check(max_regression: float, max_failed: int, alpha: float) -> None:
    if not 0 <= max_regression < 1:
        raise InputError(f"max_regression is {max_regression}.", remedy="Give a number from 0 to below 1.")
    if max_failed < 0:
        raise InputError(f"max_failed is {max_failed}.", remedy="Give 0 or more.")
    if not 0 < alpha < 1:
        raise InputError(f"alpha is {alpha}.", remedy="Give a number between 0 and 1, such as 0.02.")


def _refuse_unfinished(candidate: Group) -> None:
    for run in candidate.runs:
        if run.status != "done":
            raise InputError(
                f"The run {run.header.name!r} is {run.status}, with {len(run.outcomes)} of "
                f"{run.header.cases} cases.",
                remedy="Go on with it (`refdesk eval run ... --resume`) before it is judged.",
            )
