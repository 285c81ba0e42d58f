"""Embed a collection anew from its stored documents, beside what readers see, and switch when all is there.

Every batch that was written stays, so an interrupted run goes on where it was. Documents that change or
arrive meanwhile are taken in further rounds.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import anyio.to_thread

from refdesk.documents import Scope, document_id
from refdesk.errors import NotFound, StoreError
from refdesk.events import IngestEvent, IngestStarted, Outcome, SourceFinished
from refdesk.ingest.batch import Batch
from refdesk.ingest.prepare import Prepared, Recipe
from refdesk.ingest.summary import Summary
from refdesk.ingest.writing import Writer
from refdesk.stores import Entry, Reader, Remake, Store

ROUNDS = 10
"""Rounds after which a collection that never stops changing is left as it is."""


@dataclass(kw_only=True)
class Reembedding:
    """One run over one collection. Use it once.

    Errors: `NotFound`, `StoreError`, and those of the embedder; readers then still see the old state.
    """

    collection: str
    store: Store
    writer: Writer
    recipe: Recipe
    on_event: Callable[[IngestEvent], None] = lambda event: None
    made: set[str] = field(default_factory=set)
    """Sources embedded in this run."""

    async def run(self) -> Summary:
        """Embed what is not yet made by the recipe, and return what became of every document."""
        began = time.perf_counter()
        entries = await self.store.entries(self.collection)
        self.on_event(IngestStarted(self.collection, len(entries)))
        remake = await self._remake()
        if await self._is_needed(entries):
            self._tell_done(entries, await remake.missing())
            await self._complete(remake)
        else:
            self._tell_done(entries, ())
            await remake.discard()
        await self.store.optimise()
        return await self._summary(began)

    async def _remake(self) -> Remake:
        space = self.writer.embedder.fingerprint
        return await self.store.remake(
            self.collection, fingerprint=str(space), dimension=space.dimension, recipe=self.recipe.mark
        )

    async def _is_needed(self, entries: Mapping[str, Entry]) -> bool:
        space = (await self.store.collection(self.collection)).fingerprint
        return space not in ("", self.recipe.fingerprint) or not all(
            self.recipe.made(entry.digest) for entry in entries.values()
        )

    def _tell_done(self, entries: Mapping[str, Entry], missing: Iterable[str]) -> None:
        for source_id in entries.keys() - set(missing):
            self.on_event(SourceFinished(source_id, "unchanged", entries[source_id].chunks))

    async def _complete(self, remake: Remake) -> None:
        """Make what is missing until the store takes it for all. Errors: `StoreError`."""
        for _ in range(ROUNDS):
            await self._make(remake, await remake.missing())
            if await remake.switch():
                return
        raise StoreError(
            f"The collection {self.collection!r} kept changing while it was embedded anew, {ROUNDS} times.",
            remedy="Run the same command again while nothing is ingested; it goes on from here.",
        )

    async def _make(self, remake: Remake, source_ids: Sequence[str]) -> None:
        batch, reader = Batch(), await self._reader()
        for source_id in source_ids:
            if prepared := await self._prepared(reader, source_id):
                batch.add(prepared)
            if batch.full:
                await self._write(remake, batch)
                batch, reader = Batch(), await self._reader()
        await self._write(remake, batch)

    async def _reader(self) -> Reader:
        return await self.store.reader(Scope((self.collection,), upkeep=True))

    async def _prepared(self, reader: Reader, source_id: str) -> Prepared | None:
        """Cut a stored document into chunks; None where it has been deleted meanwhile."""
        try:
            document = await reader.document(document_id(self.collection, source_id))
        except NotFound:
            return None
        return await anyio.to_thread.run_sync(self.recipe.prepare, self.recipe.remade(document))

    async def _write(self, remake: Remake, batch: Batch) -> None:
        await remake.write(await self.writer.embed(self.collection, batch.prepared))
        for one in batch.prepared:
            self.made.add(one.document.source_id)
            self.on_event(SourceFinished(one.document.source_id, "updated", len(one.chunks)))

    async def _summary(self, began: float) -> Summary:
        """Count in the store."""
        entries = await self.store.entries(self.collection)
        documents, chunks = await (await self._reader()).count()
        return Summary(
            collection=self.collection,
            tried=tuple(self._tried(entry) for entry in entries.values()),
            documents=documents,
            chunks=chunks,
            embedded=self.writer.embedded,
            seconds=time.perf_counter() - began,
        )

    def _tried(self, entry: Entry) -> SourceFinished:
        outcome: Outcome = "updated" if entry.source_id in self.made else "unchanged"
        return SourceFinished(entry.source_id, outcome, entry.chunks)
