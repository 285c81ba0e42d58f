"""Run an ingestion: parse ahead of the embedder, write in whole batches, count at the end.

A batch is written at once or not at all, so an interrupted run keeps every batch that it reported, and the
next run only does what is missing. How far a followed source was read is kept after what was read.
"""

import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import cached_property

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from refdesk.documents import Scope
from refdesk.errors import InputError, RefdeskError, SourceError, plain_errors
from refdesk.events import IngestEvent, IngestStarted, Outcome, SourceFinished
from refdesk.ingest.batch import Batch
from refdesk.ingest.following import NOTHING_IN_IT, Walk, settled, walked
from refdesk.ingest.listing import Listed, all_of, is_text, passed_on
from refdesk.ingest.permitting import UNREADABLE, Permission
from refdesk.ingest.prepare import Prepared, Recipe, new_metadata, parsed_text
from refdesk.ingest.storing import FAILED, Finished, Storing
from refdesk.ingest.summary import Summary, refuse_lost, unread
from refdesk.ingest.target import BatchWriter, Target
from refdesk.parsing import FileInfo, Parsed
from refdesk.parsing.pool import ParserPool
from refdesk.sources import Followed, Source, SourceFailure, SourceGone, SourceItem, SourceMark
from refdesk.stores import Entry
from refdesk.stores.refusals import mismatch

AHEAD = 8
"""Documents that may wait for the embedder, and items that are parsed at once."""


