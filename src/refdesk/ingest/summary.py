"""What an ingestion did. The totals are read from the store, not added up on the way."""

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from refdesk.errors import StoreError
from refdesk.events import Outcome, SourceFinished
from refdesk.ingest.permitting import UNREADABLE
from refdesk.stores import Entry

WRITTEN = ("added", "updated")
STORED = (*WRITTEN, "unchanged")

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
    hidden: int = 0
    """Documents that were listed and that nobody may read, since their ACL is empty."""
    refused: int = 0
    """Sources that were not stored, since their ACL cannot be understood."""
    withheld: int = 0
    """Documents that were stored before, and that nobody may read until their ACL can be understood."""
    acl: tuple[str, ...] = ()
    """Who may read new documents of which their source does not say it."""
    unsaid: int = 0
    """Documents added of which neither source nor call said who may read them, so that the setting did."""

    @property
    def counts(self) -> dict[Outcome, int]:
        """Sources by outcome; outcomes that did not occur are missing."""
        return dict(Counter(one.outcome for one in self.tried))

    @property
    def texts(self) -> int:
        """Texts of the documents that were added or replaced; fewer are embedded where some have a vector."""
        return sum(one.chunks for one in self.tried if one.outcome in WRITTEN and not one.reason)

    @property
    def only(self) -> dict[str, int]:
        """Documents by what alone was updated: `metadata`, `acl`."""
        return dict(Counter(one.reason for one in self.tried if one.outcome == "updated" and one.reason))

    @property
    def failures(self) -> tuple[Tried, ...]:
        return tuple(one for one in self.tried if one.outcome == "failed")

    @property
    def skipped(self) -> tuple[Tried, ...]:
        return tuple(one for one in self.tried if one.outcome == "skipped")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """How much of what was listed nobody may read, as `Summary` has it."""

    hidden: int
    refused: int
    withheld: int


def unread(unreadable: Set[str], tried: Sequence[Tried], stored: Mapping[str, Entry]) -> Unread:
    """Tell apart what is meant for nobody from what says unintelligibly for whom it is."""
    unclear = {one.source_id for one in tried if one.reason == UNREADABLE and one.outcome == "failed"}
    kept = {name for name in unreadable | unclear if name in stored and not stored[name].acl}
    return Unread(
        hidden=len(kept - unclear), refused=len(unclear - stored.keys()), withheld=len(kept & unclear)
    )


def refuse_lost(last: Mapping[str, Tried], stored: Mapping[str, Entry]) -> None:
    """Compare what was written with what is stored. Errors: `StoreError`."""
    expected = {name: one.chunks for name, one in last.items() if one.outcome in STORED}
    lost = sorted(name for name, chunks in expected.items() if _held(stored.get(name)) != chunks)
    if lost:
        raise StoreError(
            f"{len(lost)} of {len(expected)} documents are not stored as written, first {lost[0]!r}.",
            remedy="Ingest them again; if it happens twice, delete and rebuild the collection.",
        )


def _held(entry: Entry | None) -> int | None:
    return None if entry is None else entry.chunks
