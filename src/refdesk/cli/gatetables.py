"""Gates and noise as tables."""

from typing import TYPE_CHECKING

from refdesk.cli.comparetables import chance, interval
from refdesk.cli.session import Session
from refdesk.cli.tables import facts, table
from refdesk.cli.terminal import one_line, say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from refdesk.evaluation.comparing.gateresult import Gate, GateRow
    from refdesk.evaluation.comparing.noise import MeasureNoise, Noise
    from refdesk.evaluation.comparing.statistics import Estimate

GATED = (
    *("measure", "cases", "moved", "baseline", "candidate", "gain (95 %)", "p", "finding"),
    *("allowed", "seen from"),
)
SHOWN = 10
"""Ids of failed cases that are shown."""


def show_gate(session: Session, found: "Gate") -> None:
    """Print a gate: what was watched, and whether it passes."""
    facts(
        session.out,
        (
            ("A, baseline", ", ".join(found.baseline)),
            ("B, candidate", ", ".join(found.candidate)),
            ("cases", found.cases),
        ),
    )
    say(session.out)
    if found.rows:
        table(session.out, GATED, [tuple(_gated(row, found.max_regression)) for row in found.rows])
        say(session.out)
    if found.failed:
        more = f" and {len(found.failed) - SHOWN} more" if len(found.failed) > SHOWN else ""
        say(session.out, f"Failed as they did not before: {', '.join(found.failed[:SHOWN])}{more}")
    for note in found.notes:
        session.note(f"note: {note}")
    say(session.out, *_verdict(found))


def _verdict(found: "Gate") -> tuple[str, str]:
    """Return a sentence and its style."""
    if not found.passed:
        return "Not passed.", "bold red"
    if found.rows and all(row.finding == "held" for row in found.rows):
        return "Passed: what is watched is no worse than is allowed.", "bold green"
    held = sum(row.finding == "held" for row in found.rows)
    return (
        "Passed for want of evidence: no regression is shown, and whether there is one cannot be told "
        f"({held} of {len(found.rows)} measures held)."
    ), "bold yellow"


def _gated(row: "GateRow", allowed: float) -> "Iterator[object]":
    from refdesk.evaluation.comparing.gateresult import amount
    from refdesk.evaluation.reporting.numbers import written

    yield from (row.measure, row.cases, row.moved)
    yield from (written(row.measure, value) for value in (row.baseline, row.candidate))
    yield share_interval(row.gain) if row.shares else interval(row.gain)
    yield from (chance(row.corrected), row.finding)
    yield f"{amount(row, allowed)} {'more' if row.shares else 'worse'}"
    yield "" if row.seen_from is None else amount(row, row.seen_from)


def share_interval(one: "Estimate") -> str:
    """Write a gain that is a share of what the baseline takes, with its interval."""
    return f"{one.value:+.1%} ({one.low:+.1%} to {one.high:+.1%})"


def show_noise(session: Session, found: "Noise") -> None:
    """Print how far repeated runs lie apart."""
    facts(session.out, (("runs", ", ".join(found.runs)), ("cases", found.cases)))
    say(session.out)
    headings = (
        "measure",
        "cases",
        "lowest",
        "highest",
        "noise",
        "by chance",
        "p of drift",
        "cases that move",
    )
    table(session.out, headings, [tuple(_noisy(row)) for row in found.measures])
    if found.moving:
        say(session.out, "\nCases that move most")
        moving = [
            (
                one.case_id,
                one.measure,
                ", ".join(f"{value:.3f}" for value in one.values),
                one_line(one.question, 80),
            )
            for one in found.moving
        ]
        table(session.out, ("case", "measure", "values", "question"), moving)
    for note in found.notes:
        session.note(f"note: {note}")


def _noisy(row: "MeasureNoise") -> "Iterator[object]":
    from refdesk.evaluation.reporting.numbers import written
    from refdesk.evaluation.runs.outcomes import is_quality

    yield from (row.measure, row.cases)
    yield from (written(row.measure, value) for value in (min(row.means), max(row.means)))
    fine = is_quality(row.measure)
    yield from (
        f"{value:.4f}" if fine else written(row.measure, value) for value in (row.between, row.expected)
    )
    yield from (chance(row.chance), row.moved)
