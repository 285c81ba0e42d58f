"""Pictures of scores: how they are distributed, and risk by coverage. Needs matplotlib, `refdesk[plots]`."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from refdesk.errors import InputError
from refdesk.evaluation.zones import Curve, Floats, ZonesReport, scores_of
from refdesk.plugins import load_extra
from refdesk.reranking.thresholds import Thresholds

SUFFIXES = (".png", ".svg", ".pdf")
ON, OFF, LIMIT = "#0072b2", "#d55e00", "#444444"
"""Blue and vermilion differ for readers who see no red or green."""
LINES = ("-", "--")
"""Of the two limits; in the curves they are a dot and a square."""
BINS = 40
SIZE = (11.0, 4.6)
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
    try:
        figure.savefig(os.fspath(path), dpi=DPI)
    except OSError as error:
        raise InputError(f"Cannot write the picture {os.fspath(path)!r}: {error}.") from error


def _distribution(axes: Any, report: ZonesReport) -> None:
    kinds = {"on topic": (True, ON), "off topic": (False, OFF)}
    scores = {kind: scores_of(report.asked, on_topic=on) for kind, (on, _) in kinds.items()}
    known = {kind: found[np.isfinite(found)] for kind, found in scores.items()}
    everything = np.concatenate(list(known.values()))
    edges = np.histogram_bin_edges(everything, bins=BINS)
    for kind, found in known.items():
        if len(found):
            weights = np.full(len(found), 100 / len(scores[kind]))
            label = f"{kind} ({len(scores[kind]):,})"
            axes.hist(found, edges, weights=weights, alpha=0.6, color=kinds[kind][1], label=label)
    if report.thresholds:
        limits = {
            "abstain below": report.thresholds.abstain_below,
            "weak below": report.thresholds.weak_below,
        }
        for (name, limit), style in zip(limits.items(), LINES, strict=True):
            if np.isfinite(limit):
                axes.axvline(limit, color=LIMIT, linestyle=style, linewidth=1.2, label=f"{name} {limit:.3g}")
    _labels(axes, "Best reranker score of a question", "Score of the best hit", "% of the questions")


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
