"""Limits on a reranker's scores: below which there is no evidence, and below which it is weak."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from refdesk.context import Zone
from refdesk.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Limits on the best score of a question's hits, on the scale of one reranker.

    Errors: `InputError` for what is no number, and for limits in the wrong order.
    """

    abstain_below: float
    """Best score under which the zone is `none`."""
    weak_below: float
    """Best score under which it is `weak`."""
    measured_on: str = ""
    """Data, questions and rule, in words."""

    def __post_init__(self) -> None:
        limits = {"abstain_below": self.abstain_below, "weak_below": self.weak_below}
        for name, limit in limits.items():
            if isinstance(limit, bool) or not isinstance(limit, int | float) or math.isnan(limit):
                raise InputError(f"The limit {name} is {limit!r:.40}; it has to be a number.")
        if self.abstain_below > self.weak_below:
            raise InputError(
                f"The limit abstain_below, {self.abstain_below:g}, is above weak_below, {self.weak_below:g}.",
                remedy="Swap them.",
            )

    def zone(self, score: float) -> Zone:
        """Return the zone of a question whose best hit has this score."""
        return "none" if score < self.abstain_below else "weak" if score < self.weak_below else "ok"


def completed(
    known: Thresholds | None, abstain_below: float | None, weak_below: float | None
) -> Thresholds | None:
    """Put limits of one's own in the place of known ones; None where one is neither given nor known.

    One that is given counts; where it crosses the other, that one follows.
    """
    if abstain_below is not None and weak_below is not None:
        return Thresholds(abstain_below=abstain_below, weak_below=weak_below)
    if known is None or (abstain_below is None and weak_below is None):
        return known
    if abstain_below is not None:
        return Thresholds(abstain_below=abstain_below, weak_below=max(abstain_below, known.weak_below))
    assert weak_below is not None
    return Thresholds(abstain_below=min(known.abstain_below, weak_below), weak_below=weak_below)


MINILM = Thresholds(
    abstain_below=0.20,
    weak_below=0.35,
    measured_on="public questions in English, German and French, see docs/zones.md",
)
SHIPPED: Mapping[str, Thresholds] = {
    "maxsim(all-MiniLM-L6-v2@int8/384#303cbd1175bb)": MINILM,
    "maxsim(all-MiniLM-L6-v2@fp32/384#1d5251871613)": MINILM,
}
"""What is known of rerankers without a calibration of one's own; both precisions score alike."""
