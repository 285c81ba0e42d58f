"""What an ingestion did. The totals are read from the store, not added up on the way."""

from collections import Counter
from dataclasses import dataclass

from refdesk.events import Outcome, SourceFinished

Tried = SourceFinished
"""What became of one source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What an ingestion did, and what its collection holds now."""

    collection: str
    tried: tuple[Tried, ...]
    """Every source that was listed, and every one that `prune` removed."""
    documents: int
    """Documents in the collection, counted in the store after the last write."""
    chunks: int
    """Chunks in the collection, counted in the store after the last write."""
    embedded: int
    """Texts that were sent to the embedder."""
    seconds: float

    @property
    def counts(self) -> dict[Outcome, int]:
        """Sources by outcome; outcomes that did not occur are missing."""
        return dict(Counter(one.outcome for one in self.tried))

    @property
    def failures(self) -> tuple[Tried, ...]:
        return tuple(one for one in self.tried if one.outcome == "failed")

    @property
    def skipped(self) -> tuple[Tried, ...]:
        return tuple(one for one in self.tried if one.outcome == "skipped")
