"""What limits do: figures against slow and plain ways to compute them."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.evaluation.conftest import asked, crowd

from refdesk.errors import InputError
from refdesk.evaluation.calibrating.zones import (
    auc,
    report_zones,
    risk_coverage,
    round_limits,
    scores_of,
)
from refdesk.reranking.thresholds import Thresholds

LIMITS = Thresholds(abstain_below=0.25, weak_below=0.4)
SCORES = st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.5, -math.inf]), min_size=1, max_size=12)


@given(high=SCORES, low=SCORES)
def test_auc_is_the_chance_to_be_above(high: list[float], low: list[float]) -> None:
    pairs = [1.0 if one > other else 0.5 if one == other else 0.0 for one in high for other in low]
    assert auc(np.array(high), np.array(low)) == pytest.approx(sum(pairs) / len(pairs))


def answered_from(limit: float, scores: Sequence[float], right: Sequence[bool]) -> tuple[float, float]:
    """Return coverage and risk where questions are answered from a limit on."""
    answered = [one for score, one in zip(scores, right, strict=True) if score >= limit]
    return len(answered) / len(scores), answered.count(False) / len(answered)


@given(st.lists(st.tuples(st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.4]), st.booleans()), min_size=1))
def test_a_curve_has_a_point_for_every_limit(rows: list[tuple[float, bool]]) -> None:
    scores, right = zip(*rows, strict=True)
    curve = risk_coverage(np.array(scores), np.array(right))
    expected = [answered_from(limit, scores, right) for limit in sorted(set(scores), reverse=True)]
    assert list(zip(curve.coverage, curve.risk, strict=True)) == [pytest.approx(point) for point in expected]
    assert curve.coverage[-1] == 1.0
    assert curve.chance == pytest.approx(right.count(False) / len(right))
    assert curve.best - 1e-9 <= curve.area <= 1


@given(st.lists(st.booleans(), min_size=1), st.randoms())
def test_the_area_does_not_depend_on_the_order_of_equal_scores(right: list[bool], draw: object) -> None:
    curve = risk_coverage(np.zeros(len(right)), np.array(right))
    assert curve.area == pytest.approx(curve.chance)
    assert len(curve.coverage) == 1


def test_scores_that_put_right_before_wrong_are_the_best() -> None:
    right = np.array([True, True, False, True, False])
    curve = risk_coverage(right.astype(float) + np.array([0.3, 0.2, 0.1, 0.4, 0.5]), right)
    assert curve.area == pytest.approx(curve.best) == pytest.approx((1 / 4 + 2 / 5) / 5)
    assert curve.risk[:3] == (0.0, 0.0, 0.0)


def test_the_figures_of_a_report() -> None:
    rows = [
        asked(0.9, name="a"),
        asked(0.6, right=False, name="b"),
        asked(0.3, name="c"),
        asked(None, name="d", right=False),
        asked(0.3, on_topic=False, name="e"),
        asked(0.1, on_topic=False, name="f"),
    ]
    report = report_zones(rows, LIMITS, data="set", split="test", off_topic="others")
    on, off = report.zones
    assert (on.kind, on.questions, on.none.value, on.weak.value, on.ok.value) == (
        "on topic",
        4,
        0.25,
        0.25,
        0.5,
    )
    assert (off.questions, off.none.value, off.weak.value, off.ok.value) == (2, 0.5, 0.5, 0.0)
    marked = {row.mark: row for row in report.limits if row.mark}
    abstain = marked["abstain_below"]
    assert (abstain.below, abstain.off_topic_below) == (0.25, 0.5)
    assert abstain.risk == pytest.approx(1 / 3)
    assert abstain.risk_with_off_topic == pytest.approx(2 / 4)
    assert marked["weak_below"].risk == 0.5
    assert report.auc is not None
    assert report.auc.value == pytest.approx((2 + 2 + 1.5 + 0) / 8)
    assert report.auc.low <= report.auc.value <= report.auc.high
    assert report.curve.coverage == (0.25, 0.5, 0.75, 1.0)
    assert report.curve_with_off_topic is not None
    assert report.curve_with_off_topic.chance == pytest.approx(4 / 6)


def test_without_limits_and_questions_off_topic() -> None:
    report = report_zones([asked(0.1), asked(0.2)], None, data="set", split="test")
    assert (report.zones, report.auc, report.auc_right, report.curve_with_off_topic) == ((), None, None, None)
    assert {row.off_topic_below for row in report.limits} == {None}
    assert not any(row.mark for row in report.limits)


def test_a_report_becomes_json() -> None:
    report = report_zones(crowd(30), LIMITS, data="set", split="test")
    assert "asked" not in json.loads(json.dumps(report.to_json()))
    whole = json.loads(json.dumps(report.to_json(per_query=True)))
    assert len(whole["asked"]) == 60
    assert whole["thresholds"]["weak_below"] == 0.4


def test_equal_limits_and_infinite_ones() -> None:
    for low, high in ((0.4, 0.4), (-math.inf, math.inf)):
        report = report_zones(crowd(30), Thresholds(abstain_below=low, weak_below=high), data="s", split="t")
        assert sum(row.weak.value for row in report.zones) == (0 if low == high else 2)


def test_scores_of_two_rerankers_do_not_compare() -> None:
    from_another = [asked(0.5, name="x"), replace(asked(0.5, name="y"), reranker="yours")]
    with pytest.raises(InputError, match="mine and yours"):
        report_zones(from_another, None, data="s", split="t")
    with pytest.raises(InputError, match="No question found anything"):
        report_zones([asked(None)], None, data="s", split="t")


@given(
    on=st.lists(st.floats(-20, 20), min_size=1, max_size=30), off=st.lists(st.floats(-20, 20), max_size=30)
)
def test_limits_are_round_ascending_and_few(on: list[float], off: list[float]) -> None:
    limits = round_limits(np.array(on), np.array(off))
    assert limits == sorted(set(limits))
    assert len(limits) <= 14
    assume(np.percentile(on, 60) - min(on) > 1e-3)
    assert len(limits) >= 4


def test_the_limits_of_scores_of_two_scales() -> None:
    assert round_limits(np.linspace(0.2, 0.8, 100), np.linspace(0.05, 0.25, 100))[:3] == [0.15, 0.2, 0.25]
    assert round_limits(np.array([-math.inf]), np.array([])) == []


def test_questions_that_found_nothing_score_less_than_any() -> None:
    assert scores_of([asked(None), asked(-9.0)], on_topic=True).tolist() == [-math.inf, -9.0]
