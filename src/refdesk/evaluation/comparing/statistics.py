"""What figures of a sample say beyond it: intervals, tests, and how much would have been seen.

- Means: bootstrap, bias-corrected and accelerated (Efron, 1987), with the tails that small samples need
  (Hesterberg, 2015).
- Differences: sign flips (Fisher, 1935), all of them where there are few. Several tests at once: Holm, 1979.
- Shares: Wilson, 1927.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from refdesk.errors import InputError

Floats = NDArray[np.float64]
Side = Literal["both", "below"]
"""Which means speak against chance: on either side of 0, or only those below it."""

RESAMPLES = 10_000
FEW_RESAMPLES = 2000
"""For figures that take longer than a mean."""
CONFIDENCE = 0.95
"""Of intervals."""
ALPHA = 0.02
"""Of verdicts: how often one may be wrong where there is nothing to find, all measures together."""
POWER = 0.8
"""How often a difference that is called detectable would be seen."""
EXACT = 14
"""Differences other than 0 up to which all flips of signs are looked at."""
BLOCK = 2_000_000
"""Numbers that are drawn at a time."""
ROUNDING = 1e-9
"""How far sums that are equal may be apart, as a share of what was added."""
NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its confidence interval of 95 %."""

    value: float
    low: float
    high: float


def mean_intervals(samples: Floats, *, confidence: float = CONFIDENCE, seed: int = 0) -> list[Estimate]:
    """Return the mean of each column with its interval; rows are drawn anew, whole.

    One row, or equal ones, have no spread to tell from: the interval is then the mean itself.
    Errors: `InputError` for no rows, or what is no number.
    """
    samples = _usable(samples)
    drawn = resampled_means(samples, seed=seed)
    columns = zip(samples.T, drawn.T, strict=True)
    return [_interval(column, means, (1 - confidence) / 2) for column, means in columns]


def mean_interval(sample: Floats, *, confidence: float = CONFIDENCE, seed: int = 0) -> Estimate:
    """Return the mean with its interval, as `mean_intervals`."""
    return mean_intervals(_usable(sample)[:, None], confidence=confidence, seed=seed)[0]


def resampled_means(samples: Floats, *, draws: int = RESAMPLES, seed: int = 0) -> Floats:
    """Return the means of each column in samples of as many rows, drawn from these with replacement."""
    rng, count = np.random.default_rng(seed), len(samples)
    columns = np.ascontiguousarray(samples.T)  # and einsum, since BLAS waits for cores that are busy
    sums = [np.einsum("ij,kj->ik", _times_drawn(rng, size, count), columns) for size in blocks(draws, count)]
    return np.concatenate(sums) / count


def _times_drawn(rng: np.random.Generator, draws: int, count: int) -> Floats:
    """Return how often each row is in each draw."""
    drawn = rng.integers(0, count, (draws, count), dtype=np.int32)
    drawn += np.arange(draws, dtype=np.int32)[:, None] * count
    return np.bincount(drawn.ravel(), minlength=draws * count).reshape(draws, count).astype(np.float64)


