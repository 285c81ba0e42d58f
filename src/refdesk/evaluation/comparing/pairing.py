"""Runs side by side: what each measured of the same cases, and why some are left out."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from refdesk.errors import InputError
from refdesk.evaluation.comparing.statistics import Floats
from refdesk.evaluation.runs.outcomes import CaseOutcome, Run

Runs = Run | Sequence[Run]
"""A run, or several of one configuration."""

FAILED = "failed"
"""Whether a case failed, as a measure."""
FALSE_REFUSAL = "answer.false_refusal"
"""Whether an answer was refused that the documents have."""
REFUSED = "answer.refused"
"""Neither good nor bad by itself: where it is wrong it is a false refusal, else part of `answer.right`."""
FINAL = "final"
"""The last stage of each run, where one has no reranker."""
STAGES = ("pipeline", "reranked", "fused", "vector", "keyword")
"""Channels, the one that answers would come from first."""
LONGEST = 80
"""Characters of a reason."""


@dataclass(frozen=True)
class Group:
    """Runs of one configuration; what is asked of a case is the mean over those that measured it."""

    runs: tuple[Run, ...]

    @property
    def name(self) -> str:
        return ",".join(run.header.name for run in self.runs)

    @cached_property
    def cases(self) -> Mapping[str, CaseOutcome]:
        """Every case that any run asked, as the first of them answered it, failed only where all did."""
        found: dict[str, CaseOutcome] = {}
        for run in self.runs:
            for case_id, outcome in run.outcomes.items():
                if case_id not in found or (found[case_id].error and not outcome.error):
                    found[case_id] = outcome
        return found

    @cached_property
    def measures(self) -> tuple[str, ...]:
        """Names of all that was measured, in the order met."""
        known = dict.fromkeys(
            name for run in self.runs for one in run.outcomes.values() for name in one.measures
        )
        return tuple(FALSE_REFUSAL if name == REFUSED else name for name in known)

    @cached_property
    def stage(self) -> str:
        """The channel that answers would come from; empty where nothing was searched."""
        channels = {name.partition(".")[0] for name in self.measures}
        return next((one for one in STAGES if one in channels), "")

    def outcomes(self, case_id: str) -> Iterator[CaseOutcome]:
        """Go through what came of a case in each run that asked it."""
        return (run.outcomes[case_id] for run in self.runs if case_id in run.outcomes)

    def value(self, case_id: str, measure: str) -> float | None:
        """Return the mean over the runs that measured it, None where none did. Errors: `InputError`."""
        values = list(self._values(case_id, measure))
        return sum(values) / len(values) if values else None

    def why(self, case_id: str, measure: str) -> str:
        """Return why a measure is missing: it failed, a reason, or nothing that is known."""
        name = self._stored(measure)
        if (first := self.cases[case_id]).error:
            return FAILED
        reason = first.excluded.get(name, "").partition(": ")[0]  # what follows differs from case to case
        return f"excluded: {reason[:LONGEST]}" if name in first.excluded else ""

    def failures(self, case_id: str) -> float:
        """Return the share of the runs that failed at a case."""
        failed = [bool(one.error) for one in self.outcomes(case_id)]
        return sum(failed) / len(failed)

    def _values(self, case_id: str, measure: str) -> Iterator[float]:
        if measure == FAILED:
            yield self.failures(case_id)
            return
        name = self._stored(measure)
        for outcome in self.outcomes(case_id):
            if measure == FALSE_REFUSAL and not outcome.answerable:
                continue
            if name in outcome.measures and not outcome.error:
                yield _number(outcome.measures[name], outcome, name, self.name)

    def _stored(self, measure: str) -> str:
        if measure == FALSE_REFUSAL:
            return REFUSED
        channel, dot, rest = measure.partition(".")
        return f"{self.stage}.{rest}" if dot and channel == FINAL else measure


def _number(value: float, outcome: CaseOutcome, measure: str, name: str) -> float:
    if isinstance(value, int | float) and math.isfinite(value):
        return float(value)
    raise InputError(
        f"In the run {name!r} {measure} of the case {outcome.case_id!r} is {value!r}, which is no number.",
        remedy="What could not be measured has to be absent, with the reason under `excluded`.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """A measure of the cases that both sides measured."""

    measure: str
    cases: tuple[str, ...]
    a: Floats
    b: Floats
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Why cases that one side measured are not among them."""

    @property
    def gaps(self) -> Floats:
        return self.b - self.a


