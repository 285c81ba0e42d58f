"""Refusals, right and false, and what confidence says about wrong answers."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from refdesk.evaluation.calibrating.zones import Curve, risk_coverage
from refdesk.evaluation.reporting.numbers import Mean, means_of
from refdesk.evaluation.reporting.verdicts import HALF, state_of
from refdesk.evaluation.runs.outcomes import CaseOutcome

REFUSED = "answer.refused"
JUDGED = ("right", "wrong")


@dataclass(frozen=True, slots=True, kw_only=True)
class AbstainRow:
    """Cases of one kind: those that the documents answer, or the others."""

    answerable: bool
    cases: int
    refused: Mean
    """Share that was refused: rightly where they do not answer, falsely where they do."""
    right: Mean | None
    """Share of what was answered that is right; None where nothing was, or nobody judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Abstaining:
    """What was answered and what was refused."""

    rows: tuple[AbstainRow, ...]
    refusals: Mapping[str, int]
    """Reason to the number of cases."""
    curve: Curve | None
    """Risk by coverage, by falling confidence; None where fewer than two answers have one and are judged."""
    curve_cases: int


def refused(outcome: CaseOutcome) -> bool:
    """Say whether an answer declines: by what was measured of it, else by its own word."""
    own = outcome.answer is not None and outcome.answer.refusal is not None
    return outcome.measures.get(REFUSED, float(own)) >= HALF


def abstaining_of(outcomes: Sequence[CaseOutcome], criteria: Sequence[str]) -> Abstaining | None:
    """Return what was refused; None where nothing was answered at all. `criteria` say what is right."""
    answered = [one for one in outcomes if one.answer is not None]
    if not answered:
        return None
    kinds = [[one for one in answered if one.answerable is kind] for kind in (True, False)]
    given = [(one, one.answer.confidence) for one in answered if one.answer and not refused(one)]
    judged = [
        (confidence, state == "right")
        for one, confidence in given
        if confidence is not None and (state := state_of(one, criteria)) in JUDGED
    ]
    reasons = Counter(one.answer.refusal for one in answered if one.answer and one.answer.refusal)
    return Abstaining(
        rows=tuple(_row(kind, criteria) for kind in kinds if kind),
        refusals=dict(reasons.most_common()),
        curve=_curve(judged) if len(judged) > 1 else None,
        curve_cases=len(judged),
    )


def _row(kind: Sequence[CaseOutcome], criteria: Sequence[str]) -> AbstainRow:
    declined = {one.case_id: float(refused(one)) for one in kind}
    states = {one.case_id: state_of(one, criteria) for one in kind if not declined[one.case_id]}
    right = {name: float(state == "right") for name, state in states.items() if state in JUDGED}
    means = means_of({"refused": declined} | ({"right": right} if right else {}))
    return AbstainRow(
        answerable=kind[0].answerable, cases=len(kind), refused=means["refused"], right=means.get("right")
    )


def _curve(judged: Iterable[tuple[float, bool]]) -> Curve:
    scores, right = zip(*judged, strict=True)
    return risk_coverage(np.array(scores, float), np.array(right, bool))
