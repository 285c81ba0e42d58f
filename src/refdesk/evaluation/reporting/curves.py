"""Curves: risk by coverage, and how a measure went over several runs."""

from collections.abc import Iterator, Sequence

from refdesk.evaluation.calibrating.zones import Curve
from refdesk.evaluation.reporting.bars import COLOURS, line, picture, text
from refdesk.evaluation.reporting.markup import Markup, element, joined
from refdesk.evaluation.reporting.scales import Scale, fitted, rounded_up

WIDTH, HEIGHT, LEFT, RIGHT, TOP, FOOT = 480.0, 250.0, 46.0, 12.0, 10.0, 42.0
LEGEND = 17.0
SPARK_WIDTH, SPARK_HEIGHT = 120.0, 26.0


def draw_risk(curves: Sequence[tuple[str, Curve]], title: str) -> Markup:
    """Draw the share of wrong answers by the share of cases that is answered, for each run."""
    highest = max(max(curve.risk) for _, curve in curves)
    top = min(rounded_up(max(highest * 1.02, 0.05)), 1.0)
    foot = HEIGHT - FOOT
    x = Scale(low=0, high=1, start=LEFT, end=WIDTH - RIGHT)
    y = Scale(low=0, high=top, start=foot, end=TOP)
    return picture(
        WIDTH,
        foot + FOOT + LEGEND * len(curves),
        title,
        *_axes(x, y),
        *(_curve(curve, x, y, series) for series, (_, curve) in enumerate(curves)),
        *(_legend(name, curve, foot + FOOT, series) for series, (name, curve) in enumerate(curves)),
    )


def _axes(x: Scale, y: Scale) -> Iterator[Markup]:
    for tick in y.ticks(5):
        yield line(x.start, y.at(tick), x.end, y.at(tick), "grid")
        yield text(x.start - 6, y.at(tick) + 4, f"{100 * tick:g} %", "tick", text_anchor="end")
    yield line(x.start, y.start, x.end, y.start, "axis")
    for tick in x.ticks(6):
        anchor = "end" if tick == 1 else "middle"
        yield line(x.at(tick), y.start, x.at(tick), y.start + 4, "axis")
        yield text(x.at(tick), y.start + 16, f"{100 * tick:g} %", "tick", text_anchor=anchor)
    yield text(
        (x.start + x.end) / 2,
        y.start + 33,
        "answered, the most confident first",
        "name",
        text_anchor="middle",
    )


def _curve(curve: Curve, x: Scale, y: Scale, series: int) -> Markup:
    points = [(x.at(share), y.at(risk)) for share, risk in zip(curve.coverage, curve.risk, strict=True)]
    path = " ".join(f"{across:.1f},{up:.1f}" for across, up in points)
    end = points[-1]
    return joined(
        [
            line(x.start, y.at(curve.chance), x.end, y.at(curve.chance), f"chance l{series % COLOURS}"),
            element("polyline", points=path, class_=f"line l{series % COLOURS}"),
            element("circle", cx=end[0], cy=end[1], r=3.5, class_=f"dot s{series % COLOURS}"),
        ]
    )


def _legend(name: str, curve: Curve, top: float, series: int) -> Markup:
    said = f": area {curve.area:.3f} (best possible {curve.best:.3f}, by chance {curve.chance:.3f})"
    room = WIDTH - LEFT - 20 - 6.3 * len(said)
    place = top + LEGEND * series + 8
    return joined(
        [
            line(LEFT, place - 4, LEFT + 16, place - 4, f"line l{series % COLOURS}"),
            text(LEFT + 22, place, fitted(name, max(room, 60)) + said, "tick"),
        ]
    )


def draw_trend(values: Sequence[float | None], title: str) -> Markup:
    """Draw how a measure went from run to run; a run without it leaves a gap."""
    known = [value for value in values if value is not None]
    low, high = min(known), max(known)
    room = (high - low or abs(high) or 1) * 0.1
    x = Scale(low=0, high=max(len(values) - 1, 1), start=5, end=SPARK_WIDTH - 5)
    y = Scale(low=low - room, high=high + room, start=SPARK_HEIGHT - 4, end=4)
    points = [(x.at(place), y.at(value)) for place, value in enumerate(values) if value is not None]
    path = " ".join(f"{across:.1f},{up:.1f}" for across, up in points)
    dots = [element("circle", cx=across, cy=up, r=2, class_="dot s0") for across, up in points]
    return picture(
        SPARK_WIDTH, SPARK_HEIGHT, title, element("polyline", points=path, class_="line l0"), *dots
    )
