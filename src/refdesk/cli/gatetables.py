"""Gates and noise as tables."""

from typing import TYPE_CHECKING

from refdesk.cli.comparetables import chance, interval
from refdesk.cli.session import Session
from refdesk.cli.tables import facts, table
from refdesk.cli.terminal import one_line, say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from refdesk.evaluation.comparing.gateresult import Gate, GateRow
    from refdesk.evaluation.comparing.noise import Noise

GATED = ("measure", "cases", "baseline", "candidate", "gain (95 %)", "p", "finding", "seen from")
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
            ("allowed", f"{found.max_regression:g} worse"),
        ),
    )
    say(session.out)
    if found.rows:
        table(session.out, GATED, [tuple(_gated(row)) for row in found.rows])
        say(session.out)
    if found.failed:
        more = f" and {len(found.failed) - SHOWN} more" if len(found.failed) > SHOWN else ""
        say(session.out, f"Failed as they did not before: {', '.join(found.failed[:SHOWN])}{more}")
    for note in found.notes:
        session.note(f"note: {note}")
    if found.passed:
        say(session.out, "Passed: no evidence of a regression beyond what is allowed.", "bold green")
    else:
        say(session.out, "Not passed.", "bold red")


def _gated(row: "GateRow") -> "Iterator[object]":
    yield from (row.measure, row.cases, row.baseline, row.candidate, interval(row.gain))
    yield from (chance(row.corrected), row.finding)
    yield "" if row.seen_from is None else f"{row.seen_from:.3f}"


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
    rows = [
        (
            row.measure,
            row.cases,
            min(row.means),
            max(row.means),
            f"{row.between:.4f}",
            f"{row.expected:.4f}",
            chance(row.chance),
            row.moved,
        )
        for row in found.measures
    ]
    table(session.out, headings, rows)
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
