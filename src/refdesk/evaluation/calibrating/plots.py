"""Pictures of scores: how they are distributed, and risk by coverage. Needs matplotlib, `refdesk[plots]`."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from refdesk.errors import InputError
from refdesk.evaluation.calibrating.levels import LevelsReport
from refdesk.evaluation.calibrating.zones import Curve, ZonesReport, scores_of
from refdesk.evaluation.comparing.statistics import Floats
from refdesk.plugins import load_extra
from refdesk.reranking.thresholds import Thresholds

SUFFIXES = (".png", ".svg", ".pdf")
ON, OFF, LIMIT = "#0072b2", "#d55e00", "#444444"
"""Blue and vermilion differ for readers who see no red or green."""
LINES = ("-", "--")
"""Of the two limits; in the curves they are a dot and a square."""
BINS = 40
SIZE = (11.0, 4.6)
NARROW = (6.4, 4.6)
DPI = 150
HEADROOM = 1.35
"""Room for the legend above the curves."""


def check_plot(path: str | os.PathLike[str]) -> None:
    """Check before long work that a picture can be drawn. Errors: `InputError`, `MissingExtra`."""
    target = Path(path)
    if target.suffix.lower() not in SUFFIXES:
        raise InputError(
            f"Cannot draw {str(target)!r}; names of pictures end with {', '.join(SUFFIXES)}.",
            remedy="Name it so.",
        )
    if not target.absolute().parent.is_dir():
        raise InputError(
            f"The folder of the picture {str(target)!r} does not exist.", remedy="Make it first."
        )
    load_extra("matplotlib.figure", "plots")


def plot_zones(report: ZonesReport, path: str | os.PathLike[str]) -> None:
    """Draw the scores of a report, with the limits in force, and its curves of risk and coverage.

    Errors: `InputError` for an unknown ending or what cannot be written; `MissingExtra`.
    """
    check_plot(path)
    figure = load_extra("matplotlib.figure", "plots").Figure(figsize=SIZE, layout="constrained")
    left, right = figure.subplots(1, 2)
    _distribution(left, report)
    _curves(right, report)
    figure.suptitle(
        f"{report.data}, {report.split}, {report.reranker}", fontsize=9, color=LIMIT, parse_math=False
    )
    _save(figure, path)


def plot_levels(report: LevelsReport, path: str | os.PathLike[str]) -> None:
    """Draw how faithful and other texts score, with the levels that were fitted.

    Errors: `InputError` for an unknown ending or what cannot be written; `MissingExtra`.
    """
    check_plot(path)
    figure = load_extra("matplotlib.figure", "plots").Figure(figsize=NARROW, layout="constrained")
    axes, levels = figure.subplots(), report.fitted.levels
    scores = {kind: np.array(found, float) for kind, found in report.scores.items()}
    _histogram(axes, scores, (ON, OFF))
    _limits(axes, {"partial from": levels.partial_from, "supported from": levels.supported_from})
    axes.set_xlim(0, 1)
    _labels(axes, "How far the weakest statement of a text is held", "Score", "% of the texts")
    figure.suptitle(f"{report.data}, {report.grounder}", fontsize=9, color=LIMIT, parse_math=False)
    _save(figure, path)


def _save(figure: Any, path: str | os.PathLike[str]) -> None:
    try:
        figure.savefig(os.fspath(path), dpi=DPI)
    except OSError as error:
        raise InputError(f"Cannot write the picture {os.fspath(path)!r}: {error}.") from error


def _distribution(axes: Any, report: ZonesReport) -> None:
    kinds = {"on topic": True, "off topic": False}
    _histogram(axes, {kind: scores_of(report.asked, on_topic=on) for kind, on in kinds.items()}, (ON, OFF))
    if limits := report.thresholds:
        _limits(axes, {"abstain below": limits.abstain_below, "weak below": limits.weak_below})
    _labels(axes, "Best reranker score of a question", "Score of the best hit", "% of the questions")


def _histogram(axes: Any, scores: Mapping[str, Floats], colours: Sequence[str]) -> None:
    """Draw scores of several kinds over each other; what scored nothing counts in the whole alone."""
    known = {kind: found[np.isfinite(found)] for kind, found in scores.items()}
    edges = np.histogram_bin_edges(np.concatenate(list(known.values())), bins=BINS)
    for (kind, found), colour in zip(known.items(), colours, strict=True):
        if len(found):
            weights = np.full(len(found), 100 / len(scores[kind]))
            label = f"{kind} ({len(scores[kind]):,})"
            axes.hist(found, edges, weights=weights, alpha=0.6, color=colour, label=label)


def _limits(axes: Any, limits: Mapping[str, float]) -> None:
    for (name, limit), style in zip(limits.items(), LINES, strict=True):
        if np.isfinite(limit):
            axes.axvline(limit, color=LIMIT, linestyle=style, linewidth=1.2, label=f"{name} {limit:.3g}")


def _curves(axes: Any, report: ZonesReport) -> None:
    on, off = (scores_of(report.asked, on_topic=kind) for kind in (True, False))
    _curve(axes, report.curve, on, report.thresholds, ON, "on topic")
    if report.curve_with_off_topic:
        scores = np.concatenate([on, off])
        _curve(axes, report.curve_with_off_topic, scores, report.thresholds, OFF, "with questions off topic")
    if report.thresholds:
        axes.plot([], [], "o", color=LIMIT, label="answered from abstain_below on")
        axes.plot([], [], "s", color=LIMIT, label="answered from weak_below on")
    axes.set_xlim(0, 101)
    axes.set_ylim(0, max(5.0, axes.get_ylim()[1] * HEADROOM))
    axes.grid(alpha=0.25)
    _labels(
        axes, "Risk and coverage, by falling limit", "% of the questions answered", "% from wrong evidence"
    )


def _curve(
    axes: Any, curve: Curve, scores: Floats, limits: Thresholds | None, colour: str, name: str
) -> None:
    label = f"{name}: area {curve.area:.3f} (best {curve.best:.3f}, by chance {curve.chance:.3f})"
    axes.plot(_percent(curve.coverage), _percent(curve.risk), color=colour, label=label)
    axes.axhline(100 * curve.chance, color=colour, linestyle=":", linewidth=1)
    if limits:
        for limit, marker in ((limits.abstain_below, "o"), (limits.weak_below, "s")):
            answered = float((scores >= limit).mean())
            risk = np.interp(answered, curve.coverage, curve.risk)
            axes.plot(100 * answered, 100 * risk, marker, color=colour, clip_on=False)


def _percent(shares: Sequence[float]) -> list[float]:
    return [100 * share for share in shares]


def _labels(axes: Any, title: str, x: str, y: str) -> None:
    axes.set_title(title, fontsize=11)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(fontsize=8, frameon=False)
