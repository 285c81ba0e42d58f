"""How far repeated runs of one configuration lie apart, which no other configuration has to explain."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from refdesk.errors import InputError
from refdesk.evaluation.comparing.headers import header_differences
from refdesk.evaluation.comparing.pairing import FAILED, REFUSED, Group, group, refuse_other_data
from refdesk.evaluation.comparing.statistics import ROUNDING, Floats, blocks
from refdesk.evaluation.runs.outcomes import Run, is_quality

SHUFFLES = 1000
"""Of the runs of each case, to see whether they drift."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureNoise:
    """One measure over the cases that every run measured."""

    measure: str
    cases: int
    means: tuple[float, ...]
    """Of each run."""
    between: float
    """Standard deviation of these means: what a repetition moves."""
    expected: float
    """What it would be if each case moved on its own."""
    chance: float
    """How likely means so far apart are where each case moves on its own; small where runs drift."""
    within: float
    """Standard deviation of a case over the runs, of all cases (root of the mean square)."""
    moved: int
    """Cases with more than one value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MovingCase:
    """A case that comes out differently."""

    case_id: str
    question: str
    measure: str
    values: tuple[float, ...]
    """Of each run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """What repeated runs say about themselves."""

    runs: tuple[str, ...]
    cases: int
    """Which every run asked."""
    measures: tuple[MeasureNoise, ...]
    moving: tuple[MovingCase, ...]
    """The cases that move most, each by one measure of 0 to 1."""
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def noise(
    runs: Sequence[Run],
    *,
    measures: Sequence[str] | None = None,
    most: int = 10,
    seed: int = 0,
    force: bool = False,
) -> Noise:
    """Measure how far runs of one configuration lie apart.

    Errors: `InputError` for fewer than two runs, for other data without `force`, and where no case or measure
    is in all of them.
    """
    if len(runs) < 2:
        raise InputError(
            f"{len(runs)} run has no noise.", remedy="Name two or more of the same configuration."
        )
    repeated = group(runs)
    refuse_other_data(repeated, repeated, force=force)
    cases = [one for one in runs[0].outcomes if all(one in run.outcomes for run in runs)]
    if not cases:
        raise InputError(
            f"The runs {repeated.name} have no case in common.", remedy="Repeat one on its data."
        )
    tables = _tables(repeated, cases, measures)
    return Noise(
        runs=tuple(run.header.name for run in runs),
        cases=len(cases),
        measures=tuple(_measure(name, table, seed) for name, (_, table) in tables.items()),
        moving=tuple(_moving(repeated, tables)[:most]),
        notes=tuple(_notes(runs)),
    )


def between_runs(runs: Group, measure: str, cases: Iterable[str]) -> float | None:
    """Return the standard deviation of the means of repeated runs, None for one run."""
    if len(runs.runs) < 2:
        return None
    _, table = _table(runs, cases, measure)
    return float(table.mean(axis=0).std(ddof=1)) if len(table) else None


def drift(table: Floats, *, seed: int = 0) -> float:
    """Return how likely means of runs (columns) so far apart are, where each case moves on its own."""
    rng = np.random.default_rng(seed)
    seen = table.mean(axis=0).var()
    moved = table[(table != table[:, :1]).any(axis=1)]
    if not len(moved):
        return 1.0
    slack, hits = ROUNDING * float(np.abs(table).mean()) ** 2, 1
    for size in blocks(SHUFFLES, moved.size):
        shuffled = rng.permuted(np.broadcast_to(moved, (size, *moved.shape)), axis=2)
        means = shuffled.sum(axis=1) / len(table)
        hits += int((means.var(axis=1) >= seen - slack).sum())
    return hits / (SHUFFLES + 1)


def _tables(
    runs: Group, cases: Sequence[str], measures: Sequence[str] | None
) -> dict[str, tuple[tuple[str, ...], Floats]]:
    """Return by measure the cases that every run measured, with their values."""
    known = tuple(name for name in (*runs.measures, FAILED) if name != REFUSED)
    if unknown := [name for name in measures or () if name not in known]:
        raise InputError(f"{unknown[0]!r} was not measured.", remedy=f"Known are: {', '.join(known)}.")
    found = {name: _table(runs, cases, name) for name in measures or known}
    kept = {
        name: (ids, table)
        for name, (ids, table) in found.items()
        if len(ids) and (name != FAILED or table.any())
    }
    if not kept:
        raise InputError(f"No measure is in all of the runs {runs.name}.", remedy="Compare what they have.")
    return kept


def _table(runs: Group, cases: Iterable[str], measure: str) -> tuple[tuple[str, ...], Floats]:
    """Return the cases that every run measured, and a row of values for each."""
    singles = [Group((run,)) for run in runs.runs]
    rows = {}
    for case_id in cases:
        values = [one.value(case_id, measure) for one in singles if case_id in one.cases]
        if len(values) == len(singles) and None not in values:
            rows[case_id] = values
    return tuple(rows), np.array(list(rows.values()), dtype=np.float64).reshape(len(rows), len(singles))


def _measure(name: str, table: Floats, seed: int) -> MeasureNoise:
    means = table.mean(axis=0)
    within = float(np.sqrt(table.var(axis=1, ddof=1).mean()))
    return MeasureNoise(
        measure=name,
        cases=len(table),
        means=tuple(means.tolist()),
        between=float(means.std(ddof=1)),
        expected=within / float(np.sqrt(len(table))),
        chance=drift(table, seed=seed),
        within=within,
        moved=int((table != table[:, :1]).any(axis=1).sum()),
    )


def _moving(runs: Group, tables: dict[str, tuple[tuple[str, ...], Floats]]) -> list[MovingCase]:
    """Return the cases that move, the widest first."""
    widest: dict[str, tuple[float, str, tuple[float, ...]]] = {}
    for name, (ids, table) in tables.items():
        if is_quality(name) and table.max() <= 1:
            for case_id, values, width in zip(
                ids, table.tolist(), np.ptp(table, axis=1).tolist(), strict=True
            ):
                if width > widest.get(case_id, (0.0,))[0]:
                    widest[case_id] = (width, name, tuple(values))
    ordered = sorted(widest.items(), key=lambda one: (-one[1][0], one[0]))
    return [
        MovingCase(case_id=case_id, question=runs.cases[case_id].question, measure=name, values=values)
        for case_id, (_, name, values) in ordered
    ]


def _notes(runs: Sequence[Run]) -> Iterable[str]:
    for run in runs[1:]:
        differing = [one.what for one in header_differences(runs[0].header, run.header)]
        if runs[0].header.pipeline_yaml != run.header.pipeline_yaml:
            differing.append("the lines of the pipeline")
        if differing:
            yield (
                f"{run.header.name} is not a repetition of {runs[0].header.name}: "
                f"{', '.join(differing)} differ, so this is not noise alone."
            )
