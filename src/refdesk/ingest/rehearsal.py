"""An ingestion that writes nothing: it reads, parses and counts, and says what would be done."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from refdesk.documents import Collection, Scope
from refdesk.errors import NotFound
from refdesk.ingest.batch import Batch
from refdesk.ingest.prepare import Prepared, stored_entry
from refdesk.ingest.writing import apart
from refdesk.stores import Entry, Failure, Store


@dataclass
class Rehearsal:
    """Stands for a store and for what embeds and writes; see `target`."""

    store: Store | None
    """None where there is no library yet."""
    ledger: dict[str, Entry] = field(default_factory=dict)
    """What would be stored."""
    loaded: bool = False
    embedded: int = 0
    """Texts that would be embedded."""
    fingerprint: str = ""
    """The space that it would be in; without it, every text would be embedded."""
    late: bool = False
    """Whether vectors of tokens would be kept."""

    async def collection(self, name: str) -> Collection:
        try:
            return Collection(name=name) if self.store is None else await self.store.collection(name)
        except NotFound:
            self.store = None
            return Collection(name=name)

    async def entries(self, collection: str) -> Mapping[str, Entry]:
        if self.store is not None and not self.loaded:
            self.ledger, self.loaded = dict(await self.store.entries(collection)), True
        return self.ledger

    async def write(self, collection: str, batch: Batch) -> None:
        self.embedded += await self._new(collection, batch.prepared)
        self.ledger.update({one.document.source_id: stored_entry(one) for one in batch.prepared})

    async def _new(self, collection: str, prepared: Sequence[Prepared]) -> int:
        if self.store is None:
            return len({text for one in prepared for text in one.texts})
        _, new = await apart(self.store, collection, prepared, fingerprint=self.fingerprint, late=self.late)
        return len(new)

    async def update(self, collection: str, entries: Sequence[Entry]) -> None:
        self.ledger.update({entry.source_id: entry for entry in entries})

    async def delete(self, collection: str, source_ids: Sequence[str]) -> None:
        for source_id in source_ids:
            self.ledger.pop(source_id, None)

    async def failures(self, collection: str) -> Mapping[str, Failure]:
        return {} if self.store is None else await self.store.failures(collection)

    async def record_failures(self, collection: str, failures: Sequence[Failure]) -> None:
        """Note nothing."""

    async def clear_failures(self, collection: str, source_ids: Sequence[str]) -> None:
        """Keep every note."""

    async def cursors(self, collection: str) -> Mapping[str, str]:
        return {} if self.store is None else await self.store.cursors(collection)

    async def set_cursor(self, collection: str, source: str, cursor: str) -> None:
        """Keep the cursor that there is."""

    async def reader(self, scope: Scope) -> "Rehearsal":
        return self

    async def count(self) -> tuple[int, int]:
        return len(self.ledger), sum(entry.chunks for entry in self.ledger.values())

    async def optimise(self) -> None:
        """Nothing was written."""
