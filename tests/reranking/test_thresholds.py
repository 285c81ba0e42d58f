"""Limits on scores, and what becomes of them where some are given."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.errors import InputError
from refdesk.reranking.thresholds import SHIPPED, Thresholds, completed

LIMITS = Thresholds(abstain_below=-4.0, weak_below=0.0)
NUMBERS = st.floats(allow_nan=False)


@pytest.mark.parametrize(
    ("score", "zone"), [(-math.inf, "none"), (-4.001, "none"), (-4.0, "weak"), (-0.001, "weak"), (0.0, "ok")]
)
def test_zones(score: float, zone: str) -> None:
    assert LIMITS.zone(score) == zone


@pytest.mark.parametrize("low", [float("nan"), None, "0.2", True])
def test_limits_are_numbers(low: Any) -> None:
    with pytest.raises(InputError, match="abstain_below"):
        Thresholds(abstain_below=low, weak_below=0.5)


def test_limits_in_the_wrong_order() -> None:
    with pytest.raises(InputError, match=r"abstain_below, 0\.5, is above weak_below, 0\.2"):
        Thresholds(abstain_below=0.5, weak_below=0.2)


@given(low=st.none() | NUMBERS, high=st.none() | NUMBERS, known=st.none() | st.just(LIMITS))
def test_a_limit_that_is_given_counts(
    low: float | None, high: float | None, known: Thresholds | None
) -> None:
    if low is not None and high is not None and low > high:
        low, high = high, low
    found = completed(known, low, high)
    if found is None:
        assert known is None
        assert None in (low, high)
    else:
        assert low in (None, found.abstain_below)
        assert high in (None, found.weak_below)
        assert found.abstain_below <= found.weak_below


def test_what_is_shipped_says_what_it_was_measured_on() -> None:
    for name, limits in SHIPPED.items():
        assert name.startswith("maxsim(all-MiniLM-L6-v2@")
        assert 0 < limits.abstain_below < limits.weak_below < 1
        assert limits.measured_on
