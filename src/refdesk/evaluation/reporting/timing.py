"""Parts of the page about time, and about what was refused."""

from collections.abc import Iterator, Sequence

import numpy as np

from refdesk.evaluation.calibrating.zones import Curve
from refdesk.evaluation.reporting.bars import binned, draw_histogram
from refdesk.evaluation.reporting.curves import draw_risk
from refdesk.evaluation.reporting.markup import Child, Markup, element, label
from refdesk.evaluation.reporting.numbers import Mean, duration, percent
from refdesk.evaluation.reporting.summary import RunSummary
from refdesk.evaluation.reporting.tables import (
    Cell,
    Section,
    blocks,
    counted,
    figure,
    folded,
    legend,
    paragraph,
    section,
    table,
)
from refdesk.evaluation.reporting.verdicts import meaning
from refdesk.evaluation.runs.outcomes import Run

COVERAGES = tuple(part / 10 for part in range(1, 11))


def latency(runs: Sequence[Run], summaries: Sequence[RunSummary]) -> Section | None:
    """Return how long cases and searches took; None where no case came to its end."""
    rows = list(_latencies(summaries))
    if not rows:
        return None
    several: list[Child] = ["run"] if len(runs) > 1 else []
    headings = ["time of", *several, "n", "mean", "p50", "p95", "p99", "longest"]
    return section(
        "latency", "Latency", blocks(_histograms(runs, summaries), "panels"), table(None, headings, rows)
    )


def _histograms(runs: Sequence[Run], summaries: Sequence[RunSummary]) -> Iterator[Markup]:
    seconds = [[one.seconds for one in run.outcomes.values() if not one.error] for run in runs]
    together = [value for values in seconds for value in values]
    for series, (values, summary) in enumerate(zip(seconds, summaries, strict=True)):
        if values:
            bins, name = binned(values, together), summary.header.name
            title = f"How long the {len(values)} cases of {name} took"
            drawn = draw_histogram(bins, summary.latency["case"], title, series=series)
            told: list[list[Child | Cell]] = [
                [f"{duration(low)} to {duration(high)}", Cell(count, "number")]
                for low, high, count in zip(bins.edges[:-1], bins.edges[1:], bins.counts, strict=True)
                if count
            ]
            scale = " (logarithmic axis)" if bins.logarithmic else ""
            caption: Child = ["Seconds by case", scale, ": ", label(name, 80)]
            yield figure(caption, drawn, folded("As a table", table(None, ["time", "cases"], told)))


def _latencies(summaries: Sequence[RunSummary]) -> Iterator[list[Child | Cell]]:
    for name in dict.fromkeys(name for one in summaries for name in one.latency):
        for summary in summaries:
            if one := summary.latency.get(name):
                times = (one.mean, one.p50, one.p95, one.p99, one.longest)
                cells = [Cell(one.count, "number"), *(Cell(duration(time), "number", time) for time in times)]
                shown = "whole case" if name == "case" else label(name, 40)
                yield [shown, *_run(summary, summaries), *cells]


def _run(summary: RunSummary, summaries: Sequence[RunSummary]) -> list[Child]:
    """Return the name of a run where there are several."""
    return [label(summary.header.name, 40)] if len(summaries) > 1 else []


def abstention(summaries: Sequence[RunSummary]) -> Section | None:
    """Return what was refused, rightly and falsely; None where nothing was answered."""
    rows = list(_refusals(summaries))
    if not rows:
        return None
    several: list[Child] = ["run"] if len(summaries) > 1 else []
    headings = ["questions", *several, "n", "refused", "right among those answered"]
    reasons = [
        [
            element("h3", "Why ", label(one.header.name, 80), " refused"),
            counted(one.abstaining.refusals.items()),
        ]
        for one in summaries
        if one.abstaining and one.abstaining.refusals
    ]
    told = paragraph(meaning(summaries[0].criteria), class_="quiet")
    return section("abstention", "Answers and refusals", told, table(None, headings, rows), reasons)


def _refusals(summaries: Sequence[RunSummary]) -> Iterator[list[Child | Cell]]:
    found = [(one, row) for one in summaries for row in (one.abstaining.rows if one.abstaining else ())]
    for summary, row in sorted(found, key=lambda pair: not pair[1].answerable):
        right = "–" if row.right is None else _share(row.right)
        figures = [Cell(row.cases, "number"), Cell(_share(row.refused), "number"), Cell(right, "number")]
        yield [KINDS[row.answerable], *_run(summary, summaries), *figures]


KINDS = {
    True: ["that the documents answer ", element("small", "a refusal is false")],
    False: ["that they do not answer ", element("small", "a refusal is right")],
}


def _share(mean: Mean) -> Child:
    low, high = percent(mean.low), percent(mean.high)
    return [percent(mean.value), element("small", f" ({low} to {high})") if low else None]


def risk(summaries: Sequence[RunSummary]) -> Section | None:
    """Return how confidence tells right answers from wrong ones; None where that is not known."""
    found = [(one, one.abstaining) for one in summaries if one.abstaining and one.abstaining.curve]
    curves = [(one.header.name, known.curve) for one, known in found if known.curve]
    if not curves:
        return None
    return section(
        "risk",
        "Risk and coverage",
        paragraph(RISK, class_="quiet"),
        legend([name for name, _ in curves]),
        figure(
            "Wrong answers, by the share of cases that is answered", draw_risk(curves, "Risk by coverage")
        ),
        folded(
            "As a table", table(None, ["answered", *(label(name, 40) for name, _ in curves)], _risks(curves))
        ),
    )


RISK = (
    "If only the answers with the highest confidence were given, so many of these would be wrong. A curve "
    "that rises to the right means that confidence tells wrong answers from right ones; dashes are a "
    "confidence that says nothing. The area is the mean risk over all coverages: lower is better."
)


def _risks(curves: Sequence[tuple[str, Curve]]) -> Iterator[list[Child | Cell]]:
    for share in COVERAGES:
        at = [float(np.interp(share, curve.coverage, curve.risk)) for _, curve in curves]
        yield [f"{100 * share:.0f} %", *(Cell(percent(one), "number") for one in at)]
    yield ["area", *(Cell(f"{curve.area:.3f}", "number") for _, curve in curves)]
