"""What a gate found, and how it says so."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from refdesk.evaluation.comparing.families import LEAST
from refdesk.evaluation.comparing.statistics import Estimate
from refdesk.evaluation.runs.outcomes import Run

Finding = Literal["regressed", "held", "cannot tell"]
NOTHING_WATCHED = "No measure is watched, only failures."


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRow:
    """One measure that is watched."""

    measure: str
    cases: int
    moved: int
    """Cases that are not as they were."""
    baseline: float
    """Mean over the cases; the geometric one where `shares`."""
    candidate: float
    gain: Estimate
    """By how much the candidate is better, with its interval."""
    shares: bool
    """Whether gain and regression are shares of what the baseline takes; else they are differences."""
    chance: float
    """How likely so low a gain is where the candidate is worse by what is allowed, and no more."""
    corrected: float
    """The same for all measures together (Holm)."""
    finding: Finding
    seen_from: float | None
    """A regression that would be found 4 times of 5; None for less than two cases."""
    needed: int | None
    """About how many cases rule out what is allowed, or show twice as much; None where that is not known."""
    left_out: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """What a gate found."""

    baseline: tuple[str, ...]
    candidate: tuple[str, ...]
    max_regression: float
    max_failed: int
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

    @property
    def regressed(self) -> bool:
        """Whether there is evidence against the candidate, and not only none for it."""
        more = len(self.failed) - len(self.failed_before) > self.max_failed
        return more or any(row.finding == "regressed" for row in self.rows)

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def regression(row: GateRow, allowed: float) -> str:
    if row.shares:
        much, least, limit = (amount(row, one) for one in (-row.gain.value, -row.gain.high, allowed))
        said = f"{row.measure}: a case takes {much} more (at least {least}, allowed are {limit})"
    else:
        said = (
            f"{row.measure} is worse by {-row.gain.value:.3f} (at least {-row.gain.high:.3f}, allowed are "
            f"{allowed:g})"
        )
    return f"{said}, p {row.corrected:.2g}."


def unproven(rows: Sequence[GateRow], names: Sequence[str], allowed: float) -> Iterator[str]:
    """Say of what is watched why it is not shown to have held."""
    yield from (doubt(row, allowed) for row in rows if row.finding == "cannot tell")
    yield from (_nothing_known(name) for name in _unmeasured(rows, names))
    if not names:
        yield NOTHING_WATCHED


def _unmeasured(rows: Sequence[GateRow], names: Sequence[str]) -> Iterator[str]:
    measured = {row.measure for row in rows}
    yield from (name for name in names if name not in measured)


def _nothing_known(name: str) -> str:
    return f"{name} has no case that both measured, so nothing is known of it."


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
    yield from map(_nothing_known, _unmeasured(rows, names))
    if not names:
        yield NOTHING_WATCHED
    yield from (told for row in rows for told in _notes_on_row(row, allowed))


def _notes_on_row(row: GateRow, allowed: float) -> Iterator[str]:
    if row.left_out:
        reasons = ", ".join(f"{count} {reason}" for reason, count in row.left_out.items())
        yield f"{row.measure} is of {row.cases} cases; left out: {reasons}."
    if row.finding == "cannot tell":
        yield doubt(row, allowed)


def doubt(row: GateRow, allowed: float) -> str:
    """Say what would have been seen, and what it would take."""
    start = f"{row.measure}: cannot tell."
    if row.cases < LEAST:
        return f"{start} {row.cases} cases are too few; below {LEAST} nothing can be told from chance."
    if row.moved < LEAST:
        return f"{start} {_still(row)}, which shows nothing of other questions{_needed(row, allowed)}."
    told = "" if row.seen_from is None else f", only one from about {amount(row, row.seen_from)} on"
    limit = amount(row, allowed)
    return (
        f"{start} With {row.cases:,} cases a regression of {limit} could not be seen{told}"
        f"{_needed(row, allowed)}."
    )


def _still(row: GateRow) -> str:
    if not row.moved:
        return f"None of {row.cases:,} cases moved"
    return f"Only {row.moved} of {row.cases:,} cases moved"


def _needed(row: GateRow, allowed: float) -> str:
    if not row.needed:
        return ""
    limit = amount(row, allowed)
    if row.moved < LEAST:
        return f"; about {row.needed:,} cases would be needed to rule a regression of {limit} out"
    return (
        f"; about {row.needed:,} cases would be needed to rule it out, or to find one of "
        f"{amount(row, 2 * allowed)}"
    )


def amount(row: GateRow, value: float) -> str:
    """Write a regression: a difference, or of what a case takes a share."""
    return f"{100 * value:.3g} %" if row.shares else f"{value:.2g}"
