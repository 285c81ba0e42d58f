"""Run an ingestion: parse ahead of the embedder, write in whole batches, count at the end.

A batch is written at once or not at all, so an interrupted run keeps every batch that it reported, and the
next run only does what is missing.
"""

import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from refdesk.documents import Scope
from refdesk.errors import RefdeskError, StoreError, plain_errors
from refdesk.events import IngestEvent, IngestStarted, Outcome, SourceFinished
from refdesk.ingest.batch import Batch, Writer
from refdesk.ingest.prepare import Prepared, Recipe, new_metadata, parsed_text
from refdesk.ingest.summary import Summary
from refdesk.parsing import FileInfo, Parsed
from refdesk.parsing.pool import ParserPool
from refdesk.sources import Source, SourceFailure, SourceItem
from refdesk.stores import Entry, Failure, Store
from refdesk.stores.refusals import mismatch

AHEAD = 8
"""Documents that may wait for the embedder, and items that are parsed at once."""
NOTHING_IN_IT = frozenset({"empty", "unsupported"})
"""Parse reasons that make a source skipped instead of failed."""
FAILED = ("failed", "skipped")
DUPLICATE = "duplicate"

Finished = Prepared | Entry | SourceFinished
"""What is to be stored, what only has new metadata, and what is done."""


