"""Limits that are fitted: the promise of the first, the sense of the second, and what cannot be fitted."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.evaluation.conftest import asked, crowd

from refdesk.errors import InputError
from refdesk.evaluation.calibrating.calibration import (
    Rule,
    best_split,
    calibrate,
    fit,
    fit_scores,
    halves,
    quantile,
)

SCORES = st.lists(st.floats(-10, 10), min_size=1, max_size=40)
GROUP = st.lists(st.floats(-10, 10), max_size=40)


@given(SCORES, st.floats(0, 0.99))
def test_a_quantile_leaves_at_most_the_share_below(scores: list[float], share: float) -> None:
    limit = quantile(np.array(scores), share)
    assert limit in scores
    assert sum(score < limit for score in scores) <= share * (len(scores) + 1)


def test_the_share_holds_for_new_questions_on_average() -> None:
    draw = np.random.default_rng(0)
    below = [(draw.normal(size=200) < quantile(draw.normal(size=99), 0.05)).mean() for _ in range(400)]
    assert 0.04 < np.mean(below) < 0.0505


@given(SCORES, SCORES)
def test_no_limit_divides_better(high: list[float], low: list[float]) -> None:
    def balanced(limit: float) -> float:
        return float(np.mean(np.array(high) >= limit) + np.mean(np.array(low) < limit)) / 2

    limit = best_split(np.array(high), np.array(low))
    assert balanced(limit) >= max(balanced(other) for other in (*high, *low)) - 1e-9


def test_a_gap_is_divided_in_its_middle() -> None:
    assert best_split(np.array([0.6, 0.8]), np.array([0.1, 0.2])) == pytest.approx(0.4)


@given(right=SCORES, wrong=GROUP, off=GROUP)
def test_limits_are_in_order_and_within_the_scores(
    right: list[float], wrong: list[float], off: list[float]
) -> None:
    abstain, weak = fit_scores(np.array(right), np.array(wrong), np.array(off), Rule())
    assert abstain <= weak
    scores = [*right, *wrong, *off]
    assert min(scores) <= abstain
    assert weak <= max(scores)
    on = [*right, *wrong]
    assert sum(score < abstain for score in on) <= 0.01 * (len(on) + 1)


def test_groups_apart_are_divided_between_them() -> None:
    abstain, weak = fit_scores(np.linspace(0.5, 0.9, 200), np.array([]), np.linspace(0, 0.1, 50), Rule())
    assert abstain == pytest.approx(0.3)
    assert weak == pytest.approx(0.502, abs=0.001)


def test_groups_that_overlap_keep_the_promise_to_questions_on_topic() -> None:
    abstain, weak = fit_scores(np.linspace(0.3, 0.9, 999), np.array([]), np.linspace(0.1, 0.5, 99), Rule())
    assert abstain == pytest.approx(0.3 + 0.6 * 9 / 998)
    assert 0.3 + 0.6 * 0.2 >= weak > abstain


def test_wrong_evidence_sets_the_second_limit_and_its_share_bounds_it() -> None:
    right, wrong = np.linspace(0.4, 0.9, 500), np.linspace(0.3, 0.42, 100)
    _, weak = fit_scores(right, wrong, np.array([]), Rule())
    assert weak == pytest.approx(0.42, abs=0.002)
    _, bounded = fit_scores(right, wrong + 0.4, np.array([]), Rule(weak=0.1))
    assert bounded == pytest.approx(np.percentile(right, 10), abs=0.002)


def test_one_half_is_fitted_and_the_other_reported() -> None:
    report = calibrate(crowd(), data="set", split="test", off_topic="others", seed=3)
    low, high = report.thresholds.abstain_below, report.thresholds.weak_below
    assert 0.15 < low < 0.35 < high < 0.5
    assert (report.fitted_on, report.fitted_off_topic) == (100, 100)
    fitted, others = halves(crowd(), 3)
    assert fit(fitted, Rule()) == (low, high)
    assert report.held_out.asked == tuple(others)
    assert report.held_out.zones[1].none.value > 0.8
    assert report.abstain_below.low <= low <= report.abstain_below.high
    assert report.thresholds.measured_on == "set, test: 100 questions on topic, 100 off topic (others)"
    assert report == calibrate(crowd(), data="set", split="test", off_topic="others", seed=3)
    json.dumps(report.to_json(per_query=True))


@given(st.permutations(crowd(20)), st.integers(0, 5))
def test_halves_do_not_depend_on_the_order(rows: list[object], seed: int) -> None:
    mine, others = halves(rows, seed)  # type: ignore[arg-type]
    first = {one.query_id for one in halves(crowd(20), seed)[0]}
    assert {one.query_id for one in mine} == first
    assert first.isdisjoint(one.query_id for one in others)
    assert len(mine) == len(others) == 20


def test_too_few_questions_are_said() -> None:
    with pytest.raises(InputError, match="19 questions on topic"):
        calibrate(crowd(38), data="set", split="test")
    report = calibrate(crowd(40), data="set", split="test")
    assert "20 questions on topic cannot promise" in report.warnings[0]
    assert "the least is 4.8%" in report.warnings[0]
    assert calibrate(crowd(40), data="s", split="t", rule=Rule(refused=0.05)).warnings == ()
    nothing = calibrate(crowd(40), data="s", split="t", rule=Rule(refused=0.0))
    assert "at most 0.0%" in nothing.warnings[0]


def test_without_questions_off_topic_it_says_so() -> None:
    rows = [one for one in crowd(300) if one.on_topic]
    report = calibrate(rows, data="set", split="test")
    assert "No questions off topic" in report.warnings[0]
    assert report.thresholds.abstain_below < report.thresholds.weak_below


def test_what_cannot_be_fitted() -> None:
    wrong = [asked(0.1 * n, right=False, name=str(n)) for n in range(60)]
    with pytest.raises(InputError, match="No question has a relevant document"):
        calibrate(wrong, data="set", split="test")
    with pytest.raises(InputError, match="No question found anything"):
        calibrate([asked(None, name=str(n)) for n in range(60)], data="set", split="test")


def test_questions_that_found_nothing_do_not_move_the_limits_to_infinity() -> None:
    rows = [*crowd(), *(asked(None, right=False, name=f"n{n}") for n in range(40))]
    report = calibrate(rows, data="set", split="test")
    assert math.isfinite(report.thresholds.abstain_below)
    assert report.held_out.zones[0].none.value > 0.05


@pytest.mark.parametrize(
    "shares", [{"refused": -0.1}, {"weak": 1.0}, {"refused": 0.3}, {"weak": float("nan")}]
)
def test_shares_that_cannot_be(shares: dict[str, float]) -> None:
    with pytest.raises(InputError):
        Rule(**shares)
