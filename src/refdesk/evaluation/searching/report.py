"""What an evaluation of retrieval found."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Self

from refdesk.errors import InputError
from refdesk.evaluation.comparing.statistics import Estimate
from refdesk.evaluation.searching.metrics import paired_differences


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """What was found for one question in one way."""

    way: str
    version: str = ""
    """What the way is besides its name."""
    query_id: str
    question: str
    documents: tuple[str, ...]
    """Ids in the order found, at most 100."""
    seconds: float
    requests: int = 0
    """To language models."""
    tokens: int = 0
    """Of these requests and their replies."""
    failures: tuple[str, ...] = ()
    """What failed and was passed over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryResult(Ranking):
    """A ranking with its scores."""

    relevant: Mapping[str, int]
    scores: Mapping[str, float]

    @classmethod
    def of(cls, ranking: Ranking, relevant: Mapping[str, int], scores: Mapping[str, float]) -> Self:
        """Return a ranking with its scores."""
        plain = {one.name: getattr(ranking, one.name) for one in fields(Ranking)}
        return cls(**plain, relevant=relevant, scores=scores)


@dataclass(frozen=True, slots=True, kw_only=True)
class WayReport:
    """All queries, searched one way."""

    name: str
    scores: Mapping[str, float]
    """Measure to mean over the queries."""
    p50: float
    """Seconds within which half of the searches were done."""
    p95: float
    requests: float = 0.0
    """To language models, mean over the queries."""
    tokens: float = 0.0
    """Of these requests and their replies, mean over the queries."""
    failed: int = 0
    """Queries for which something failed and was passed over, so that they measure something less."""
    differences: Mapping[str, Estimate] | None = None
    """Measure to how far this way is above the one that it is compared with."""
    queries: tuple[QueryResult, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A data set, searched in several ways."""

    data: str
    split: str
    documents: int
    queries: int
    ways: tuple[WayReport, ...]
    against: str = ""
    """The way that the others are compared with; empty for none."""
    warnings: tuple[str, ...] = ()

    def compared(self, name: str) -> Self:
        """Return the report with each way's differences from one of them, question by question.

        Errors: `InputError` for a way that is not there.
        """
        base = next((way for way in self.ways if way.name == name), None)
        if base is None:
            names = ", ".join(way.name for way in self.ways)
            raise InputError(f"Nothing can be compared with {name!r}; this was measured: {names}.")
        theirs = [query.scores for query in base.queries]
        ways = [
            way
            if way is base
            else replace(way, differences=paired_differences([query.scores for query in way.queries], theirs))
            for way in self.ways
        ]
        return replace(self, ways=tuple(ways), against=name)

    def to_json(self, *, per_query: bool = False) -> dict[str, Any]:
        """Return plain values; `per_query` adds every query's result."""
        record = asdict(self)
        if not per_query:
            for way in record["ways"]:
                del way["queries"]
        return record
