"""A comparison of two runs as tables."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from refdesk.cli.runtables import FEW
from refdesk.cli.session import Session
from refdesk.cli.tables import facts, table
from refdesk.cli.terminal import one_line, say

if TYPE_CHECKING:
    from refdesk.evaluation.comparing.changed import Change, OneSide, Wanted
    from refdesk.evaluation.comparing.comparison import Comparison, CostRow, MeasureRow
    from refdesk.evaluation.comparing.statistics import Estimate

STYLES = {"better": "bold green", "worse": "bold red", "mixed": "bold yellow", "no evidence": "bold"}
SENTENCES = {
    "better": "B is better than A.",
    "worse": "B is worse than A.",
    "mixed": "B is better than A in some measures and worse in others.",
    "no evidence": "No evidence that A and B differ.",
}
HEADINGS = ("measure", "A", "B", "B - A (95 %)", "p", "B is")
MORE = ("cases", "better in", "worse in", "seen from")
NOISE = ("noise A", "noise B")
WIDE = 120
"""Columns of a terminal that has room for all in one table."""
TEXT = 200
"""Characters of an answer that are shown."""
TAGS = 20


def show_comparison(session: Session, found: "Comparison") -> None:
    """Print a comparison."""
    _head(session, found)
    _rows(session, "What decides", found.headline)
    _rows(session, "Other measures", _shown(found.others, session.verbose))
    _costs(session, found.costs)
    _tags(session, found)
    _differences(session, found)
    _changed(session, found.changed)
    for note in found.notes:
        session.note(f"note: {note}")


def _head(session: Session, found: "Comparison") -> None:
    left_out = ", ".join(f"{count:,} {reason}" for reason, count in found.left_out.items())
    failed = f"{found.failed_a:,} in A, {found.failed_b:,} in B" if found.failed_a or found.failed_b else ""
    pairs = (
        ("A", ", ".join(found.a)),
        ("B", ", ".join(found.b)),
        ("data", found.data + (f", tag {found.tag}" if found.tag else "")),
        ("cases", f"{found.cases:,}" + (f"; left out: {left_out}" if left_out else "")),
        ("failed", failed),
    )
    facts(session.out, pairs)
    say(session.out)
    say(session.out, SENTENCES[found.verdict], STYLES[found.verdict])


def _rows(session: Session, title: str, rows: "Sequence[MeasureRow]") -> None:
    """Print measures, in two tables where a terminal has no room for one."""
    if not rows:
        return
    noisy = any(row.noise_a is not None or row.noise_b is not None for row in rows)
    more = (*MORE, *(NOISE if noisy else ()))
    cells = [(tuple(_cells(row)), tuple(_more(row))[: len(more)]) for row in rows]
    say(session.out, f"\n{title}")
    if not session.out.is_terminal or session.out.width >= WIDE:
        table(session.out, (*HEADINGS, *more), [(*first, *rest) for first, rest in cells])
        return
    table(session.out, HEADINGS, [first for first, _ in cells])
    say(session.out)
    table(session.out, ("measure", *more), [(first[0], *rest) for first, rest in cells])


def _cells(row: "MeasureRow") -> Iterator[object]:
    yield from (row.measure, row.a, row.b, interval(row.difference), chance(row.corrected))
    yield "" if row.verdict == "no evidence" else row.verdict


def _more(row: "MeasureRow") -> Iterator[object]:
    yield from (row.cases, row.better, row.worse)
    yield "" if row.detectable is None else f"{row.detectable:.3f}"
    yield from ("" if one is None else f"{one:.4f}" for one in (row.noise_a, row.noise_b))


def interval(one: "Estimate") -> str:
    """Write a difference with its interval."""
    return f"{one.value:+.3f} ({one.low:+.3f} to {one.high:+.3f})"


def chance(value: float) -> str:
    """Write a p value."""
    return f"{value:.3f}" if value >= 0.001 else "<0.001"


def _shown(rows: "Iterable[MeasureRow]", verbose: bool) -> "list[MeasureRow]":
    """Return the rows that are worth a line: with -v all, else a few of each channel, and what differs."""
    return [
        row
        for row in rows
        if verbose
        or row.verdict != "no evidence"
        or row.measure.startswith("answer.")
        or row.measure.partition(".")[2] in FEW
    ]


def _costs(session: Session, rows: "Sequence[CostRow]") -> None:
    rows = [row for row in rows if row.a or row.b]
    if rows:
        say(session.out, "\nWhat a case takes (machines are noisy, so this decides nothing)")
        headings = ("", "cases", "", "A", "B", "B / A (95 %)")
        table(session.out, headings, [_cost(row) for row in rows])


def _cost(row: "CostRow") -> tuple[object, ...]:
    from refdesk.evaluation.reporting.numbers import written

    ratio = row.ratio
    told = "" if ratio is None else f"× {ratio.value:.2f} ({ratio.low:.2f} to {ratio.high:.2f})"
    a, b = written(row.measure, row.a), written(row.measure, row.b)
    return row.measure, row.cases, row.figure, a, b, told


def _tags(session: Session, found: "Comparison") -> None:
    if not found.tags:
        return
    say(session.out, "\nBy tag (hints: many were looked at)")
    shown = found.tags if session.verbose else found.tags[:TAGS]
    rows = [(one.tag, row.cases, *_cells(row)) for one in shown for row in one.rows]
    table(session.out, ("tag", "cases", *HEADINGS), rows)
    if len(shown) < len(found.tags):
        session.note(f"{len(found.tags) - len(shown)} more tags; -v shows all.")


def _differences(session: Session, found: "Comparison") -> None:
    if found.differs:
        say(session.out, "\nWhat was done differently")
        table(session.out, ("", "A", "B"), [(one.what, one.a, one.b) for one in found.differs])
    if found.pipeline:
        say(session.out, "\nThe pipeline")
        for line in found.pipeline:
            style = {"+": "green", "-": "red"}.get(line[0], "") if line else ""
            say(session.out, line, style)


def _changed(session: Session, changes: "Sequence[Change]") -> None:
    if changes:
        say(session.out, "\nCases that differ most")
    for one in changes:
        style = "green" if one.gain > 0 else "red"
        say(session.out, f"{one.case_id}  {one_line(one.question, TEXT)}", "bold")
        say(session.out, f"{one.measure}  {one.a.value:.3f} -> {one.b.value:.3f}", style, indent=2)
        for wanted in one.wanted:
            say(session.out, f"wanted  {_wanted(wanted)}", indent=2)
        for name, side in (("A", one.a), ("B", one.b)):
            for line in _side(side):
                say(session.out, f"{name}  {line}", indent=2)


def _wanted(one: "Wanted") -> str:
    quote = f' "{one_line(one.quote, TEXT)}"' if one.quote else ""
    moved = "" if one.a is None and one.b is None else f": rank {_rank(one.a)} -> {_rank(one.b)}"
    return f"{' or '.join(one.documents)}{quote}{moved}"


def _rank(rank: int | None) -> str:
    return "not known" if rank is None else str(rank or "not found")


def _side(side: "OneSide") -> Iterator[str]:
    if side.error:
        yield f"failed: {one_line(side.error, TEXT)}"
        return
    if side.ranking:
        yield "found  " + ", ".join(side.ranking)
    if side.refusal:
        yield f"refused: {side.refusal}"
    elif side.answer:
        yield "said   " + one_line(side.answer, TEXT)
