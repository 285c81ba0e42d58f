"""From how far the evidence holds a statement to its level of support."""

from collections.abc import Iterable
from dataclasses import dataclass

from refdesk.errors import InputError
from refdesk.support import Support


@dataclass(frozen=True, slots=True)
class Levels:
    """From which score on a statement is supported, and from which in part; below it is unsupported."""

    supported_from: float = 0.6
    partial_from: float = 0.35
    measured_on: str = ""
    """Data and rule, in words."""

    def __post_init__(self) -> None:
        if not 0.0 <= self.partial_from <= self.supported_from <= 1.0:
            raise InputError(
                f"Support from {self.supported_from} on and partly from {self.partial_from} on cannot be.",
                remedy="Give 0 <= partial_from <= supported_from <= 1.",
            )

    def level(self, score: float) -> Support:
        """Return the level of a score from 0 to 1."""
        if score >= self.supported_from:
            return "supported"
        return "partial" if score >= self.partial_from else "unsupported"


LEVELS = Levels()


def weighted_mean(scores: Iterable[tuple[float, float]]) -> float:
    """Return the mean of scores, each with its weight; 0 where nothing weighs anything."""
    pairs = list(scores)
    total = sum(weight for _, weight in pairs)
    mean = sum(score * weight for score, weight in pairs) / total if total else 0.0
    return min(1.0, max(0.0, mean))
