"""Differences with their intervals around 0, as SVG."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from refdesk.evaluation.reporting.bars import line, picture, text
from refdesk.evaluation.reporting.markup import Markup, element
from refdesk.evaluation.reporting.scales import Scale, fitted, rounded_up, text_width

WIDTH, LABELS, ROW, TOP, FOOT, RIGHT = 480.0, 170.0, 22.0, 6.0, 24.0, 24.0
NARROWEST = 0.05
"""What the axis shows at least on either side of 0, so that tiny differences look tiny."""


@dataclass(frozen=True, slots=True)
class Gap:
    """A difference, what it is of, and its interval."""

    name: str
    value: float
    low: float
    high: float
    class_: str
    """`better`, `worse` or `no-evidence`."""


def draw_gaps(gaps: Sequence[Gap], title: str) -> Markup:
    """Draw a dot with a whisker for each difference, and a line at 0."""
    names = min(LABELS, max(text_width(gap.name) for gap in gaps) + 10)
    reach = rounded_up(
        max(NARROWEST, *(abs(end) for gap in gaps for end in (gap.low, gap.value, gap.high))), 4
    )
    scale = Scale(low=-reach, high=reach, start=names + 6, end=WIDTH - RIGHT)
    foot = TOP + ROW * len(gaps)
    drawn = [_gap(gap, scale, TOP + ROW * (place + 0.5)) for place, gap in enumerate(gaps)]
    return picture(WIDTH, foot + FOOT, title, *_axis(scale, foot), *drawn)


def _axis(scale: Scale, foot: float) -> Iterator[Markup]:
    for tick in scale.ticks(7):
        x = scale.at(tick)
        yield line(x, TOP, x, foot, "axis" if tick == 0 else "grid")
        yield text(x, foot + 15, f"{tick:+g}" if tick else "0", "tick", text_anchor="middle")


def _gap(gap: Gap, scale: Scale, middle: float) -> Markup:
    low, high = scale.at(gap.low), scale.at(gap.high)
    said = f"{gap.name}: {gap.value:+.3f} ({gap.low:+.3f} to {gap.high:+.3f}), {gap.class_.replace('-', ' ')}"
    return element(
        "g",
        element("title", said),
        text(scale.start - 12, middle + 4, fitted(gap.name, scale.start - 14), "name", text_anchor="end"),
        line(low, middle, high, middle, "whisker"),
        *(line(x, middle - 4, x, middle + 4, "whisker") for x in (low, high)),
        element("circle", cx=scale.at(gap.value), cy=middle, r=4.5, class_=f"gap {gap.class_}"),
    )
