"""What an evaluation of retrieval found."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from refdesk.documents import Mode


@dataclass(frozen=True, slots=True)
class Way:
    """One way to search."""

    mode: Mode
    rerank: bool = False

    @property
    def name(self) -> str:
        return f"{self.mode}+rerank" if self.rerank else self.mode


WAYS = (Way("keyword"), Way("vector"), Way("hybrid"), Way("hybrid", rerank=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryResult:
    """One query, searched one way."""

    query_id: str
    question: str
    documents: tuple[str, ...]
    """Ids in the order found, at most 100."""
    relevant: Mapping[str, int]
    scores: Mapping[str, float]
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WayReport:
    """All queries, searched one way."""

    name: str
    scores: Mapping[str, float]
    """Measure to mean over the queries."""
    p50: float
    """Seconds within which half of the searches were done."""
    p95: float
    queries: tuple[QueryResult, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A data set, searched in several ways."""

    data: str
    split: str
    documents: int
    queries: int
    top_k: int
    """Chunks that each search returned."""
    ways: tuple[WayReport, ...]
    warnings: tuple[str, ...] = ()

    def to_json(self, *, per_query: bool = False) -> dict[str, Any]:
        """Return plain values; `per_query` adds every query's result."""
        record = asdict(self)
        if not per_query:
            for way in record["ways"]:
                del way["queries"]
        return record