@dataclass(kw_only=True)
class Ingestion:
    """One run over some sources into one collection. Use it once.

    Errors: `StoreError`, `StoreLocked` and `EmbeddingMismatch`; `RemoteError` from the embedder.
    What fails for a single source is recorded in the ledger and listed in the summary.
    """

    sources: Sequence[Source]
    collection: str
    store: Target
    writer: BatchWriter
    recipe: Recipe
    parsers: ParserPool
    permission: Permission
    prune: bool = False
    full: bool = False
    """Read followed sources from their beginning."""
    password: str = ""
    """What opens encrypted files."""
    on_event: Callable[[IngestEvent], None] = lambda event: None
    walks: list[Walk] = field(default_factory=list)
    """Walks that came to their end."""
    hidden: list[str] = field(default_factory=list)
    """Beginnings of ids that the sources could not list this time."""
    unreadable: set[str] = field(default_factory=set)
    """Ids of what was listed and is meant for nobody."""
    unsaid: set[str] = field(default_factory=set)
    """New sources of which only the default says who may read them."""

    @cached_property
    def storing(self) -> Storing:
        """What is stored, and what became of each source so far."""
        return Storing(
            collection=self.collection, store=self.store, writer=self.writer, on_event=self.on_event
        )

    async def run(self) -> Summary:
        """Ingest what the sources list and return what became of it."""
        began = time.perf_counter()
        await self._refuse_another_space()
        await self.storing.begin(full=self.full)
        total = await anyio.to_thread.run_sync(lambda: sum(map(self._count, self.sources)))
        self.on_event(IngestStarted(self.collection, total))
        await self._flow(self._items())
        for source in self._followed:
            if self.prune or self.full or await anyio.to_thread.run_sync(source.walks, self._cursor(source)):
                await self._walk(source)
        await self.storing.record_failures()
        await self.storing.clear_failures(self._is_over)
        if self.prune:
            await self.storing.delete(self._vanished())
        await self.store.optimise()
        return await self._summary(began)

    async def _refuse_another_space(self) -> None:
        mismatch(await self.store.collection(self.collection), self.recipe.fingerprint)

    @property
    def _followed(self) -> list[Followed]:
        return [source for source in self.sources if isinstance(source, Followed)]

    def _cursor(self, source: Followed) -> str:
        return self.storing.cursors.get(source.name, "")

    def _count(self, source: Source) -> int:
        return source.count_since(self._cursor(source)) if isinstance(source, Followed) else source.count()

    async def _flow(self, items: AsyncGenerator[Listed, None]) -> None:
        send, receive = anyio.create_memory_object_stream[Finished](AHEAD)
        with plain_errors():
            # Readers may be sending when this ends early: the stream closes after they are gone.
            async with receive, anyio.create_task_group() as tasks:
                tasks.start_soon(self._read, items, send)
                await self._write(receive)

    async def _read(
        self, items: AsyncGenerator[Listed, None], send: MemoryObjectSendStream[Finished]
    ) -> None:
        """List and parse the items, several at once, and pass on what must be embedded."""
        slots = anyio.Semaphore(AHEAD)
        seen: set[str] = set()
        async with send, anyio.create_task_group() as tasks, aclosing(items):
            async for item in items:
                if isinstance(item, SourceItem) and is_text(item.source_id) and item.source_id not in seen:
                    seen.add(item.source_id)
                    await slots.acquire()
                    tasks.start_soon(self._prepare, item, send, slots)
                    continue
                if isinstance(item, SourceFailure):
                    self.hidden.append(item.hides)
                if isinstance(item, SourceMark):
                    await _all_free(slots)
                    # Behind a mark, a row that changed meanwhile is listed again.
                    seen = {one for one in seen if not self._is_followed(one)}
                await send.send(passed_on(item))

    async def _items(self) -> AsyncGenerator[Listed, None]:
        for source in self.sources:
            async for item in all_of(self._listed(source)):
                yield item

    def _listed(self, source: Source) -> AsyncIterator[Listed]:
        return source.changes(self._cursor(source)) if isinstance(source, Followed) else source.items()

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
            if reason == "empty" and self._followed_before(item.source_id):
                return SourceGone(item.source_id)
            outcome: Outcome = "skipped" if reason in NOTHING_IN_IT else "failed"
            return SourceFinished(item.source_id, outcome, 0, reason, str(error))
        except Exception as error:
            return SourceFinished(item.source_id, "failed", 0, "unexpected", repr(error))

    async def _prepared(self, item: SourceItem) -> Finished:
        entry = self.storing.ledger.get(item.source_id)
        try:
            acl = self.permission.acl(item, entry)
        except InputError as error:
            return await self._hidden(item.source_id, entry, error)
        if not acl:
            self.unreadable.add(item.source_id)
        if self.permission.is_default(item, entry):
            self.unsaid.add(item.source_id)
        return await self._permitted(replace(item, acl=acl), entry)

    async def _hidden(self, source_id: str, entry: Entry | None, error: InputError) -> SourceFinished:
        """Let nobody read what is stored of a source that says unintelligibly who may."""
        if entry is not None and entry.acl:
            self.storing.ledger[source_id] = replace(entry, acl=())
            await self.store.update(self.collection, [self.storing.ledger[source_id]])
        message = f"{error} Nobody may read it until that is mended."
        return SourceFinished(source_id, "failed", 0, UNREADABLE, message)

    async def _permitted(self, item: SourceItem, entry: Entry | None) -> Finished:
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
            batch = await self.storing.added(batch, finished)
        await self.storing.write(batch)

    async def _walk(self, source: Followed) -> None:
        """Compare what a source has with what is stored. A walk that breaks off removes nothing."""
        known = {name: entry for name, entry in self.storing.ledger.items() if source.covers(name, entry.url)}
        walk, noted = Walk(source=source, known=known), await self.store.failures(self.collection)
        read = settled(self.storing.ledger, noted, (one.source_id for one in self.storing.tried))
        try:
            await self._flow(walked(walk, self._cursor(source), read))
            await self._flow(all_of(source.unknown()))
        except SourceError as error:
            self.storing.note(SourceFinished(source.name, "failed", 0, error.code, str(error)))
            return
        self.unreadable |= walk.unreadable
        self.walks.append(walk)
        doubt = None if self.prune else walk.doubt()
        if doubt:
            self.storing.note(doubt)
        else:
            await self.storing.delete([name for name in walk.vanished if name in self.storing.ledger])
            await self.storing.write(Batch(marks={source.name: walk.mark}))

    def _is_over(self, source_id: str, now: SourceFinished | None) -> bool:
        """Tell whether the note of a failure is out of date."""
        if now is not None:
            return now.outcome not in FAILED
        if any(walk.lacks(source_id) for walk in self.walks):
            return True
        listing = [source for source in self.sources if not isinstance(source, Followed)]
        return (
            self.prune
            and not self._is_hidden(source_id)
            and any(source.covers(source_id, "file:") for source in listing)
        )

    def _vanished(self) -> list[str]:
        """Return what the sources that list everything do not list any more."""
        listed = {one.source_id for one in self.storing.tried}
        listing = [source for source in self.sources if not isinstance(source, Followed)]
        return [
            name
            for name, entry in self.storing.ledger.items()
            if name not in listed
            and not self._is_hidden(name)
            and any(source.covers(name, entry.url) for source in listing)
        ]

    def _is_hidden(self, source_id: str) -> bool:
        return any(hides and source_id.startswith(hides) for hides in self.hidden)

    def _is_followed(self, source_id: str) -> bool:
        return any(source.covers(source_id, None) for source in self._followed)

    def _followed_before(self, source_id: str) -> bool:
        """Tell whether something of a followed source is stored."""
        return source_id in self.storing.ledger and self._is_followed(source_id)

    async def _summary(self, began: float) -> Summary:
        """Count in the store, and refuse to report as done what it does not hold."""
        await self._refuse_another_space()
        last = self.storing.last
        stored = await self.store.entries(self.collection)
        refuse_lost(last, stored)
        unseen = unread(self.unreadable, self.storing.tried, stored)
        scope = Scope((self.collection,), upkeep=True)
        documents, chunks = await (await self.store.reader(scope)).count()
        return Summary(
            collection=self.collection,
            tried=tuple(self.storing.tried),
            documents=documents,
            chunks=chunks,
            embedded=self.writer.embedded,
            hidden=unseen.hidden,
            refused=unseen.refused,
            withheld=unseen.withheld,
            acl=self.permission.usual,
            unsaid=sum(last[name].outcome == "added" for name in self.unsaid & last.keys()),
            seconds=time.perf_counter() - began,
        )


async def _all_free(slots: anyio.Semaphore) -> None:
    """Wait until nothing is being prepared."""
    for _ in range(AHEAD):
        await slots.acquire()
    for _ in range(AHEAD):
        slots.release()
