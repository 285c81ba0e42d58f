"""Bars with intervals, and histograms with percentiles, as SVG."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from refdesk.evaluation.reporting.markup import Markup, element, joined
from refdesk.evaluation.reporting.numbers import Latency, Mean, brief, duration
from refdesk.evaluation.reporting.scales import Scale, fitted, rounded_up, text_width

ROW, BAR, TOP, FOOT = 19.0, 11.0, 4.0, 22.0
WIDTH, LABELS, VALUES = 380.0, 120.0, 44.0
BINS = 32
HEIGHT = 150.0
SKEWED = 12
"""How many times the middle a slow case takes before its axis becomes logarithmic."""


COLOURS = 6
"""Of runs; further runs have the first ones again."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar: what it is of, which run's colour it has, and its value."""

    name: str
    series: int
    mean: Mean
    shown: str
    """The value, as it is written."""


def picture(width: float, height: float, title: str, *children: Markup) -> Markup:
    """Return an SVG that scales with its box and says what it shows."""
    view = f"0 0 {width:g} {height:g}"
    return element("svg", *children, viewBox=view, width=width, height=height, role="img", aria_label=title)


def text(x: float, y: float, content: str, class_: str = "", **attributes: str | float) -> Markup:
    return element("text", content, x=x, y=y, class_=class_ or None, **attributes)


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def draw_bars(bars: Sequence[Bar], title: str, *, high: float = 1.0) -> Markup:
    """Draw a horizontal bar for each value, from 0, with a whisker for its interval."""
    names = min(LABELS, max(text_width(bar.name) for bar in bars) + 8)
    scale = Scale(low=0, high=high, start=names, end=WIDTH - VALUES)
    tops = _tops(bars)
    foot = tops[-1] + ROW
    drawn = [
        _bar(bar, scale, top, bar.name != (bars[place - 1].name if place else ""))
        for place, (bar, top) in enumerate(zip(bars, tops, strict=True))
    ]
    return picture(WIDTH, foot + FOOT, title, *_grid(scale, TOP, foot), *drawn)


def _tops(bars: Sequence[Bar]) -> list[float]:
    """Return where bars begin; those of one name stand closer together."""
    tops, place = [], TOP
    for number, bar in enumerate(bars):
        if number:
            place += ROW - 4 if bar.name == bars[number - 1].name else ROW + 2
        tops.append(place)
    return tops


def _grid(scale: Scale, top: float, foot: float) -> Iterator[Markup]:
    for tick in scale.ticks():
        x = scale.at(tick)
        yield line(x, top, x, foot, "grid")
        yield text(x, foot + 14, f"{tick:g}", "tick", text_anchor="middle")


def _bar(bar: Bar, scale: Scale, top: float, named: bool) -> Markup:
    middle, start = top + ROW / 2, scale.start
    parts = [
        element("title", f"{bar.name}: {bar.shown}"),
        element(
            "rect",
            x=start,
            y=middle - BAR / 2,
            width=max(scale.at(bar.mean.value) - start, 0.5),
            height=BAR,
            rx=1.5,
            class_=f"bar s{bar.series % COLOURS}",
        ),
    ]
    if named:
        parts.append(text(start - 6, middle + 4, fitted(bar.name, start - 6), "name", text_anchor="end"))
    if bar.mean.low is not None and bar.mean.high is not None:
        parts += _whisker(scale.at(bar.mean.low), scale.at(bar.mean.high), middle)
    parts.append(text(WIDTH - 2, middle + 4, bar.shown, "value", text_anchor="end"))
    return element("g", *parts)


def _whisker(low: float, high: float, middle: float) -> list[Markup]:
    ends = [line(x, middle - 3.5, x, middle + 3.5, "whisker") for x in (low, high)]
    return [line(low, middle, high, middle, "whisker"), *ends]


@dataclass(frozen=True, slots=True)
class Bins:
    """Times, counted between edges."""

    edges: tuple[float, ...]
    counts: tuple[int, ...]
    logarithmic: bool


def binned(seconds: Sequence[float], everything: Sequence[float]) -> Bins:
    """Count times in bins that fit `everything`, so that several runs share an axis."""
    longest, middle = max(everything), float(np.median(everything))
    least = max(min(everything), longest * 1e-6)
    logarithmic = least < longest and longest > SKEWED * middle > 0
    if logarithmic:
        edges = np.geomspace(least, longest * 1.0001, BINS + 1)
    else:
        edges = np.linspace(0, rounded_up(longest), BINS + 1)
    counts, _ = np.histogram(np.clip(seconds, edges[0], edges[-1]), edges)
    return Bins(tuple(edges.tolist()), tuple(counts.tolist()), logarithmic)


def draw_histogram(bins: Bins, latency: Latency, title: str, *, series: int = 0) -> Markup:
    """Draw how times are distributed, with lines at the percentiles."""
    x = Scale(low=bins.edges[0], high=bins.edges[-1], start=34, end=WIDTH - 10, logarithmic=bins.logarithmic)
    marks = list(_percentiles(latency))
    top = 10.0 + 13 * len(marks)
    y = Scale(low=0, high=rounded_up(max(bins.counts), 4), start=top + HEIGHT - 60, end=top)
    return picture(
        WIDTH,
        y.start + FOOT,
        title,
        *_counts(y, x),
        *_columns(bins, x, y, series),
        *_times(x, y.start),
        *(_mark(name, value, x, y.start, place) for place, (name, value) in enumerate(marks)),
    )


def _percentiles(latency: Latency) -> Iterator[tuple[str, float]]:
    yield from (("p50", latency.p50), ("p95", latency.p95), ("p99", latency.p99))


def _counts(y: Scale, x: Scale) -> Iterator[Markup]:
    for tick in y.ticks(4):
        if tick == int(tick):
            yield line(x.start, y.at(tick), x.end, y.at(tick), "grid")
            yield text(x.start - 5, y.at(tick) + 4, f"{tick:,.0f}", "tick", text_anchor="end")


def _columns(bins: Bins, x: Scale, y: Scale, series: int) -> Iterator[Markup]:
    for low, high, count in zip(bins.edges[:-1], bins.edges[1:], bins.counts, strict=True):
        if count:
            left, right, top = x.at(low), x.at(high), y.at(count)
            said = element("title", f"{duration(low)} to {duration(high)}: {count}")
            size = {"width": max(right - left - 1, 1.0), "height": y.start - top}
            yield element("rect", said, x=left + 0.5, y=top, class_=f"bar s{series % COLOURS}", **size)


def _times(x: Scale, foot: float) -> Iterator[Markup]:
    yield line(x.start, foot, x.end, foot, "axis")
    taken = -1e9
    for tick in x.ticks(6):
        word, place = brief(tick), x.at(tick)
        half = text_width(word) / 2
        yield line(place, foot, place, foot + 4, "axis")
        if place - half > taken and place + half <= WIDTH + 8:
            yield text(place, foot + 16, word, "tick", text_anchor="middle")
            taken = place + half + 6


def _mark(name: str, value: float, x: Scale, foot: float, row: int) -> Markup:
    """Draw a percentile; each has its name on a line of its own, so that near ones do not overlap."""
    place, top = x.at(value), 10.0 + 13 * row
    word = f"{name} {duration(value)}"
    right = place + text_width(word) + 6 <= WIDTH
    anchor, beside = ("start", place + 4) if right else ("end", place - 4)
    return joined(
        [line(place, top - 8, place, foot, "mark"), text(beside, top, word, "value", text_anchor=anchor)]
    )
