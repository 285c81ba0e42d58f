"""Pictures show what they are given, inside their frame, without labels over each other."""

import re
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser, LexborNode

from refdesk.evaluation.calibrating.zones import Curve
from refdesk.evaluation.reporting.bars import Bar, binned, draw_bars, draw_histogram
from refdesk.evaluation.reporting.curves import draw_risk, draw_trend
from refdesk.evaluation.reporting.forest import Gap, draw_gaps
from refdesk.evaluation.reporting.numbers import Mean, latency_of
from refdesk.evaluation.reporting.scales import text_width

SECONDS = st.lists(st.floats(1e-4, 1e3), min_size=1, max_size=200)


def nodes(svg: str, selector: str) -> list[LexborNode]:
    return LexborHTMLParser(f"<body>{svg}</body>").css(selector)


def number(node: LexborNode, name: str) -> float:
    return float(node.attributes[name] or "nan")


def mean(value: float, low: float | None = None, high: float | None = None) -> Mean:
    return Mean(value=value, low=low, high=high, cases=9)


def assert_apart(svg: str) -> None:
    """No two texts on one line overlap."""
    boxes = []
    for node in nodes(svg, "text"):
        width, x = text_width(node.text()), number(node, "x")
        shift = {"end": width, "middle": width / 2}.get(node.attributes.get("text-anchor") or "", 0.0)
        boxes.append((number(node, "y"), x - shift, x - shift + width, node.text()))
    for (y, left, right, one), (other_y, other_left, other_right, other) in combinations(boxes, 2):
        if abs(y - other_y) < 8:
            assert right <= other_left + 1 or other_right <= left + 1, (one, other)


def test_bars_are_as_long_as_their_values() -> None:
    bars = [Bar("keyword", 0, mean(0.5, 0.4, 0.6), "0.500"), Bar("keyword", 1, mean(1.0), "1.000")]
    svg = draw_bars(bars, "Hit@5 & more")
    half, whole = (number(one, "width") for one in nodes(svg, "rect"))
    assert half == pytest.approx(whole / 2, abs=0.1)
    assert len(nodes(svg, "line.whisker")) == 3
    assert [one.text() for one in nodes(svg, "text.name")] == ["keyword"]
    assert [one.attributes["class"] for one in nodes(svg, "rect")] == ["bar s0", "bar s1"]
    [drawn] = nodes(svg, "svg")
    assert drawn.attributes["role"] == "img"
    assert drawn.attributes["aria-label"] == "Hit@5 & more"
    assert_apart(svg)


def test_long_names_are_cut_and_told_in_full() -> None:
    name = "a channel with <b>a very long</b> name, which has no room"
    svg = draw_bars([Bar(name, 0, mean(0.0), "0.000")], "t")
    assert nodes(svg, "text.name")[0].text().endswith("…")
    assert nodes(svg, "title")[0].text() == f"{name}: 0.000"
    assert not nodes(svg, "b")
    assert number(nodes(svg, "rect")[0], "width") > 0
    assert_apart(svg)


@given(SECONDS)
def test_a_histogram_counts_every_case_once(seconds: list[float]) -> None:
    bins = binned(seconds, seconds)
    assert sum(bins.counts) == len(seconds)
    assert_apart(svg := draw_histogram(bins, latency_of(seconds), "t"))
    assert len(nodes(svg, "rect")) == sum(count > 0 for count in bins.counts)
    for one in nodes(svg, "rect"):
        assert number(one, "x") >= 0
        assert number(one, "x") + number(one, "width") <= 381
        assert number(one, "height") > 0
    assert "nan" not in svg


@given(SECONDS, SECONDS)
def test_runs_share_an_axis(one: list[float], other: list[float]) -> None:
    together = [*one, *other]
    assert binned(one, together).edges == binned(other, together).edges
    assert sum(binned(one, together).counts) == len(one)


def test_a_long_tail_has_a_logarithmic_axis() -> None:
    assert not binned([1.0, 2.0], [1.0, 2.0]).logarithmic
    assert binned([0.01] * 50 + [60.0], [0.01] * 50 + [60.0]).logarithmic
    assert sum(binned([0.0, 0.0], [0.0, 0.0]).counts) == 2


def test_risk_ends_where_its_curve_does() -> None:
    curve = Curve(coverage=(0.5, 1.0), risk=(0.0, 0.2), area=0.05, best=0.02, chance=0.2)
    svg = draw_risk([("a run with a very long name " * 5, curve), ("b", curve)], "t")
    lines, dots = nodes(svg, "polyline"), nodes(svg, "circle")
    assert (len(lines), len(dots)) == (2, 2)
    ends = (lines[0].attributes["points"] or "").split()[-1].split(",")
    assert [float(one) for one in ends] == pytest.approx(
        [number(dots[0], "cx"), number(dots[0], "cy")], abs=0.1
    )
    assert "area 0.050 (best possible 0.020, by chance 0.200)" in svg
    assert_apart(svg)


def test_risk_of_runs_without_a_wrong_answer() -> None:
    curve = Curve(coverage=(1.0,), risk=(0.0,), area=0.0, best=0.0, chance=0.0)
    assert "nan" not in draw_risk([("a", curve)], "t")


@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=8))
def test_differences_stand_at_their_side_of_0(gaps: list[tuple[float, float, float]]) -> None:
    given_gaps = [
        Gap(f"measure {place}", value, value - below, value + above, "no-evidence")
        for place, (value, below, above) in enumerate(gaps)
    ]
    svg = draw_gaps(given_gaps, "t")
    [zero] = nodes(svg, "line.axis")
    for gap, dot in zip(given_gaps, nodes(svg, "circle"), strict=True):
        beside = number(dot, "cx") - number(zero, "x1")
        assert abs(beside) < 0.02 or (beside > 0) == (gap.value > 0)
        assert 0 <= number(dot, "cx") <= 480
    assert_apart(svg)


def test_trends_leave_out_what_is_missing() -> None:
    svg = draw_trend([0.1, None, 0.3, 0.3], "t")
    assert len(nodes(svg, "circle")) == 3
    assert not re.search("nan|inf", draw_trend([0.5], "t") + draw_trend([0.0, 0.0], "t"))
