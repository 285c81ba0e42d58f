"""The top of the page: what was run, how it ended, and what is missing in its figures."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from refdesk.evaluation.comparing.headers import pipeline_changes
from refdesk.evaluation.reporting.markup import Child, Markup, element, label, plural, quoted
from refdesk.evaluation.reporting.numbers import duration, money
from refdesk.evaluation.reporting.summary import RunSummary
from refdesk.evaluation.reporting.tables import Cell, Section, counted, folded, paragraph, section, table
from refdesk.evaluation.reporting.verdicts import SIGNS, WORDS, meaning

ENDED = {
    "done": "done",
    "running": "still running",
    "interrupted": "interrupted",
    "crashed": "crashed",
}
LONGEST = 400
"""Characters of a value in the table of what was run."""
YAML = 20_000


def overview(runs: Sequence[RunSummary]) -> Section:
    """Return what was run and how it ended."""
    return section(
        "overview",
        "What was run",
        [note for run in runs for note in _notes(run)],
        _unlike(runs),
        table(None, ["", *(label(run.header.name, 60) for run in runs)], _facts(runs)),
        paragraph(meaning(runs[0].criteria), class_="quiet"),
        _differing(runs),
        _pipelines(runs),
    )


def _notes(run: RunSummary) -> Iterator[Markup]:
    """Say loudly what makes figures less than they look."""
    name = label(run.header.name, 80)
    if run.status != "done":
        said = f": {run.error}" if run.error else ""
        ended = element("strong", name, f" is {ENDED[run.status]}")
        yield paragraph(ended, quoted(said, 600), class_="note bad")
    if missing := run.header.cases - run.asked:
        yield paragraph(
            element("strong", name),
            f": {missing:,} of {run.header.cases:,} cases were not asked.",
            class_="note bad",
        )
    if run.errors:
        failed = sum(run.errors.values())
        yield element(
            "div",
            paragraph(
                element("strong", name), f": {failed:,} of {run.asked:,} cases failed; no figure counts them."
            ),
            counted(run.errors.items()),
            class_="note bad",
        )
    if run.warnings:
        warned = folded(
            [element("strong", name), f": {plural(len(run.warnings), 'warning')}"],
            counted(run.warnings.items(), 30),
        )
        yield element("div", warned, class_="note")


def _unlike(runs: Sequence[RunSummary]) -> Markup | None:
    """Warn where runs are not of the same data."""
    if len({run.header.data_digest for run in runs}) < 2:
        return None
    return paragraph(
        element("strong", "These runs are of different data"),
        "; their figures cannot be compared.",
        class_="note bad",
    )


def _facts(runs: Sequence[RunSummary]) -> Iterator[list[Child | Cell]]:
    def row(name: str, values: Iterable[Child]) -> list[Child | Cell]:
        return [name, *values]

    yield row("status", (ENDED[run.status] for run in runs))
    yield row("data", (_data(run) for run in runs))
    yield row("cases asked", (f"{run.asked:,} of {run.header.cases:,}" for run in runs))
    yield row("how they went", (_states(run) for run in runs))
    yield row("pipeline", (label(run.header.pipeline, 60) for run in runs))
    yield row("begun, ended", (f"{_time(run.header.started)} – {_time(run.finished) or '?'}" for run in runs))
    yield row("time of all cases", (duration(run.totals["seconds"]) for run in runs))
    if any(run.totals["requests"] for run in runs):
        yield row("asked of models", (_asked(run) for run in runs))
    yield row("seed", (str(run.header.seed) for run in runs))


def _time(stamp: str) -> str:
    """Write a time in ISO 8601 for people."""
    return stamp[:19].replace("T", " ") + " UTC" * stamp.endswith(("+00:00", "Z"))


def _data(run: RunSummary) -> Child:
    split = f", {run.header.split}" if run.header.split else ""
    digest = element("span", f" {run.header.data_digest[:12]}", class_="quiet")
    return [label(run.header.data + split, 80), digest]


def _states(run: RunSummary) -> Child:
    return [
        [element("span", f"{SIGNS[state]} {count:,} {WORDS[state]}", class_=f"state {state}"), " "]
        for state in SIGNS
        if (count := run.states.get(state, 0))
    ]


def _asked(run: RunSummary) -> str:
    cost = f", {money(run.totals['cost'])}" if run.totals["cost"] else ""
    return f"{run.totals['requests']:,.0f} requests, {run.totals['tokens']:,.0f} tokens{cost}"


def _differing(runs: Sequence[RunSummary]) -> Markup:
    """Return settings, options and versions; those that differ between runs are marked."""
    rows: list[list[Child | Cell]] = []
    for kind in ("settings", "options", "versions"):
        values = [dict(flat(getattr(run.header, kind))) for run in runs]
        for key in dict.fromkeys(key for one in values for key in one):
            found = [one.get(key, "") for one in values]
            class_ = "differs" if len(set(found)) > 1 else ""
            sign = element("span", " ≠", title="differs between the runs") if class_ else None
            rows.append(
                [[label(f"{kind}: {key}", 80), sign], *(Cell(quoted(one, LONGEST), class_) for one in found)]
            )
    headings: list[Child] = ["", *(label(run.header.name, 60) for run in runs)]
    return folded("Settings that are not the defaults, options, versions", table(None, headings, rows))


def flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield names and values of nested settings as texts."""
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{prefix}{key}.")
        else:
            listed = isinstance(value, list | tuple)
            yield f"{prefix}{key}", ", ".join(map(str, value)) if listed else str(value)


def _pipelines(runs: Sequence[RunSummary]) -> Markup:
    texts = {run.header.name: run.header.pipeline_yaml for run in runs}
    if len(set(texts.values())) == 1:
        return folded("Pipeline as YAML", _yaml(runs[0].header.pipeline_yaml))
    parts: list[Child] = [[element("h3", label(name, 80)), _yaml(text)] for name, text in texts.items()]
    if len(runs) == 2:
        parts.insert(0, _changes(pipeline_changes(runs[0].header, runs[1].header)))
    return folded("Pipelines as YAML, and how they differ", parts)


def _yaml(text: str) -> Markup:
    return element("pre", text[:YAML] or "none", tabindex=0)


def _changes(lines: Iterable[str]) -> Markup:
    """Return lines that were taken out and put in, with their signs."""
    kinds = {"+": "ins", "-": "del"}
    drawn = [[element(kinds.get(one[:1], "span"), one[:400]), "\n"] for one in lines]
    return element("pre", drawn, class_="diff", tabindex=0)