def group(runs: Runs) -> Group:
    """Return runs as one side of a comparison. Errors: `InputError` for none."""
    found = Group((runs,) if isinstance(runs, Run) else tuple(runs))
    if not found.runs:
        raise InputError("There is no run to compare.", remedy="Name at least one.")
    return found


def pair(a: Group, b: Group, measure: str, cases: Iterable[str]) -> Paired:
    """Return what both measured of these cases. Errors: `InputError` for what is no number."""
    kept: dict[str, tuple[float, float]] = {}
    left_out: Counter[str] = Counter()
    for case_id in cases:
        first, second = a.value(case_id, measure), b.value(case_id, measure)
        if first is not None and second is not None:
            kept[case_id] = (first, second)
        elif reason := _left_out(a, b, case_id, measure, first, second):
            left_out[reason] += 1
    values = np.array(list(kept.values()), dtype=np.float64).reshape(len(kept), 2)
    return Paired(measure=measure, cases=tuple(kept), a=values[:, 0], b=values[:, 1], left_out=dict(left_out))


def _left_out(
    a: Group, b: Group, case_id: str, measure: str, first: float | None, second: float | None
) -> str:
    """Say why a case is left out; nothing where the measure does not apply to it."""
    if first is None and second is None:
        told = a.why(case_id, measure) or b.why(case_id, measure)
        return f"{told} (A and B)" if told else ""
    side, name = (a, "A") if first is None else (b, "B")
    return f"{side.why(case_id, measure) or 'not measured'} ({name})"


def common_cases(a: Group, b: Group, tag: str = "") -> tuple[tuple[str, ...], Mapping[str, int]]:
    """Return the ids of the cases that both asked, and why others are left out.

    Errors: `InputError` where there are none.
    """
    cases, left_out = [], Counter[str]()
    for case_id in dict.fromkeys([*a.cases, *b.cases]):
        first, second = a.cases.get(case_id), b.cases.get(case_id)
        if tag and tag not in {*(first.tags if first else ()), *(second.tags if second else ())}:
            continue
        if first is None or second is None:
            left_out[f"only in {'A' if second is None else 'B'}"] += 1
        elif _asked(first) != _asked(second):
            left_out["another question or gold"] += 1
        else:
            cases.append(case_id)
    if not cases:
        raise InputError(
            f"{a.name!r} and {b.name!r} have no case in common{f' with the tag {tag!r}' if tag else ''}.",
            remedy="Compare runs on the same data.",
        )
    return tuple(cases), dict(left_out)


def _asked(outcome: CaseOutcome) -> object:
    """Return what has to be the same for two outcomes to be of the same case."""
    return outcome.question, outcome.needs, outcome.answers, outcome.answerable, outcome.history


def refuse_other_data(a: Group, b: Group, *, force: bool = False) -> None:
    """Raise `InputError` where runs are on different data."""
    digests = {run.header.data_digest: run.header for run in (*a.runs, *b.runs)}
    if len(digests) > 1 and not force:
        told = "; ".join(
            f"{one.name}: {one.data} {one.split}, {one.cases} cases, {digest or 'no digest'}"
            for digest, one in digests.items()
        )
        raise InputError(
            f"The runs are on different data: {told}.",
            remedy="Run both on the same data, or compare the cases that are the same with --force.",
        )


def shared_measures(a: Group, b: Group) -> tuple[str, ...]:
    """Return the names of what both measured."""
    known = set(b.measures)
    return tuple(name for name in a.measures if name in known)


def about(measure: str) -> str:
    """Return what a measure is of: a channel, `answer`, or nothing."""
    return measure.rpartition(".")[0]
