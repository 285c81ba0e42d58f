"""A configuration that was tried, with what came of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from refdesk.evaluation.runs.outcomes import CaseOutcome
from refdesk.evaluation.sweeps.candidates import Candidate

Status = Literal["done", "dropped", "partly", "failed", "not run"]
"""`dropped` by the race, `partly` where the budget or Ctrl-C ended it, `not run` where it never began."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """A configuration with what came of it so far."""

    candidate: Candidate
    run: str
    """Name of its stored run."""
    status: Status = "not run"
    outcomes: Mapping[str, CaseOutcome] = field(default_factory=dict)
    error: str = ""


def values_of(outcomes: Mapping[str, CaseOutcome], objective: str) -> dict[str, float]:
    """Return the objective by case, where it was measured."""
    return {
        name: one.measures[objective]
        for name, one in outcomes.items()
        if not one.error and objective in one.measures
    }


def seconds_of(outcome: CaseOutcome, objective: str) -> float:
    """Return how long a case took: the channel that the objective measures, else the whole of it."""
    named = objective.partition(".")[0]
    return next((one.seconds for one in outcome.channels if one.name == named), outcome.seconds)
