"""Parts of the page about measures, what they leave out, and tags."""

from collections.abc import Iterable, Iterator, Sequence

from refdesk.evaluation.reporting.abstaining import REFUSED
from refdesk.evaluation.reporting.bars import Bar, draw_bars
from refdesk.evaluation.reporting.markup import Child, Markup, element, label, quoted
from refdesk.evaluation.reporting.numbers import Mean, interval, parts_of, written
from refdesk.evaluation.reporting.summary import MeasureRow, RunSummary, TagRow, ordered, tag_measures
from refdesk.evaluation.reporting.tables import (
    Cell,
    Section,
    blocks,
    figure,
    folded,
    legend,
    measure_heading,
    paragraph,
    section,
    table,
)
from refdesk.evaluation.runs.outcomes import is_quality, lower_is_better

DRAWN = ("nDCG@10", "Recall@10", "MRR@10", "Hit@5")
ANSWERS = "answer"
NAMED = 6
"""Measures that are named one by one."""
FEW = 10
"""Cases below which a figure of a tag is shown in grey."""
LEVELS = 9


def names_of(runs: Iterable[RunSummary]) -> list[str]:
    """Return all measures of runs, in order, but for costs that no run has."""
    known = {row.name: row for run in runs for row in run.measures if _tells(row)}
    return ordered(known)


def shown_first(runs: Iterable[RunSummary]) -> list[str]:
    """Return the measures that are drawn, those of answers, and costs."""
    names = names_of(runs)
    return [name for name in names if parts_of(name)[0] in (ANSWERS, "") or parts_of(name)[1] in DRAWN]


def _tells(row: MeasureRow) -> bool:
    return is_quality(row.name) or row.mean is None or row.mean.value > 0


def measures(runs: Sequence[RunSummary]) -> Section:
    """Return bars with intervals, and every figure as a table."""
    names = names_of(runs)
    return section(
        "measures",
        "Measures",
        legend([run.header.name for run in runs]),
        blocks(_panels(runs, names), "panels"),
        paragraph(INTERVALS, class_="quiet"),
        _by_stage(runs[0], names) if len(runs) == 1 else _by_run(runs, names),
    )


def _by_stage(run: RunSummary, names: Sequence[str]) -> list[Markup]:
    """Return rankings with a column for each stage, and below what else was measured."""
    ranked = [name for name in names if parts_of(name)[0] not in (ANSWERS, "")]
    stages = list(dict.fromkeys(parts_of(name)[0] for name in ranked))
    kinds = list(dict.fromkeys(parts_of(name)[1] for name in ranked))
    rows = ([measure_name(kind), *(_staged(run, f"{stage}.{kind}") for stage in stages)] for kind in kinds)
    others = [name for name in names if name not in ranked]
    tables = [
        table("Rankings, by stage", ["measure", *stages], rows, sortable=True) if ranked else None,
        table("Answers, time, cost", ["measure", "mean", "n"], (_measure(name, [run]) for name in others))
        if others
        else None,
    ]
    return [one for one in tables if one is not None]


def _staged(run: RunSummary, name: str) -> Cell:
    figures, cases = _figures(name, run.row(name))
    return Cell([figures.content, element("small", f" n={cases.content}")], "number", figures.key)


def _by_run(runs: Sequence[RunSummary], names: Sequence[str]) -> list[Markup]:
    """Return the measures that were drawn, and behind them all the others."""
    headings = ["measure", *_run_headings(runs)]
    first = shown_first(runs)
    others = [name for name in names if name not in first]
    shown = table(None, headings, (_measure(name, runs) for name in first), sortable=True)
    rest = table(None, headings, (_measure(name, runs) for name in others), sortable=True)
    return [shown, folded(f"{len(others)} other measures", rest)] if others else [shown]


INTERVALS = (
    "Lines and brackets are 95 % intervals: what other questions of the same kind might show. "
    "Of shares they are Wilson's, else bootstrapped. n is how many cases a figure rests on. "
    "↓ is better where it is lower."
)


def _panels(runs: Sequence[RunSummary], names: Sequence[str]) -> Iterator[Markup]:
    for measure in DRAWN:
        of_channels = [name for name in names if parts_of(name)[1] == measure]
        if bars := list(_bars(runs, of_channels, named_by=0)):
            yield figure(f"{measure}, by stage", draw_bars(bars, f"{measure} by stage, with 95 % intervals"))
    of_answers = [
        name
        for name in names
        if parts_of(name)[0] == ANSWERS and name != REFUSED and not lower_is_better(name)
    ]
    if bars := list(_bars(runs, of_answers, named_by=1)):
        yield figure("Answers", draw_bars(bars, "Measures of answers, with 95 % intervals"))


