"""What was prepared into the store, batch by batch, and the notes of what became of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from refdesk.events import IngestEvent, Outcome, SourceFinished
from refdesk.ingest.batch import Batch
from refdesk.ingest.prepare import Prepared, stored_entry
from refdesk.ingest.target import BatchWriter, Target
from refdesk.sources import SourceGone, SourceMark
from refdesk.stores import Entry, Failure

FAILED = ("failed", "skipped")
DUPLICATE = "duplicate"

Finished = Prepared | Entry | SourceFinished | SourceGone | SourceMark
"""To be stored, to be changed only in metadata or ACL, done, to be deleted; and how far a source was read."""


@dataclass(kw_only=True)
class Storing:
    """One collection that is being filled. Errors: those of the store and of the embedder."""

    collection: str
    store: Target
    writer: BatchWriter
    on_event: Callable[[IngestEvent], None]
    tried: list[SourceFinished] = field(default_factory=list)
    ledger: dict[str, Entry] = field(default_factory=dict)
    """What is stored, kept up to date."""
    cursors: dict[str, str] = field(default_factory=dict)
    recorded: int = 0
    """How many of those that were tried are in the store's notes of failures."""

    async def begin(self, *, full: bool) -> None:
        """Read what is stored; `full` forgets how far followed sources were read."""
        self.ledger = dict(await self.store.entries(self.collection))
        self.cursors = {} if full else dict(await self.store.cursors(self.collection))

    async def added(self, batch: Batch, finished: Finished) -> Batch:
        """Put something into a batch, and return the batch that comes next."""
        match finished:
            case SourceFinished():
                self.note(finished)
                return batch
            case SourceMark():
                batch.marks[finished.source] = finished.cursor
                return batch
        source_id = _id_of(finished)
        if batch.holds(source_id):
            await self.write(batch)
            batch = Batch()
        if isinstance(finished, SourceGone) and source_id not in self.ledger:
            return batch
        batch.add(finished)
        if batch.full:
            await self.write(batch)
            return Batch()
        return batch

    async def write(self, batch: Batch) -> None:
        """Store a batch, and then how far it brings the followed sources."""
        await self._update(batch.entries)
        await self.delete(batch.gone)
        await self.writer.write(self.collection, batch)
        for one in batch.prepared:
            known = one.document.source_id in self.ledger
            outcome: Outcome = "updated" if known else "added"
            self.ledger[one.document.source_id] = stored_entry(one)
            self.note(SourceFinished(one.document.source_id, outcome, len(one.chunks)))
        await self._keep(batch.marks)

    async def _update(self, entries: Sequence[Entry]) -> None:
        if entries:
            await self.store.update(self.collection, entries)
        for entry in entries:
            what = "acl" if entry.acl != self.ledger[entry.source_id].acl else "metadata"
            self.ledger[entry.source_id] = entry
            self.note(SourceFinished(entry.source_id, "updated", entry.chunks, what))

    async def delete(self, source_ids: Sequence[str]) -> None:
        if source_ids:
            await self.store.delete(self.collection, source_ids)
        for source_id in source_ids:
            self.note(SourceFinished(source_id, "removed", self.ledger.pop(source_id).chunks))

    async def _keep(self, marks: Mapping[str, str]) -> None:
        """Note how far followed sources were read, after the failures on the way."""
        if marks:
            await self.record_failures()
        for source, cursor in marks.items():
            self.cursors[source] = cursor
            await self.store.set_cursor(self.collection, source, cursor)

    def note(self, finished: SourceFinished) -> None:
        self.tried.append(finished)
        self.on_event(finished)

    @property
    def last(self) -> dict[str, SourceFinished]:
        """What became of each source at last."""
        return {one.source_id: one for one in self.tried if one.reason != DUPLICATE}

    async def record_failures(self) -> None:
        """Note in the store what failed since this was last done."""
        failed = {
            one.source_id: Failure(source_id=one.source_id, reason=one.reason, message=one.message)
            for one in self.tried[self.recorded :]
            if one.reason != DUPLICATE and one.outcome in FAILED
        }
        self.recorded = len(self.tried)
        if failed:
            await self.store.record_failures(self.collection, list(failed.values()))

    async def clear_failures(self, is_over: Callable[[str, SourceFinished | None], bool]) -> None:
        """Remove the notes of what is fine again or gone."""
        last, noted = self.last, await self.store.failures(self.collection)
        if over := [name for name in noted if is_over(name, last.get(name))]:
            await self.store.clear_failures(self.collection, over)


def _id_of(finished: Prepared | Entry | SourceGone) -> str:
    return finished.document.source_id if isinstance(finished, Prepared) else finished.source_id
