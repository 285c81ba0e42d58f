"""Intervals hold what they promise, tests are wrong as often as they say."""

from dataclasses import astuple
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.errors import InputError
from refdesk.evaluation.comparing.statistics import (
    POWER,
    Floats,
    cases_needed,
    detectable,
    holm,
    mean_interval,
    mean_intervals,
    ratio,
    resampled,
    share,
    sign_flips,
    standard_error,
    student,
)

SAMPLES = 400
GAPS = st.lists(st.integers(-20, 20).map(lambda value: value / 20), min_size=1, max_size=12)


def coverage(samples: Floats, mean: float) -> tuple[float, float, float]:
    """Return how many intervals of columns hold the mean, and how many lie above and below it."""
    found = mean_intervals(samples)
    above = sum(one.low > mean for one in found) / len(found)
    below = sum(one.high < mean for one in found) / len(found)
    return 1 - above - below, above, below


@pytest.mark.parametrize("count", [10, 30, 150])
def test_intervals_of_normal_values_hold_the_mean_as_often_as_they_say(count: int) -> None:
    samples = np.random.default_rng(count).normal(0.3, 2.0, (count, SAMPLES))
    held, above, below = coverage(samples, 0.3)
    assert 0.925 <= held <= 0.975
    assert max(above, below) <= 0.045


@pytest.mark.parametrize("count", [50, 150, 500])
def test_intervals_of_differences_that_are_mostly_0_and_skewed_do_too(count: int) -> None:
    values, chances = [0.0, -0.37, -1.0, 0.5], [0.8, 0.1, 0.04, 0.06]
    samples = np.random.default_rng(count).choice(values, (count, SAMPLES), p=chances)
    held, above, below = coverage(samples, float(np.dot(values, chances)))
    assert 0.92 <= held <= 0.98
    assert max(above, below) <= 0.06


def test_an_interval_of_a_skewed_sample_reaches_further_to_the_tail() -> None:
    found = mean_interval(np.random.default_rng(1).exponential(1.0, 60))
    assert found.high - found.value > found.value - found.low


def test_one_value_and_equal_values_have_no_spread() -> None:
    for sample in ([0.3], [0.3] * 7, [0.1 + 0.2, 0.3, 0.3], [0.0, 0.0]):
        found = mean_interval(np.array(sample))
        assert found.low == found.high == found.value == pytest.approx(np.mean(sample))
    two = mean_interval(np.array([0.0, 1.0]))
    assert (two.low, two.value, two.high) == (0.0, 0.5, 1.0)


def test_columns_are_what_they_are_alone_and_a_seed_repeats_them() -> None:
    samples = np.random.default_rng(0).normal(size=(40, 3))
    together = mean_intervals(samples, seed=5)
    for one, column in zip(together, samples.T, strict=True):
        assert astuple(one) == pytest.approx(astuple(mean_interval(column, seed=5)))
    assert together == mean_intervals(samples, seed=5)
    assert together != mean_intervals(samples, seed=6)


@pytest.mark.parametrize("sample", [[], [float("nan"), 1.0], [float("inf")]])
def test_what_is_no_number_is_refused(sample: list[float]) -> None:
    values = np.array(sample)
    for call in (mean_interval, sign_flips, standard_error):
        with pytest.raises(InputError):
            call(values)
    with pytest.raises(InputError):
        ratio(values, values)


@given(GAPS)
def test_few_flips_are_all_looked_at(gaps: list[float]) -> None:
    sums = [sum(side * gap for side, gap in zip(sides, gaps, strict=True)) for sides in _sides(len(gaps))]
    seen = sum(gaps)
    assert sign_flips(np.array(gaps)) == pytest.approx(
        np.mean([abs(one) >= abs(seen) - 1e-9 for one in sums])
    )
    assert sign_flips(np.array(gaps), "below") == pytest.approx(np.mean([one <= seen + 1e-9 for one in sums]))


def _sides(count: int) -> list[tuple[int, ...]]:
    return list(product((-1, 1), repeat=count))


@given(GAPS, st.floats(0.01, 100), st.integers(0, 30))
def test_sign_scale_and_cases_that_do_not_differ_change_nothing(
    gaps: list[float], factor: float, same: int
) -> None:
    values = np.array(gaps)
    chance = sign_flips(values)
    assert 0 < chance <= 1
    assert sign_flips(-values) == chance
    assert sign_flips(values * factor) == chance
    assert sign_flips(np.concatenate([np.zeros(same), values])) == chance


def test_flips_drawn_by_chance_agree_with_all_of_them() -> None:
    draw = np.random.default_rng(3)
    for _ in range(5):
        few = draw.normal(0.3, 1, 14)
        tiny = np.append(few, 1e-12)  # one more than are looked at in full
        assert sign_flips(tiny) == pytest.approx(sign_flips(few), abs=0.02)
        assert sign_flips(tiny, "below") == pytest.approx(sign_flips(few, "below"), abs=0.02)


def test_a_chance_is_never_0_and_no_difference_has_1() -> None:
    assert sign_flips(np.full(200, 0.5)) == pytest.approx(1 / 10_001)
    assert sign_flips(np.zeros(20)) == 1.0
    assert sign_flips(np.array([0.5])) == 1.0
    assert sign_flips(np.array([0.5, 0.5])) == 0.5
    assert sign_flips(np.full(7, -0.1)) == pytest.approx(2**-6)
    assert sign_flips(np.full(7, -0.1), "below") == pytest.approx(2**-7)


