"""Parts of the page that set runs beside each other: differences with verdicts, costs, and trends."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from refdesk.evaluation.comparing.compare import compare
from refdesk.evaluation.comparing.comparison import Comparison, CostRow, MeasureRow, Verdict
from refdesk.evaluation.comparing.statistics import Estimate
from refdesk.evaluation.reporting.curves import draw_trend
from refdesk.evaluation.reporting.forest import Gap, draw_gaps
from refdesk.evaluation.reporting.markup import Child, Markup, element, label, quoted
from refdesk.evaluation.reporting.numbers import written
from refdesk.evaluation.reporting.sections import measure_name, shown_first
from refdesk.evaluation.reporting.summary import RunSummary
from refdesk.evaluation.reporting.tables import (
    Cell,
    Section,
    counted,
    figure,
    folded,
    measure_heading,
    paragraph,
    section,
    table,
)
from refdesk.evaluation.runs.outcomes import Run

CHANGED = 30
"""Cases that are counted as changed where what was found differs, and not whether it is right."""
SIGNS: Mapping[str, str] = {"better": "▲", "worse": "▼", "mixed": "◆", "no evidence": "≈"}
MEANING = {
    "better": "is better than",
    "worse": "is worse than",
    "mixed": "is better in some measures and worse in others than",
    "no evidence": "cannot be told apart by these cases from",
}


def compared(runs: Sequence[Run]) -> list[Comparison]:
    """Compare each run with the first one; those on other data, or without a case in common, are left out."""
    first, *others = runs
    return [compare(first, run, changed=CHANGED) for run in others if _comparable(first, run)]


def _comparable(a: Run, b: Run) -> bool:
    return a.header.data_digest == b.header.data_digest and not a.outcomes.keys().isdisjoint(b.outcomes)


def differences(comparison: Comparison) -> Section:
    """Return how far the second run is above the first, with intervals and verdicts."""
    headings = ["measure", *(label(one, 40) for one in (comparison.a[0], comparison.b[0]))]
    headings += [
        "difference",
        "95 % interval",
        "p",
        "p corrected",
        "verdict",
        "cases better / worse",
    ]
    others = folded(f"{len(comparison.others)} other measures", _table(headings, comparison.others))
    return section(
        "differences",
        "Differences",
        _verdict(comparison),
        _notes(comparison),
        _forest(comparison),
        _table(headings, comparison.headline),
        others if comparison.others else None,
        _costs(comparison),
        _by_tag(comparison),
        _not_common(comparison),
    )


def _verdict(comparison: Comparison) -> Markup:
    class_ = comparison.verdict if comparison.verdict in ("better", "worse") else "note"
    a, b = (label(name[0], 80) for name in (comparison.a, comparison.b))
    return paragraph(
        element("strong", f"{SIGNS[comparison.verdict]} ", b, f" {MEANING[comparison.verdict]} ", a, "."),
        f" Paired on {comparison.cases:,} cases; tests corrected for each other (Holm), "
        f"evidence is a corrected p of at most {comparison.alpha:g}.",
        class_=f"verdict {class_}",
    )


def _forest(comparison: Comparison) -> Markup | None:
    if not comparison.headline:
        return None
    gaps = [
        Gap(row.measure, *_ends(row.difference), row.verdict.replace(" ", "-")) for row in comparison.headline
    ]
    a, b = (label(name[0], 80) for name in (comparison.a, comparison.b))
    caption = [b, " less ", a, ", with 95 % intervals; to the right is more"]
    return figure(caption, draw_gaps(gaps, "Differences of the measures that decide, with intervals"))


def _ends(difference: Estimate) -> tuple[float, float, float]:
    return difference.value, difference.low, difference.high


def _notes(comparison: Comparison) -> Markup | None:
    if not comparison.notes:
        return None
    items = [element("li", quoted(note, 600)) for note in comparison.notes]
    named = paragraph("A is ", label(comparison.a[0], 80), ", B is ", label(comparison.b[0], 80), ".")
    return element("div", named, element("ul", items, class_="plain"), class_="note")


def _table(headings: Sequence[Child], rows: Iterable[MeasureRow]) -> Markup:
    return table(None, headings, map(_row, rows), sortable=True)


def _row(row: MeasureRow) -> list[Child | Cell]:
    return [
        measure_name(row.measure),
        Cell(written(row.measure, row.a), "number", row.a),
        Cell(written(row.measure, row.b), "number", row.b),
        Cell(f"{row.difference.value:+.3f}", "number", row.difference.value),
        Cell(f"{row.difference.low:+.3f} to {row.difference.high:+.3f}", "number"),
        Cell(_chance(row.chance), "number", row.chance),
        Cell(_chance(row.corrected), "number", row.corrected),
        Cell(_badge(row.verdict)),
        Cell(f"{row.better} / {row.worse} of {row.cases}", "number", row.better - row.worse),
    ]


def _chance(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _badge(verdict: Verdict) -> Markup:
    return element("span", f"{SIGNS[verdict]} {verdict}", class_=f"state {verdict.replace(' ', '-')}")


def _costs(comparison: Comparison) -> Markup | None:
    rows = [_cost(row) for row in comparison.costs if row.a or row.b]
    if not rows:
        return None
    headings = ["per case", "", *(label(one, 40) for one in (comparison.a[0], comparison.b[0])), "ratio"]
    return table("What a case takes (no verdict: machines are noisy)", headings, rows)


def _cost(row: CostRow) -> list[Child | Cell]:
    values = [Cell(written(row.measure, value), "number") for value in (row.a, row.b)]
    ratio = f"× {row.ratio.value:.2f} ({row.ratio.low:.2f} to {row.ratio.high:.2f})" if row.ratio else "–"
    return [measure_name(row.measure), row.figure, *values, Cell(ratio, "number")]


def _by_tag(comparison: Comparison) -> Markup | None:
    """Return the differences of the measures that decide, by tag."""
    names = [row.measure for row in comparison.headline]
    rows: list[list[Child | Cell]] = [
        [label(tag.tag, 60), Cell(tag.cases, "number"), *_gaps(names, tag.rows)] for tag in comparison.tags
    ]
    if not rows:
        return None
    note = paragraph("Only hints: with many tags, some differ by chance.", class_="quiet")
    return folded(
        "Differences by tag",
        note,
        table(None, ["tag", "n", *map(measure_heading, names)], rows, sortable=True),
    )


def _gaps(names: Iterable[str], rows: Iterable[MeasureRow]) -> Iterator[Cell]:
    known = {row.measure: row for row in rows}
    for name in names:
        row = known.get(name)
        yield Cell("–", "number") if row is None else Cell(_gap(row), "number", row.difference.value)


def _gap(row: MeasureRow) -> Child:
    sign = f" {SIGNS[row.verdict]}" if row.verdict != "no evidence" else ""
    said = element(
        "span", f"{row.difference.value:+.3f}{sign}", class_=f"state {row.verdict.replace(' ', '-')}"
    )
    return [said, element("small", f" ({_between(row.difference)})")]


def _between(difference: Estimate) -> str:
    return f"{difference.low:+.3f} to {difference.high:+.3f}"


def _not_common(comparison: Comparison) -> Markup | None:
    if not comparison.left_out:
        return None
    return element("div", element("b", "Cases that are not compared"), counted(comparison.left_out.items()))


def trend(summaries: Sequence[RunSummary], comparisons: Sequence[Comparison]) -> Section:
    """Return how measures went over three or more runs, with what differs from the first."""
    known = {(one.b[0], row.measure): row for one in comparisons for row in (*one.headline, *one.others)}
    names = shown_first(summaries)
    headings = ["measure", "trend", *(label(one.header.name, 40) for one in summaries)]
    rows = (_trend(name, summaries, known) for name in names if _drawn(name, summaries))
    note = (
        "Signs say where a run is better (▲) or worse (▼) than the first by a paired test, corrected (Holm)."
    )
    return section("trend", "Trend", paragraph(note, class_="quiet"), table(None, headings, rows))


def _drawn(name: str, summaries: Sequence[RunSummary]) -> list[float]:
    return [value for value in _values(name, summaries) if value is not None]


def _values(name: str, summaries: Sequence[RunSummary]) -> list[float | None]:
    rows = [one.row(name) for one in summaries]
    return [row.mean.value if row and row.mean else None for row in rows]


def _trend(
    name: str, summaries: Sequence[RunSummary], known: Mapping[tuple[str, str], MeasureRow]
) -> list[Child | Cell]:
    values = _values(name, summaries)
    told = [_moved(known.get((one.header.name, name))) for one in summaries]
    cells = [
        Cell(["–" if value is None else written(name, value), sign], "number")
        for value, sign in zip(values, told, strict=True)
    ]
    return [measure_name(name), draw_trend(values, f"{name} over the runs"), *cells]


def _moved(row: MeasureRow | None) -> Markup | None:
    if row is None:
        return None
    return element("small", f" {row.difference.value:+.3f} ", _badge_sign(row.verdict))


def _badge_sign(verdict: Verdict) -> Markup:
    return element("span", SIGNS[verdict], class_=f"state {verdict.replace(' ', '-')}", title=verdict)
