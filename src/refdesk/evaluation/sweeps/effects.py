"""What each value of a factor does, told from configurations that differ in other factors, too."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from refdesk.evaluation.comparing.statistics import Estimate, mean_intervals
from refdesk.evaluation.sweeps.factors import Values
from refdesk.evaluation.sweeps.tried import Tried, values_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What a value of a factor does beside another of its values, the other factors held equal."""

    factor: str
    value: Any
    beside: Any
    """The base's value, or where that tells nothing, since only the base has it, the first one tried."""
    configurations: int
    """How many have the value."""
    effect: Estimate | None
    """None where the configurations do not tell it from another factor's."""


def effects_of(tried: Sequence[Tried], objective: str, seed: int) -> Iterator[Effect]:
    """Fit an additive model to the means, question by question, so that intervals are paired.

    One factor at a time it gives the differences from the base, in a grid those of the means of all with a
    value, and where combinations were drawn it holds the other factors equal. What was asked everything tells
    first; what the race dropped tells only what nothing else does, since it leaves few questions.
    """
    asked = [one for one in tried if one.status in ("done", "dropped")]
    if not asked:
        return
    by_base = _beside(asked, tried[0].candidate.values, objective, seed)
    lost = {one.factor for one in by_base if one.effect is None}
    others = [one for one in asked if one is not tried[0]]
    by_first = _beside(others, others[0].candidate.values, objective, seed) if lost and others else []
    told = {one.factor for one in by_first if one.effect is not None}
    for factor in tried[0].candidate.values:
        found = by_first if factor in lost & told else by_base
        yield from (one for one in found if one.factor == factor)


def _beside(tried: Sequence[Tried], reference: Values, objective: str, seed: int) -> list[Effect]:
    """Return the effects of all values beside those of one configuration."""
    terms = _terms(tried, reference)
    done = [one for one in tried if one.status == "done"]
    fitted = [_fitted(each, terms, objective, seed) for each in (done, tried)]
    return [
        Effect(
            factor=factor,
            value=value,
            beside=reference[factor],
            configurations=sum(_has(one, factor, value) for one in tried),
            effect=next((effects[place] for effects in fitted if effects[place] is not None), None),
        )
        for place, (factor, value) in enumerate(terms)
    ]


def _fitted(
    tried: Sequence[Tried], terms: Sequence[tuple[str, Any]], objective: str, seed: int
) -> list[Estimate | None]:
    """Return the effect of each term on the questions that all have in common; None where it is not told."""
    known = [values_of(one.outcomes, objective) for one in tried]
    shared = set.intersection(*map(set, known)) if known else set()
    if len(tried) < 2 or not shared:
        return [None] * len(terms)
    cases = [name for name in known[0] if name in shared]
    design = np.array([[1.0, *(float(_has(one, *term)) for term in terms)] for one in tried])
    inverse = np.linalg.pinv(design)
    effects = inverse @ np.array([[values[case] for case in cases] for values in known])
    resolution = inverse @ design
    estimates = mean_intervals(effects.T, seed=seed)
    return [
        estimates[place] if _identified(resolution, place) else None for place in range(1, len(terms) + 1)
    ]


def _identified(resolution: NDArray[np.float64], place: int) -> bool:
    """Tell whether a term's estimate holds nothing of other terms, and all of its own."""
    wanted = np.zeros(len(resolution))
    wanted[place] = 1.0
    return bool(np.allclose(resolution[place], wanted, atol=1e-8))


def _terms(tried: Sequence[Tried], reference: Values) -> list[tuple[str, Any]]:
    """Return the values of factors that differ from the reference's, each once, factor by factor."""
    found: list[tuple[str, Any]] = []
    for name, usual in reference.items():
        for one in tried:
            term = (name, one.candidate.values[name])
            if term[1] != usual and term not in found:
                found.append(term)
    return found


def _has(one: Tried, factor: str, value: Any) -> bool:
    return bool(one.candidate.values[factor] == value)
