"""Means with intervals, and how figures are written."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.evaluation.comparing.statistics import share
from refdesk.evaluation.reporting.numbers import (
    brief,
    duration,
    interval,
    latency_of,
    means_of,
    money,
    parts_of,
    percent,
    written,
)


def by_case(values: list[float]) -> dict[str, float]:
    return {f"q{place}": value for place, value in enumerate(values)}


def test_shares_have_an_interval_also_where_all_cases_are_alike() -> None:
    found = means_of({"answer.right": by_case([1.0] * 20)})["answer.right"]
    assert (found.value, found.high, found.cases) == (1.0, 1.0, 20)
    assert found.low == pytest.approx(share(20, 20).low)
    assert found.low is not None
    assert found.low < 0.9


def test_quantities_are_no_shares() -> None:
    found = means_of({"cost": by_case([0.0] * 20), "requests": by_case([1.0, 0.0] * 10)})
    assert (found["cost"].low, found["cost"].high) == (0.0, 0.0)
    assert found["requests"].value == 0.5


def test_one_case_has_no_interval() -> None:
    found = means_of({"x.nDCG@10": by_case([0.4])})["x.nDCG@10"]
    assert (found.value, found.low, found.high) == (0.4, None, None)
    assert interval("x.nDCG@10", found) == ""


def test_measures_of_different_cases_are_kept_apart() -> None:
    rng = np.random.default_rng(1)
    many, few = by_case(rng.random(80).tolist()), by_case(rng.random(8).tolist())
    found = means_of({"a": many, "b": few, "c": dict(many)})
    assert found["a"] == found["c"]
    assert (found["a"].cases, found["b"].cases) == (80, 8)
    for name, values in (("a", many), ("b", few)):
        low, high = found[name].low, found[name].high
        assert low is not None
        assert high is not None
        assert low < np.mean(list(values.values())) < high
    assert means_of({}) == {}


@given(st.lists(st.floats(0, 100), min_size=1, max_size=60))
def test_percentiles_are_ordered(seconds: list[float]) -> None:
    found = latency_of(seconds)
    assert min(seconds) <= found.p50 <= found.p95 <= found.p99 <= found.longest == max(seconds)
    assert found.count == len(seconds)


def test_how_figures_are_written() -> None:
    times = (0.0012, 0.0234, 0.234, 1.234, 12.34, 59.96, 75, 7260)
    assert [*map(duration, times)] == [
        "1.2 ms",
        "23.4 ms",
        "234 ms",
        "1.23 s",
        "12.3 s",
        "1 min 00 s",
        "1 min 15 s",
        "2 h 01 min",
    ]
    assert [*map(brief, (0, 0.05, 2.5, 100))] == ["0", "50 ms", "2.5 s", "100 s"]
    assert [money(0), money(0.0123), money(12.5)] == ["$0.00", "$0.012", "$12.50"]
    assert written("reranked.nDCG@10", 0.70049) == "0.700"
    assert written("fused.pollution@5", 3.5) == "3.50"
    assert [written("tokens", 1234.4), written("requests", 1.25)] == ["1,234", "1.2"]
    assert percent(0.1234) == "12.3 %"
    assert percent(None) == percent(float("nan")) == ""
    assert parts_of("a.b.Hit@5") == ("a.b", "Hit@5")
    assert parts_of("seconds") == ("", "seconds")