@pytest.mark.parametrize("side", ["both", "below"])
def test_chances_are_uniform_where_there_is_nothing(side: str) -> None:
    draw = np.random.default_rng(11)
    chances = [sign_flips(draw.normal(0, 1, 20), side, draws=1999) for _ in range(SAMPLES)]  # type: ignore[arg-type]
    away = np.abs(np.sort(chances) - np.arange(1, SAMPLES + 1) / SAMPLES).max()
    assert away < 1.63 / np.sqrt(SAMPLES)  # Kolmogorov and Smirnov, 1 of 100
    assert np.mean(np.array(chances) <= 0.05) <= 0.08


def test_a_difference_is_seen_as_often_as_promised() -> None:
    count, alpha = 80, 0.02
    size = detectable(1 / np.sqrt(count), alpha=alpha)
    draw = np.random.default_rng(4)
    seen = np.mean([sign_flips(draw.normal(size, 1, count), draws=1999) <= alpha for _ in range(SAMPLES)])
    assert seen == pytest.approx(POWER, abs=0.06)


@given(st.lists(st.floats(0, 1), max_size=20))
def test_corrected_chances_keep_their_order_and_only_rise(chances: list[float]) -> None:
    corrected = holm(chances)
    assert len(corrected) == len(chances)
    assert all(one >= other for one, other in zip(corrected, chances, strict=True))
    assert all(one <= min(1.0, other * len(chances)) for one, other in zip(corrected, chances, strict=True))
    order = np.argsort(chances, kind="stable")
    assert list(np.array(corrected)[order]) == sorted(corrected)


def test_holm_as_written() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.3]) == [0.3]


def test_a_ratio_of_medians_holds_the_true_one() -> None:
    draw, held = np.random.default_rng(8), 0
    for seed in range(60):
        below = draw.gamma(2, 0.1, 120)
        found = ratio(below * draw.lognormal(np.log(1.25), 0.3, 120), below, seed=seed)
        assert found is not None
        held += found.low <= 1.25 <= found.high
    assert held >= 52


def test_ratios_at_the_edges() -> None:
    ones = np.ones(5)
    found = ratio(ones * 3, ones * 2)
    assert found is not None
    assert (found.value, found.low, found.high) == (1.5, 1.5, 1.5)
    assert ratio(ones, np.zeros(5)) is None
    assert ratio(np.array([1.0, 2.0]), np.array([0.0, 1.0])) is None  # a sample may be of the 0 alone
    assert ratio(np.zeros(3), np.ones(3), np.mean) == mean_interval(np.zeros(3))
    with pytest.raises(InputError, match="-1"):
        ratio(np.array([1.0]), np.array([-1.0]))


@pytest.mark.parametrize(
    ("freedom", "quantile"), [(3, 3.182), (5, 2.571), (10, 2.228), (30, 2.042), (1000, 1.962)]
)
def test_quantiles_of_student(freedom: int, quantile: float) -> None:
    assert student(0.975, freedom) == pytest.approx(quantile, abs=0.005)
    assert student(0.025, freedom) == pytest.approx(-student(0.975, freedom))


def test_shares_as_wilson_has_them() -> None:
    assert share(0, 10).high == pytest.approx(0.2775, abs=1e-4)
    assert (share(5, 10).low, share(5, 10).high) == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert share(10, 10).low == pytest.approx(1 - share(0, 10).high)


@given(st.floats(0.05, 2), st.floats(0.01, 0.5))
def test_so_many_cases_are_enough_and_one_less_is_not(spread: float, difference: float) -> None:
    count = cases_needed(spread, difference)
    assert detectable(spread / np.sqrt(count)) <= difference * (1 + 1e-9)
    if count > 2:
        assert detectable(spread / np.sqrt(count - 1)) > difference * (1 - 1e-9)


def test_standard_errors() -> None:
    assert standard_error(np.array([1.0])) is None
    assert standard_error(np.array([0.0, 2.0])) == pytest.approx(1.0)


def test_any_figure_can_be_resampled() -> None:
    values = np.random.default_rng(2).normal(5, 1, 100)
    found = resampled(np.median, values)
    assert found.low < found.value < found.high
    assert found.low > 4.5
    assert found.high < 5.5


def test_an_interval_narrows_with_the_number_of_questions() -> None:
    few, many = (resampled(np.mean, np.array([0.0, 1.0] * half)) for half in (10, 1000))
    assert few == resampled(np.mean, np.array([0.0, 1.0] * 10))
    assert few.low < many.low < 0.5 < many.high < few.high


def test_the_interval_of_a_share() -> None:
    nothing, half, everything = share(0, 150), share(75, 150), share(150, 150)
    assert (nothing.value, nothing.low) == (0.0, 0.0)
    assert nothing.high == pytest.approx(0.02497, abs=1e-5)
    assert (half.low, half.high) == pytest.approx((0.42099, 0.57901), abs=1e-5)
    assert everything.low == pytest.approx(1 - nothing.high)
    assert everything.high == pytest.approx(1.0)
