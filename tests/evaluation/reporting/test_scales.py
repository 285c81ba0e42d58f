"""Axes have round ticks inside their ends, and text fits where it stands."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.evaluation.reporting.scales import (
    Scale,
    decades,
    fitted,
    round_values,
    rounded_up,
    text_width,
)

SIZES = st.floats(1e-6, 1e9)


@given(st.floats(-1e6, 1e6), SIZES, st.integers(2, 10))
def test_ticks_are_few_and_inside(low: float, size: float, count: int) -> None:
    high = low + size
    ticks = round_values(low, high, count)
    slack = 1e-6 * max(abs(low), abs(high), 1)
    assert len(ticks) <= count + 1
    assert ticks == sorted(ticks)
    assert all(low - slack <= tick <= high + slack for tick in ticks)


def test_ticks_are_round() -> None:
    assert round_values(0, 1) == [0, 0.2, 0.4, 0.6, 0.8, 1.0]
    assert round_values(0, 37, 5) == [0, 10, 20, 30]
    assert round_values(-0.15, 0.15, 7) == [-0.15, -0.1, -0.05, 0, 0.05, 0.1, 0.15]
    assert round_values(3, 3) == [3]
    assert decades(0.003, 2) == pytest.approx([0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2])
    assert decades(0.001, 1000) == pytest.approx([0.001, 0.01, 0.1, 1, 10, 100, 1000])


@given(SIZES)
def test_an_axis_holds_its_largest_value(value: float) -> None:
    assert value <= rounded_up(value) * (1 + 1e-9)
    assert rounded_up(value) < 2.5 * value
    assert rounded_up(0) == 1.0


@given(st.floats(1e-3, 1e3), st.booleans())
def test_values_are_placed_in_order_and_inside(value: float, logarithmic: bool) -> None:
    scale = Scale(low=0.01, high=100, start=50, end=10, logarithmic=logarithmic)
    assert 10 <= scale.at(value) <= 50
    assert scale.at(value) >= scale.at(value * 1.5)


@given(st.text(max_size=100), st.floats(10, 400))
def test_what_is_cut_fits(text: str, width: float) -> None:
    assert text_width(fitted(text, width)) <= width or fitted(text, width) == "…"


def test_wide_characters_are_wide() -> None:
    assert text_width("漢字") == text_width("abcd")
    assert text_width("é") == text_width("e\u0301")
    assert fitted("a very long name of a document", 60).endswith("…")
    assert not math.isnan(text_width(""))