def _bars(runs: Sequence[RunSummary], names: Sequence[str], *, named_by: int) -> Iterator[Bar]:
    for name in names:
        for series, run in enumerate(runs):
            if (row := run.row(name)) and row.mean and 0 <= row.mean.value <= 1:
                word = parts_of(name)[named_by].replace("_", " ")
                yield Bar(word, series, row.mean, written(name, row.mean.value))


def _run_headings(runs: Sequence[RunSummary]) -> list[Child]:
    return [heading for run in runs for heading in (label(run.header.name, 40), "n")]


def _measure(name: str, runs: Sequence[RunSummary]) -> list[Child | Cell]:
    return [measure_name(name), *(one for run in runs for one in _figures(name, run.row(name)))]


def measure_name(name: str) -> Child:
    """Return the name of a measure with a sign where lower is better."""
    sign = element("span", "\u00a0↓", title="lower is better") if lower_is_better(name) else None
    return [label(name, 80), sign]


def _figures(name: str, row: MeasureRow | None) -> tuple[Cell, Cell]:
    if row is None or row.mean is None:
        return Cell("–", "number"), Cell(0 if row else "", "number")
    return Cell(_figure(name, row.mean), "number", row.mean.value), Cell(row.mean.cases, "number")


def _figure(name: str, mean: Mean) -> Child:
    between = interval(name, mean)
    return [written(name, mean.value), element("small", f" ({between})") if between else None]


def left_out(runs: Sequence[RunSummary]) -> Section | None:
    """Return what is missing in measures, and why; None where nothing is."""
    rows = list(_left_out(runs))
    if not rows:
        return None
    several: list[Child] = ["run"] if len(runs) > 1 else []
    return section(
        "left-out",
        "Left out of measures",
        paragraph(
            "A case that cannot be measured is never counted as 0; the figures above are of the others."
        ),
        table(None, ["reason", "cases", "measures", *several], rows),
    )


def _left_out(runs: Sequence[RunSummary]) -> Iterator[list[Child | Cell]]:
    alike: dict[tuple[str, int, str], list[str]] = {}
    for run in runs:
        for (reason, cases), names in _reasons(run).items():
            alike.setdefault((reason, cases, _together(names)), []).append(run.header.name)
    for (reason, cases, measured), of in sorted(alike.items(), key=lambda pair: -pair[0][1]):
        whose = "all" if len(of) == len(runs) else ", ".join(of)
        last: list[Child] = [label(whose, 80)] if len(runs) > 1 else []
        yield [quoted(reason, 300), Cell(cases, "number"), element("bdi", measured), *last]


def _reasons(run: RunSummary) -> dict[tuple[str, int], list[str]]:
    """Return measures by why, and in how many cases, they are missing."""
    found: dict[tuple[str, int], list[str]] = {}
    for row in run.measures:
        for reason, cases in row.excluded.items():
            found.setdefault((reason, cases), []).append(row.name)
    return found


def _together(names: Iterable[str]) -> str:
    """Name measures, where there are many of a stage by their number."""
    stages: dict[str, list[str]] = {}
    for name in names:
        stages.setdefault(parts_of(name)[0], []).append(parts_of(name)[1])
    return "; ".join(
        f"{stage}: {', '.join(kinds) if len(kinds) <= NAMED else f'{len(kinds)} measures'}".removeprefix(": ")
        for stage, kinds in stages.items()
    )


def tags(runs: Sequence[RunSummary]) -> Section | None:
    """Return measures by tag, coloured by how good they are; None where no case has a tag."""
    tagged = [run for run in runs if run.tags]
    if not tagged:
        return None
    note = f"Darker is better. Grey: fewer than {FEW} cases, which say little."
    return section(
        "tags", "By tag", paragraph(note, class_="quiet"), [_heat(run, len(runs) > 1) for run in tagged]
    )


def _heat(run: RunSummary, named: bool) -> Markup:
    names = tag_measures(run.measures)
    rows = (_tag(row, names) for row in run.tags)
    caption = label(run.header.name, 80) if named else None
    return table(caption, ["tag", "n", *map(measure_heading, names)], rows, sortable=True)


def _tag(row: TagRow, names: Sequence[str]) -> list[Child | Cell]:
    return [label(row.tag, 60), Cell(row.cases, "number"), *(_heated(row, name) for name in names)]


def _heated(row: TagRow, name: str) -> Cell:
    mean = row.values.get(name)
    if mean is None:
        return Cell("–", "number")
    few = mean.cases < FEW
    class_ = "number few" if few else f"number heat h{min(int(mean.value * (LEVELS + 1)), LEVELS)}"
    fewer = element("small", f" n={mean.cases}") if mean.cases != row.cases else None
    return Cell([written(name, mean.value), fewer], class_, mean.value)