@dataclass(kw_only=True)
class Ingestion:
    """One run over some sources into one collection. Use it once.

    Errors: `StoreError`, `StoreLocked` and `EmbeddingMismatch`; `RemoteError` from the embedder.
    What fails for a single source is recorded in the ledger and listed in the summary.
    """

    sources: Sequence[Source]
    collection: str
    store: Store
    writer: Writer
    recipe: Recipe
    parsers: ParserPool
    prune: bool = False
    password: str = ""
    """What opens encrypted files."""
    on_event: Callable[[IngestEvent], None] = lambda event: None
    tried: list[SourceFinished] = field(default_factory=list)
    ledger: dict[str, Entry] = field(default_factory=dict)
    hidden: list[str] = field(default_factory=list)
    """Beginnings of ids that the sources could not list this time."""

    async def run(self) -> Summary:
        """Ingest what the sources list and return what became of it."""
        began = time.perf_counter()
        await self._refuse_another_space()
        self.ledger = dict(await self.store.entries(self.collection))
        total = await anyio.to_thread.run_sync(lambda: sum(source.count() for source in self.sources))
        self.on_event(IngestStarted(self.collection, total))
        await self._flow()
        await self._note_failures()
        if self.prune:
            await self._remove_vanished()
        await self.store.optimise()
        return await self._summary(began)

    async def _refuse_another_space(self) -> None:
        mismatch(await self.store.collection(self.collection), self.recipe.fingerprint)

    async def _flow(self) -> None:
        send, receive = anyio.create_memory_object_stream[Finished](AHEAD)
        with plain_errors():
            # Readers may be sending when this ends early: the stream closes after they are gone.
            async with receive, anyio.create_task_group() as tasks:
                tasks.start_soon(self._read, send)
                await self._write(receive)

    async def _read(self, send: MemoryObjectSendStream[Finished]) -> None:
        """List and parse the items, several at once, and pass on what must be embedded."""
        slots = anyio.Semaphore(AHEAD)
        seen: set[str] = set()
        async with send, anyio.create_task_group() as tasks, aclosing(self._items()) as items:
            async for item in items:
                if not _is_text(item.source_id):
                    await send.send(_nameless(item))
                elif isinstance(item, SourceFailure):
                    self.hidden.append(item.hides)
                    await send.send(SourceFinished(item.source_id, "failed", 0, item.reason, item.message))
                elif item.source_id in seen:
                    await send.send(_twice(item))
                else:
                    seen.add(item.source_id)
                    await slots.acquire()
                    tasks.start_soon(self._prepare, item, send, slots)

    async def _items(self) -> AsyncGenerator[SourceItem | SourceFailure, None]:
        for source in self.sources:
            async for item in source.items():
                yield item

    async def _prepare(
        self, item: SourceItem, send: MemoryObjectSendStream[Finished], slots: anyio.Semaphore
    ) -> None:
        try:
            await send.send(await self._finished(item))
        finally:
            slots.release()

    async def _finished(self, item: SourceItem) -> Finished:
        """Prepare one item. Whatever goes wrong with it, a fault of ours included, stops no other."""
        try:
            return await self._prepared(item)
        except RefdeskError as error:
            reason = getattr(error, "reason", error.code)
            outcome: Outcome = "skipped" if reason in NOTHING_IN_IT else "failed"
            return SourceFinished(item.source_id, outcome, 0, reason, str(error))
        except Exception as error:
            return SourceFinished(item.source_id, "failed", 0, "unexpected", repr(error))

    async def _prepared(self, item: SourceItem) -> Finished:
        entry = self.ledger.get(item.source_id)
        digest = await anyio.to_thread.run_sync(self.recipe.digest, item)
        if entry is not None and entry.digest == digest:
            if changed := new_metadata(entry, item):
                return changed
            return SourceFinished(item.source_id, "unchanged", entry.chunks)
        parsed = await self._parse(item)
        return await anyio.to_thread.run_sync(self._made, item, parsed)

    async def _parse(self, item: SourceItem) -> Parsed:
        if item.data is None:
            return await anyio.to_thread.run_sync(parsed_text, item)
        info = FileInfo(name=item.name, media_type=item.media_type, password=self.password)
        return await self.parsers.parse(item.data, info)

    def _made(self, item: SourceItem, parsed: Parsed) -> Prepared:
        return self.recipe.prepare(self.recipe.document(item, parsed, self.collection))

    async def _write(self, receive: MemoryObjectReceiveStream[Finished]) -> None:
        batch = Batch()
        async for finished in receive:
            if isinstance(finished, SourceFinished):
                self._note(finished)
                continue
            batch.add(finished)
            if batch.full:
                await self._store(batch)
                batch = Batch()
        await self._store(batch)

    async def _store(self, batch: Batch) -> None:
        if batch.entries:
            await self.store.update(self.collection, batch.entries)
        for entry in batch.entries:
            self._note(SourceFinished(entry.source_id, "updated", entry.chunks, "metadata"))
        await self.writer.write(self.collection, batch)
        for one in batch.prepared:
            known = one.document.source_id in self.ledger
            outcome: Outcome = "updated" if known else "added"
            self._note(SourceFinished(one.document.source_id, outcome, len(one.chunks)))

    def _note(self, finished: SourceFinished) -> None:
        self.tried.append(finished)
        self.on_event(finished)

    async def _note_failures(self) -> None:
        """Note in the ledger what failed now, and remove the notes of what is fine again or gone."""
        listed = {one.source_id: one for one in self.tried if one.reason != DUPLICATE}
        failed = [
            Failure(source_id=one.source_id, reason=one.reason, message=one.message)
            for one in listed.values()
            if one.outcome in FAILED
        ]
        noted = await self.store.failures(self.collection)
        over = [name for name in noted if self._is_over(name, listed.get(name))]
        if failed:
            await self.store.record_failures(self.collection, failed)
        if over:
            await self.store.clear_failures(self.collection, over)

    def _is_over(self, source_id: str, now: SourceFinished | None) -> bool:
        if now is not None:
            return now.outcome not in FAILED
        return (
            self.prune
            and not self._is_hidden(source_id)
            and any(source.covers(source_id, "file:") for source in self.sources)
        )

    async def _remove_vanished(self) -> None:
        listed = {one.source_id for one in self.tried}
        gone = [name for name in self.ledger if name not in listed and self._covers(name)]
        if gone:
            await self.store.delete(self.collection, gone)
        for name in gone:
            self._note(SourceFinished(name, "removed", self.ledger[name].chunks))

    def _is_hidden(self, source_id: str) -> bool:
        return any(hides and source_id.startswith(hides) for hides in self.hidden)

    def _covers(self, source_id: str) -> bool:
        url = self.ledger[source_id].url
        return not self._is_hidden(source_id) and any(
            source.covers(source_id, url) for source in self.sources
        )

    async def _summary(self, began: float) -> Summary:
        """Count in the store, and refuse to report as done what it does not hold."""
        await self._refuse_another_space()
        entries = await self.store.entries(self.collection)
        stored = ("added", "updated", "unchanged")
        expected = {one.source_id: one.chunks for one in self.tried if one.outcome in stored}
        lost = sorted(name for name, chunks in expected.items() if _held(entries.get(name)) != chunks)
        if lost:
            raise StoreError(
                f"{len(lost)} of {len(expected)} documents are not stored as written, first {lost[0]!r}.",
                remedy="Ingest them again; if it happens twice, delete and rebuild the collection.",
            )
        documents, chunks = await (await self.store.reader(Scope((self.collection,)))).count()
        return Summary(
            collection=self.collection,
            tried=tuple(self.tried),
            documents=documents,
            chunks=chunks,
            embedded=self.writer.embedded,
            seconds=time.perf_counter() - began,
        )


def _held(entry: Entry | None) -> int | None:
    return None if entry is None else entry.chunks


def _is_text(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _nameless(item: SourceItem | SourceFailure) -> SourceFinished:
    shown = item.source_id.encode("utf-8", "backslashreplace").decode()
    return SourceFinished(shown, "failed", 0, "damaged", f"The id {shown!r} is not valid Unicode text.")


def _twice(item: SourceItem) -> SourceFinished:
    message = f"The source lists {item.source_id!r} twice; the first one was taken."
    return SourceFinished(item.source_id, "failed", 0, DUPLICATE, message)