def blocks(draws: int, count: int) -> Iterator[int]:
    """Divide draws so that each part fits into memory."""
    size = min(draws, max(1, BLOCK // count))
    yield from [size] * (draws // size)
    if draws % size:
        yield draws % size


def _interval(sample: Floats, drawn: Floats, tail: float) -> Estimate:
    """Return the interval of a mean, of what was drawn."""
    count, mean = len(sample), float(sample.mean())
    gaps, slack = sample - mean, ROUNDING * float(np.abs(sample).mean())
    if count < 2 or float(np.abs(gaps).max()) <= slack:
        return Estimate(mean, mean, mean)
    acceleration = float((gaps**3).sum()) / (6 * float((gaps**2).sum()) ** 1.5)
    below = float((drawn < mean - slack).mean() + (drawn <= mean + slack).mean()) / 2
    bias = NORMAL.inv_cdf(min(max(below, 1 / len(drawn)), 1 - 1 / len(drawn)))
    reach = student(1 - tail, count - 1) * math.sqrt(count / (count - 1))
    low, high = np.quantile(drawn, [_place(bias, side * reach, acceleration) for side in (-1, 1)])
    return Estimate(mean, min(float(low), mean), max(float(high), mean))


def _place(bias: float, reach: float, acceleration: float) -> float:
    """Return which quantile of what was drawn is an end of the interval."""
    room = 1 - acceleration * (bias + reach)
    return NORMAL.cdf(bias + (bias + reach) / room) if room > 0 else float(reach > 0)


def student(level: float, freedom: int) -> float:
    """Return a quantile of Student's distribution, by its expansion (Fisher and Cornish, 1960).

    In the usual tails it is right to a hundredth from three degrees of freedom on, too small below.
    """
    z = NORMAL.inv_cdf(level)
    terms: tuple[float, ...] = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return float(z + sum(term / freedom**power for power, term in enumerate(terms, 1)))


def sign_flips(gaps: Floats, side: Side = "both", *, draws: int = RESAMPLES, seed: int = 0) -> float:
    """Return how likely a mean as far from 0 is, where each difference might as well be the other way round.

    All flips are looked at where that is possible, else some by chance, with this one among them (Phipson and
    Smyth, 2010), so the result is never 0. Errors: `InputError` for no differences, or what is no number.
    """
    gaps = _usable(gaps)
    moved = gaps[gaps != 0]
    exact = len(moved) <= EXACT
    sums = _all_flips(moved) if exact else _some_flips(moved, draws, seed)
    seen, slack = float(moved.sum()), ROUNDING * float(np.abs(moved).sum())
    hits = np.abs(sums) >= abs(seen) - slack if side == "both" else sums <= seen + slack
    return float(hits.mean()) if exact else float((hits.sum() + 1) / (len(sums) + 1))


def _all_flips(gaps: Floats) -> Floats:
    sums = np.zeros(1)
    for gap in gaps:
        sums = np.concatenate([sums - gap, sums + gap])
    return sums


def _some_flips(gaps: Floats, draws: int, seed: int) -> Floats:
    rng, count = np.random.default_rng(seed), len(gaps)
    total = gaps.sum()
    kept = (
        rng.integers(0, 2, (size, count), dtype=np.int8).astype(np.float64) for size in blocks(draws, count)
    )
    return np.concatenate([2 * np.einsum("ij,j->i", which, gaps) - total for which in kept])


def holm(chances: Sequence[float]) -> list[float]:
    """Return p values that hold for all tests of a family together, in the order given."""
    order = sorted(range(len(chances)), key=lambda place: chances[place])
    corrected, highest = [0.0] * len(chances), 0.0
    for rank, place in enumerate(order):
        highest = max(highest, min(1.0, chances[place] * (len(chances) - rank)))
        corrected[place] = highest
    return corrected


def ratio(
    above: Floats,
    below: Floats,
    figure: Callable[..., Any] = np.median,
    *,
    confidence: float = CONFIDENCE,
    seed: int = 0,
) -> Estimate | None:
    """Return the ratio of two figures of the same cases, with its interval; None where it is over 0.

    Errors: `InputError` for no cases, what is no number, or is negative.
    """
    pairs = _usable(np.stack([above, below]))
    if pairs.min() < 0:
        raise InputError(f"A ratio of {pairs.min():g} cannot be judged.", remedy="Give values from 0 on.")
    rng, count = np.random.default_rng(seed), pairs.shape[1]
    sizes = blocks(FEW_RESAMPLES, 2 * count)
    drawn = np.concatenate(
        [figure(pairs[:, rng.integers(0, count, (size, count))], axis=2) for size in sizes], axis=1
    )
    top, bottom = (float(value) for value in figure(pairs, axis=1))
    if bottom <= 0 or drawn[1].min() <= 0:
        return None
    tail = (1 - confidence) / 2
    low, high = np.quantile(drawn[0] / drawn[1], [tail, 1 - tail])
    return Estimate(top / bottom, float(low), float(high))


def standard_error(sample: Floats) -> float | None:
    """Return the standard error of the mean; None for fewer than two values."""
    values = _usable(sample)
    return float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else None


def detectable(error: float, *, alpha: float = ALPHA, power: float = POWER) -> float:
    """Return the least difference that a test with this standard error sees so often."""
    return (NORMAL.inv_cdf(1 - alpha / 2) + NORMAL.inv_cdf(power)) * error


def cases_needed(spread: float, difference: float, *, alpha: float = ALPHA, power: float = POWER) -> int:
    """Return how many cases it takes for this difference to be detectable, with this standard deviation."""
    return max(2, math.ceil((detectable(spread, alpha=alpha, power=power) / difference) ** 2))


def cases_unseen(part: float) -> int:
    """Return how many cases, none of which moved, leave room for no larger share that would (Wilson)."""
    return math.ceil(NORMAL.inv_cdf((1 + CONFIDENCE) / 2) ** 2 * (1 / part - 1))


def share(part: int, whole: int) -> Estimate:
    """Return a share with its interval, which has a width also where the share is 0 or 1."""
    normal = NORMAL.inv_cdf((1 + CONFIDENCE) / 2)
    value, square = part / whole, normal**2 / whole
    middle = (value + square / 2) / (1 + square)
    reach = math.sqrt(square * (value * (1 - value) + square / 4)) / (1 + square)
    return Estimate(value=value, low=max(0.0, middle - reach), high=min(1.0, middle + reach))


def resampled(figure: Callable[..., Any], *samples: Floats, seed: int = 0) -> Estimate:
    """Return a figure of samples with its interval, each sample drawn anew from itself."""
    rng = np.random.default_rng(seed)
    drawn = [float(figure(*(redrawn(sample, rng) for sample in samples))) for _ in range(FEW_RESAMPLES)]
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail])
    return Estimate(value=float(figure(*samples)), low=float(low), high=float(high))


def redrawn(sample: Floats, rng: np.random.Generator) -> Floats:
    """Draw a sample as large from a sample, each time from the whole."""
    return sample[rng.integers(0, len(sample), len(sample))] if len(sample) else sample


def _usable(sample: Floats) -> Floats:
    found = np.asarray(sample, dtype=np.float64)
    if not found.size:
        raise InputError("Nothing was measured.", remedy="Give at least one value.")
    if not np.isfinite(found).all():
        raise InputError(
            f"{int((~np.isfinite(found)).sum())} of {found.size} values are no numbers.",
            remedy="Leave out what could not be measured, and say why.",
        )
    return found
