"""Figures with intervals, and how they are written."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from refdesk.evaluation.comparing.statistics import Estimate, mean_intervals, share
from refdesk.evaluation.runs.outcomes import is_quality, last_part, lower_is_better
from refdesk.evaluation.searching.metrics import percentile


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """A mean over cases, with its interval of 95 %, which one case alone does not have."""

    value: float
    low: float | None
    high: float | None
    cases: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """How long something took, in seconds."""

    count: int
    mean: float
    p50: float
    p95: float
    p99: float
    longest: float


def means_of(measured: Mapping[str, Mapping[str, float]]) -> dict[str, Mean]:
    """Return the mean of each measure, which is given by case, with its interval.

    That of shares is Wilson's, which has a width also where all cases are alike; else it is bootstrapped.
    """
    found = {name: _of_share(name, values.values()) for name, values in measured.items()}
    others = [name for name, mean in found.items() if mean is None]
    alike: dict[tuple[str, ...], list[str]] = {}
    for name in others:
        alike.setdefault(tuple(measured[name]), []).append(name)
    bootstrapped: dict[str, Mean] = {}
    for cases, names in alike.items():
        table = np.array([[measured[name][case] for name in names] for case in cases], float)
        estimates = mean_intervals(table)
        bootstrapped |= {name: _mean(one, len(cases)) for name, one in zip(names, estimates, strict=True)}
    return {name: mean or bootstrapped[name] for name, mean in found.items()}


def _of_share(name: str, values: Collection[float]) -> Mean | None:
    """Return the mean of values that are all 0 or 1, and no quantity."""
    if lower_is_better(name) or not set(values) <= {0.0, 1.0}:
        return None
    return _mean(share(round(sum(values)), len(values)), len(values))


def _mean(estimate: Estimate, cases: int) -> Mean:
    low, high = (None, None) if cases == 1 else (estimate.low, estimate.high)
    return Mean(value=estimate.value, low=low, high=high, cases=cases)


def latency_of(seconds: Sequence[float]) -> Latency:
    """Return percentiles of times, of which there is at least one."""
    half, most, nearly = (percentile(seconds, part) for part in (0.5, 0.95, 0.99))
    return Latency(
        count=len(seconds),
        mean=sum(seconds) / len(seconds),
        p50=half,
        p95=most,
        p99=nearly,
        longest=max(seconds),
    )


def parts_of(name: str) -> tuple[str, str]:
    """Return what was measured and the measure: `reranked.nDCG@10` is of `reranked`, `seconds` of nothing."""
    about, _, measure = name.rpartition(".")
    return about, measure


def written(name: str, value: float) -> str:
    """Write a value as its measure is written."""
    match last_part(name):
        case "seconds":
            return duration(value)
        case "tokens" | "requests":
            return f"{value:,.0f}" if value >= 100 else f"{value:,.1f}"
        case "cost":
            return money(value)
        case "pollution":
            return f"{value:.2f}"
    return f"{value:.3f}"


def moved(name: str, value: float) -> str:
    """Write a difference of two values, with its sign."""
    if is_quality(name):
        return f"{value:+.3f}"
    return f"{'-' if value < 0 else '+'}{written(name, abs(value))}"


def duration(seconds: float) -> str:
    """Write a time with about three digits."""
    if seconds < 0.0995:
        return f"{seconds * 1000:.3g} ms" if seconds < 0.00995 else f"{seconds * 1000:.1f} ms"
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 59.95:
        return f"{seconds:.2f} s" if seconds < 9.995 else f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s"


def brief(seconds: float) -> str:
    """Write a round time, for axes."""
    if not seconds:
        return "0"
    return f"{seconds * 1000:g} ms" if seconds < 1 else f"{seconds:g} s"


def money(dollars: float) -> str:
    return f"${dollars:,.2f}" if dollars >= 1 or not dollars else f"${dollars:.2g}"


def interval(name: str, mean: Mean) -> str:
    """Write an interval, or nothing for one case alone."""
    if mean.low is None or mean.high is None:
        return ""
    return f"{written(name, mean.low)} to {written(name, mean.high)}"


def percent(value: float | None) -> str:
    return "" if value is None or math.isnan(value) else f"{100 * value:.1f} %"
