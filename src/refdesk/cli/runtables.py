"""A stored run as tables: what channels found, what answers were worth, refusals, tags, and what it took."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from refdesk.cli.session import Session
from refdesk.cli.tables import facts, table
from refdesk.cli.terminal import say

if TYPE_CHECKING:
    from refdesk.evaluation.reporting.numbers import Mean
    from refdesk.evaluation.reporting.summary import MeasureRow, RunSummary, TagRow
    from refdesk.evaluation.runs.outcomes import Run

FEW = ("nDCG@10", "Recall@5", "Recall@10", "Hit@1", "Hit@5", "MRR@10", "pollution@5")
"""Measures of channels that are shown; `-v` shows all."""
MANY = (
    *("nDCG@10", "Recall@2", "Recall@5", "Recall@10", "Recall@100", "Hit@1", "Hit@5", "Hit@10"),
    *("MRR@10", "MAP@100", "Precision@5", "pollution@5"),
)
RATES = ("seconds", "requests", "tokens", "cost")
TAGS = 20
REASONS = 5


def show_run(session: Session, run: "Run") -> None:
    """Print a run."""
    from refdesk.evaluation.reporting.summary import summarise

    found = summarise(run)
    _head(session, found)
    for title, headings, rows in _tables(found, MANY if session.verbose else FEW):
        if rows:
            say(session.out, f"\n{title}")
            table(session.out, headings, rows)
    _notes(session, found)


def _head(session: Session, found: "RunSummary") -> None:
    header = found.header
    split = f", {header.split}" if header.split else ""
    rest = "" if found.asked == header.cases else f" of {header.cases:,}"
    say(session.out, f"{header.name}: {found.status}. {header.data}{split}, {found.asked:,}{rest} cases")
    options = header.options
    facts(
        session.out,
        [
            ("pipeline", header.pipeline),
            ("model", header.versions.get("llm", "")),
            ("judge", header.versions.get("judge", "")),
            ("collection", options.get("collection", "")),
            ("settings", ", ".join(f"{name}={value}" for name, value in header.settings.items())),
        ],
    )


def _tables(
    found: "RunSummary", measures: tuple[str, ...]
) -> Iterator[tuple[str, tuple[str, ...], list[Any]]]:
    rows = {row.name: row for row in found.measures}
    channels = [name for name in found.latency if name != "case"]
    headings = ("channel", *measures, "cases", "left out", "p50 ms", "p95 ms")
    yield "Found", headings, [_channel(name, found, rows, measures) for name in channels]
    answers = [row for row in found.measures if row.name.startswith("answer.")]
    yield "Answered", ("measure", "mean", "95 %", "cases", "left out"), [_measure(row) for row in answers]
    yield "Refused", ("cases", "how many", "refused", "95 %", "right where answered"), list(_refused(found))
    spent = [row for name in RATES if (row := rows.get(name)) and (name == "seconds" or _tells(row))]
    yield "Spent per case", ("measure", "mean", "95 %", "cases", "left out"), [_measure(row) for row in spent]
    named = list(dict.fromkeys(name for row in found.tags for name in row.values))
    yield "By tag", ("tag", "cases", *named), [_tag(row, named) for row in found.tags[:TAGS]]


def _tells(row: "MeasureRow") -> bool:
    """Tell whether a rate is more than 0, or missing."""
    return row.mean is None or row.mean.value > 0


def _channel(
    name: str, found: "RunSummary", rows: "Mapping[str, MeasureRow]", measures: Iterable[str]
) -> list[object]:
    own = [rows.get(f"{name}.{measure}") for measure in measures]
    first = next((row for row in own if row and row.mean), None)
    cases = first.mean.cases if first and first.mean else 0
    latency = found.latency[name]
    return [
        name,
        *(row.mean.value if row and row.mean else "–" for row in own),
        cases,
        found.asked - cases,
        round(latency.p50 * 1000),
        round(latency.p95 * 1000),
    ]


def _measure(row: "MeasureRow") -> list[object]:
    from refdesk.evaluation.reporting.numbers import interval, written

    name = row.name.removeprefix("answer.")
    left_out = row.failed + sum(row.excluded.values())
    if row.mean is None:
        return [name, "–", "", 0, left_out]
    return [name, written(row.name, row.mean.value), interval(row.name, row.mean), row.mean.cases, left_out]


def _refused(found: "RunSummary") -> Iterator[list[object]]:
    from refdesk.evaluation.reporting.numbers import interval, written

    def shown(mean: "Mean | None") -> str:
        return "–" if mean is None else written("answer.right", mean.value)

    for row in found.abstaining.rows if found.abstaining else ():
        kind = "answered by the documents" if row.answerable else "not answered by them"
        yield [kind, row.cases, shown(row.refused), interval("answer.refused", row.refused), shown(row.right)]


def _tag(row: "TagRow", named: Iterable[str]) -> list[object]:
    return [row.tag, row.cases, *(row.values[name].value if name in row.values else "–" for name in named)]


def _notes(session: Session, found: "RunSummary") -> None:
    """Say what a table of means does not: risk, totals, why cases are left out, what failed."""
    curve = found.abstaining.curve if found.abstaining else None
    if curve:
        figures = f"{curve.area:.3f} (at best {curve.best:.3f}, by chance {curve.chance:.3f})"
        say(session.out, f"\nArea under risk and coverage: {figures}")
    if found.totals["tokens"]:
        cost = f", ${found.totals['cost']:.4f}" if found.totals["cost"] else ""
        requests, tokens = found.totals["requests"], found.totals["tokens"]
        say(session.out, f"In all {requests:,.0f} model requests, {tokens:,.0f} tokens{cost}")
    if len(found.tags) > TAGS:
        session.note(f"note: {len(found.tags) - TAGS} more tags; --json has them all.")
    for reason, names in _left_out(found).items():
        session.note(f"left out: {reason}: {names}")
    for what, counts in (("failed", found.errors), ("warning", found.warnings)):
        for text, count in list(counts.items())[:REASONS]:
            session.note(f"{what}: {count} case{'s' if count != 1 else ''}: {text}")
    if found.error:
        session.note(f"{found.status}: {found.error}")


def _left_out(found: "RunSummary") -> Mapping[str, str]:
    """Return each reason with the measures and the number of cases that it kept from them."""
    reasons: dict[str, dict[int, list[str]]] = {}
    for row in found.measures:
        for reason, count in row.excluded.items():
            what = row.name if row.name.startswith("answer.") else row.name.partition(".")[0]
            names = reasons.setdefault(reason, {}).setdefault(count, [])
            names += [what] if what not in names else []
    return {
        reason: "; ".join(
            f"{count} case{'s' if count != 1 else ''} of {', '.join(names)}" for count, names in by.items()
        )
        for reason, by in reasons.items()
    }
