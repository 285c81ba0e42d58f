"""One configuration of a sweep in figures."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from refdesk.evaluation.comparing.statistics import Estimate
from refdesk.evaluation.sweeps.tried import Status

LEAST = 6
"""Questions that a difference needs to be told from chance."""
ALPHA = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One configuration."""

    name: str
    run: str
    values: Mapping[str, Any]
    status: Status
    error: str = ""
    asked: int = 0
    missing: int = 0
    """Questions for which the objective could not be measured, or that failed."""
    objective: Estimate | None = None
    difference: Estimate | None = None
    """Above the base, on the questions of both."""
    changed: int = 0
    """Questions whose objective differs from the base's."""
    chance: float | None = None
    """How likely a difference as large is by chance alone, corrected for the number of configurations."""
    p50: float | None = None
    """Seconds of half of the questions."""
    p95: float | None = None
    cost: float = 0.0
    """Dollars a question."""
    tokens: float = 0.0
    """Of language models, a question."""
    front: bool = False
    """Whether none is both better and faster."""


def badness(row: Row, lower: bool) -> float:
    """Return what orders configurations, the best first; `lower` where less of the objective is better."""
    assert row.objective is not None
    return row.objective.value if lower else -row.objective.value
