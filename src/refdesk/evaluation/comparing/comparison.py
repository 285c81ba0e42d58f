"""What a comparison of two runs found: plain values that print and become JSON."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from refdesk.evaluation.comparing.changed import Change
from refdesk.evaluation.comparing.headers import HeaderDifference
from refdesk.evaluation.comparing.statistics import Estimate

Verdict = Literal["better", "worse", "no evidence"]
Overall = Literal["better", "worse", "mixed", "no evidence"]
"""`mixed` where some headline measures are better and others worse."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureRow:
    """One measure of the cases that both sides measured."""

    measure: str
    cases: int
    a: float
    """Mean over these cases."""
    b: float
    difference: Estimate
    """B less A, with its interval."""
    chance: float
    """How likely a difference as large is where A and B are alike."""
    corrected: float
    """The same for all measures of the family together (Holm)."""
    verdict: Verdict
    """On B: not `no evidence` where `corrected` is at most alpha and 0 is outside the interval."""
    better: int
    """Cases in which B is better."""
    worse: int
    detectable: float | None
    """A difference that would be seen 4 times of 5, by this measure alone; None where no two cases differ."""
    left_out: Mapping[str, int]
    """Why cases that one side measured are not among these."""
    noise_a: float | None = None
    """Standard deviation of the means of repeated runs; None for one run."""
    noise_b: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CostRow:
    """What a case takes. There is no verdict: one run may have had a slow machine, and no test sees that."""

    measure: str
    cases: int
    figure: Literal["median", "mean"]
    a: float
    b: float
    ratio: Estimate | None
    """B through A; None where A is 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TagRows:
    """The headline measures of the cases with a tag."""

    tag: str
    cases: int
    rows: tuple[MeasureRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two runs, or groups of repeated ones, on the same cases."""

    a: tuple[str, ...]
    b: tuple[str, ...]
    data: str
    tag: str
    """The one that all these cases have; empty for all cases."""
    cases: int
    """Which both asked."""
    left_out: Mapping[str, int]
    """Why others are not among them."""
    failed_a: int
    failed_b: int
    verdict: Overall
    """On B."""
    headline: tuple[MeasureRow, ...]
    """What decides."""
    others: tuple[MeasureRow, ...]
    costs: tuple[CostRow, ...]
    tags: tuple[TagRows, ...]
    changed: tuple[Change, ...]
    """Cases whose headline measures differ most."""
    differs: tuple[HeaderDifference, ...]
    pipeline: tuple[str, ...]
    """Lines of the pipeline that differ, as `diff -u` writes them."""
    notes: tuple[str, ...]
    alpha: float
    seed: int

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def overall(rows: Iterable[MeasureRow]) -> Overall:
    """Return the verdict of several measures together."""
    said = {row.verdict for row in rows} - {"no evidence"}
    if len(said) > 1:
        return "mixed"
    return said.pop() if said else "no evidence"
