"""Runs beside each other as tables for people."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from refdesk.cli.comparetables import interval as between
from refdesk.cli.session import Session
from refdesk.cli.tables import table
from refdesk.cli.terminal import one_line, say

if TYPE_CHECKING:
    from refdesk.evaluation.comparing.comparison import Comparison
    from refdesk.evaluation.reporting.cases import Asked
    from refdesk.evaluation.reporting.numbers import Latency
    from refdesk.evaluation.reporting.summary import RunSummary
    from refdesk.evaluation.runs.outcomes import Run

CHANGED = 15
QUESTION = 60


def show_runs(session: Session, runs: "Sequence[Run]") -> None:
    """Print what several runs found, how they differ from the first one, and the cases that changed."""
    from refdesk.evaluation.reporting.cases import gathered
    from refdesk.evaluation.reporting.pairs import compared
    from refdesk.evaluation.reporting.summary import summarise
    from refdesk.evaluation.reporting.verdicts import criteria, meaning

    good = criteria(runs)
    summaries, comparisons = [summarise(run, good) for run in runs], compared(runs)
    names = [one.header.name for one in summaries]
    table(session.out, ("", *names), list(_heads(summaries)))
    if told := meaning(good):
        say(session.out, told)
    say(session.out, "\nMeasures")
    table(session.out, ("measure", *names), list(_measures(summaries)))
    for comparison in comparisons:
        _show_comparison(session, comparison)
    changed = [one for one in gathered(runs, good, comparisons) if one.changed]
    if changed:
        say(session.out, f"\nCases that changed: {len(changed):,}")
        table(
            session.out,
            ("case", *names, "differs most in", "gain", "question"),
            [_case(one) for one in changed[:CHANGED]],
        )
    _show_notes(session, summaries, len(changed))


def _heads(summaries: "Sequence[RunSummary]") -> Iterator[tuple[object, ...]]:
    from refdesk.evaluation.reporting.verdicts import SIGNS, WORDS

    yield "status", *(one.status for one in summaries)
    yield "data", *(f"{one.header.data} {one.header.split}".strip() for one in summaries)
    yield "cases asked", *(f"{one.asked:,} of {one.header.cases:,}" for one in summaries)
    yield "pipeline", *(one.header.pipeline for one in summaries)
    for state, sign in SIGNS.items():
        counts = [one.states.get(state, 0) for one in summaries]
        if any(counts):
            yield f"{sign} {WORDS[state]}", *counts
    for name, word in (("p50", "half within"), ("p95", "95 % within"), ("p99", "99 % within")):
        yield word, *(_time(one.latency.get("case"), name) for one in summaries)


def _time(latency: "Latency | None", name: str) -> str:
    from refdesk.evaluation.reporting.numbers import duration

    return duration(getattr(latency, name)) if latency else "–"


def _measures(summaries: "Sequence[RunSummary]") -> Iterator[list[object]]:
    from refdesk.evaluation.reporting.numbers import interval, written
    from refdesk.evaluation.reporting.sections import shown_first

    for name in shown_first(summaries):
        cells = []
        for one in summaries:
            row = one.row(name)
            known = row.mean if row else None
            cells.append(f"{written(name, known.value)} ({interval(name, known)})" if known else "–")
        yield [name, *cells]


def _show_comparison(session: Session, comparison: "Comparison") -> None:
    from refdesk.evaluation.reporting.pairs import MEANING

    a, b = comparison.a[0], comparison.b[0]
    say(
        session.out, f"\n{b} {MEANING[comparison.verdict]} {a}. Paired on {comparison.cases:,} cases:", "bold"
    )
    rows = [
        (
            row.measure,
            between(row.difference),
            row.verdict,
            f"{row.better} / {row.worse} of {row.cases}",
        )
        for row in comparison.headline
    ]
    table(session.out, ("measure", "difference (95 %)", "verdict", "better / worse"), rows)
    for note in comparison.notes:
        session.note(f"note: {note}")


def _case(one: "Asked") -> tuple[str, ...]:
    from refdesk.evaluation.reporting.verdicts import SIGNS

    signs = [SIGNS[state] if state else "" for state in one.states]
    moved = (one.change.measure, f"{one.change.gain:+.3f}") if one.change else ("", "")
    return one.known.case_id, *signs, *moved, one_line(one.known.question, QUESTION)


def _show_notes(session: Session, summaries: "Sequence[RunSummary]", changed: int) -> None:
    if changed > CHANGED:
        session.note(
            f"note: {changed - CHANGED:,} more cases changed; --out FILE.html and --json have them all."
        )
    if len({one.header.data_digest for one in summaries}) > 1:
        session.note("warning: these runs are of different data; their figures cannot be compared.")
    for one in summaries:
        name = one.header.name
        if one.error:
            session.note(f"{name}: {one.status}: {one.error}")
        for text, count in list(one.errors.items())[:5]:
            session.note(f"{name}: {count} case{'s' * (count != 1)} failed: {text}")
        for row in one.measures:
            if row.mean is None:
                session.note(f"{name}: no case has {row.name}: {'; '.join(row.excluded)}")
