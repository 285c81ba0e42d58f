"""What a gate found, and how it says so."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from refdesk.evaluation.comparing.families import LEAST
from refdesk.evaluation.comparing.statistics import Estimate
from refdesk.evaluation.runs.outcomes import Run

Finding = Literal["regressed", "held", "cannot tell"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRow:
    """One measure that is watched."""

    measure: str
    cases: int
    baseline: float
    candidate: float
    gain: Estimate
    """By how much the candidate is better, with its interval."""
    chance: float
    """How likely so low a gain is where the candidate is worse by what is allowed, and no more."""
    corrected: float
    """The same for all measures together (Holm)."""
    finding: Finding
    seen_from: float | None
    """A regression that would be found 4 times of 5; None for less than two cases."""
    needed: int | None
    """Cases with which one of twice what is allowed would be; None where that is not known."""
    left_out: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """What a gate found."""

    baseline: tuple[str, ...]
    candidate: tuple[str, ...]
    max_regression: float
    cases: int
    passed: bool
    rows: tuple[GateRow, ...]
    failed: tuple[str, ...]
    """Ids of cases that failed in the candidate and not in the baseline."""
    failed_before: tuple[str, ...]
    """Ids of those that failed in the baseline and not in the candidate."""
    reasons: tuple[str, ...]
    """Why it does not pass."""
    notes: tuple[str, ...]
    """In these A is the baseline, B the candidate."""
    alpha: float
    seed: int

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def regression(row: GateRow, allowed: float) -> str:
    return (
        f"{row.measure} is worse by {-row.gain.value:.3f} (at least {-row.gain.high:.3f}, allowed are "
        f"{allowed:g}), p {row.corrected:.2g}."
    )


def failures(failed: int, before: int, allowed: int) -> str:
    fixed = f", while {before} no longer fail" if before else ""
    return f"{failed} cases fail that did not in the baseline{fixed}; allowed are {allowed} more than before."


def notes_on(
    rows: Sequence[GateRow],
    names: Sequence[str],
    left_out: Mapping[str, int],
    baseline: Sequence[Run],
    allowed: float,
) -> Iterator[str]:
    """Say what a reader has to know beside the rows."""
    for run in baseline:
        if run.status != "done":
            yield f"{run.header.name} is {run.status}: {len(run.outcomes)} of {run.header.cases} cases."
    for reason, count in left_out.items():
        yield f"{count} cases are not compared: {reason}."
    for name in names:
        if name not in {row.measure for row in rows}:
            yield f"{name} has no case that both measured, so nothing is known of it."
    if not names:
        yield "No measure is watched, only failures."
    yield from (told for row in rows for told in _notes_on_row(row, allowed))


def _notes_on_row(row: GateRow, allowed: float) -> Iterator[str]:
    if row.left_out:
        reasons = ", ".join(f"{count} {reason}" for reason, count in row.left_out.items())
        yield f"{row.measure} is of {row.cases} cases; left out: {reasons}."
    if row.finding == "cannot tell":
        yield doubt(row, allowed)


def doubt(row: GateRow, allowed: float) -> str:
    """Say what would have been seen, and what it would take."""
    if row.cases < LEAST or row.seen_from is None:
        return f"{row.measure}: cannot tell. {row.cases} cases are too few."
    start = (
        f"{row.measure}: cannot tell. With {row.cases:,} cases a regression of {allowed:g} could not be seen"
    )
    needed = (
        f"; about {row.needed:,} cases would be needed to rule it out, or to find one of {2 * allowed:g}"
        if row.needed
        else ""
    )
    return f"{start}, only one from about {row.seen_from:.2g} on{needed}."
