"""Settings to the services of a desk, each built when it is first needed."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import anyio
import anyio.to_thread

from refdesk.answering import Answerer
from refdesk.answering.extractive import ExtractiveAnswerer
from refdesk.calibration import FILE as CALIBRATION_FILE
from refdesk.chunking import Chunker
from refdesk.conversations import Conversations
from refdesk.desk.building import Building
from refdesk.desk.ingesting import IngestOptions
from refdesk.desk.keeping import conversations_of
from refdesk.documents import Scope
from refdesk.embedding import Embedder, TokenEmbedder
from refdesk.embedding.names import open_embedder
from refdesk.errors import NotFound, SettingsError
from refdesk.events import IngestEvent, Sink
from refdesk.grounding import Grounder
from refdesk.grounding.calibration import levelled, read_levels
from refdesk.grounding.named import LOCAL, grounder_for, part_of
from refdesk.ingest import Ingestion, Recipe, Reembedding, Summary
from refdesk.ingest.permitting import Permission
from refdesk.ingest.probing import check_model
from refdesk.ingest.rehearsal import Rehearsal
from refdesk.ingest.target import BatchWriter, Target
from refdesk.ingest.writing import Writer
from refdesk.llm import LLM
from refdesk.parsing import ParseLimits
from refdesk.parsing.pool import ParserPool
from refdesk.pipeline import Step
from refdesk.places import files_beside
from refdesk.reranking import Reranker
from refdesk.reranking.calibration import read_calibration, thresholds_of
from refdesk.reranking.names import reranker_for
from refdesk.reranking.thresholds import Thresholds
from refdesk.settings import Settings
from refdesk.sources import Source
from refdesk.stores import Reader, Store
from refdesk.stores.opening import open_store
from refdesk.stores.refusals import mismatch

T = TypeVar("T")


@dataclass(kw_only=True)
class Services:
    """The parts of one desk. Errors come when a part is first needed, not when the desk is opened."""

    settings: Settings
    built: dict[str, object] = field(default_factory=dict)
    """Parts by name; what is in it from the start is used instead of what the settings name."""
    listeners: tuple[Sink, ...] = ()
    """Are told every event of every run."""
    steps: tuple[type[Step], ...] = ()
    """Steps of the user's own that pipeline files may name."""
    workers: Mapping[str, Any] = field(default_factory=dict)
    """Implementations of the user's own that pipeline files may name."""
    same_model: set[str] = field(default_factory=set)
    """Collections that were embedded with the model that the embedder's server has."""
    building: Building = field(init=False)

    def __post_init__(self) -> None:
        self.building = Building(self.built)

    @property
    def conversations(self) -> Conversations:
        """Where conversations are kept; nothing is opened before they are used."""
        if "conversations" not in self.built:
            self.built["conversations"] = conversations_of(self.settings, self.store, self.writable_store)
        return self.built["conversations"]  # type: ignore[return-value]

    async def store(self) -> Store:
        """Return the store for reading. Errors: `NotFound` where the library does not exist yet."""
        return await self._once("reading", lambda: open_store(self.settings.library, read_only=True))

    async def reader(self, scope: Scope) -> Reader:
        """Open what is published now for a scope. Errors: `NotFound`."""
        return await (await self.store()).reader(scope)

    async def searchable(self, scope: Scope) -> tuple[Reader, Embedder]:
        """Return a reader and the embedder. Errors: `EmbeddingMismatch` for a collection of another space."""
        await self.check_space(scope.collections)
        return await self.reader(scope), await self.embedder()

    async def check_space(self, collections: Sequence[str]) -> None:
        """Refuse collections of another embedding space. Errors: `EmbeddingMismatch`, `NotFound`."""
        store, embedder = await self.store(), await self.embedder()
        for name in collections:
            mismatch(await store.collection(name), str(embedder.fingerprint))
        await self.check_model(collections)

    async def check_model(self, collections: Sequence[str]) -> None:
        """Refuse a server with another model than collections were embedded with, looked at once for each.

        Errors: `EmbeddingMismatch`, and those of the embedder.
        """
        embedder = await self.embedder()
        for name in collections if embedder.fingerprint.remote else ():
            if name not in self.same_model:
                reader = await self.reader(Scope((name,), upkeep=True))
                await check_model(reader, embedder, self._recipe(embedder), name)
                self.same_model.add(name)

    async def writable_store(self, *, make: bool = True) -> Store:
        """Return the store for writing; a missing library is made, or with `make=False` is `NotFound`."""
        if not make:
            await self.store()
        return await self._once("writing", lambda: open_store(self.settings.library))

    async def embedder(self) -> Embedder:
        """Return the embedder. Errors: `ModelError` with the command that fetches it."""

        async def build() -> Embedder:
            settings = self.settings
            return await open_embedder(settings.embedder, cache=self._cache, precision=settings.precision)

        return await self._once("embedder", build)

    @property
    def _cache(self) -> Path | None:
        return Path(self.settings.cache) if self.settings.cache else None

    async def reranker(self, reader: Reader, named: str = "") -> Reranker | None:
        """Return the named reranker, else the settings' one, None for `none`.

        `maxsim` reads through the reader, so each reader gets its own.
        """
        if not named and "reranker" in self.built:
            return self.built["reranker"]  # type: ignore[return-value]
        name, cache = named or self.settings.reranker, self._cache
        embedder = await self.embedder() if name in ("auto", "maxsim") else None
        if name == "auto":
            name = "maxsim" if isinstance(embedder, TokenEmbedder) else "none"

        def make() -> Reranker | None:
            return reranker_for(name, embedder=embedder, reader=reader, cache=cache)

        async def load() -> Reranker | None:
            return await anyio.to_thread.run_sync(make)

        return make() if name == "maxsim" else await self._once(f"reranker {name}", load)

    async def thresholds(self, reranker: str) -> Thresholds | None:
        """Return what was measured for a reranker: the calibration file's, else what is shipped, else None.

        The file is read each time, so that a running desk takes up a new one. Errors: `SettingsError`.
        """
        return thresholds_of(reranker, await self._measured(read_calibration))

    async def _measured(self, read: Callable[[Path], Mapping[str, T]]) -> Mapping[str, T]:
        path = self.calibration_file
        if not self.settings.calibration and not path.exists():
            return {}
        return await anyio.to_thread.run_sync(read, path)

    @property
    def calibration_file(self) -> Path:
        """The file that holds the limits of this desk's rerankers and grounders; it need not exist."""
        return Path(self.settings.calibration or files_beside(self.settings.library) / CALIBRATION_FILE)

    async def grounder(self, name: str, llm: LLM | None = None) -> Grounder:
        """Return the named grounder, with the levels that the calibration file has for it; it is loaded once.

        The file is read each time. Errors: `InputError`, `ModelError`, `SettingsError`.
        """
        cache, embedder = self._cache, await self.embedder() if name == LOCAL else None

        async def load() -> Grounder:
            return await anyio.to_thread.run_sync(lambda: grounder_for(name, embedder=embedder, cache=cache))

        part = part_of(name)
        found = await self._once(f"grounder {part}", load) if part else grounder_for(name, llm=llm)
        return levelled(found, await self._measured(read_levels))

    async def extractive(self) -> Answerer:
        """Return the answerer that needs no language model."""
        embedder = await self.embedder()

        async def build() -> ExtractiveAnswerer:
            return ExtractiveAnswerer(embedder)

        return await self._once("extractive", build)

    async def ingest(self, sources: Sequence[Source], collection: str, options: IngestOptions) -> Summary:
        """Run one ingestion with parts made from the settings."""
        embedder = await self.embedder()
        store, writer = await self._targets(collection, embedder, options)
        ingestion = Ingestion(
            sources=sources,
            collection=collection,
            store=store,
            writer=writer,
            recipe=self._recipe(embedder),
            parsers=await self._parsers(),
            permission=Permission(said=options.acl, default=self.settings.acl),
            prune=options.prune,
            full=options.full,
            password=self.settings.password,
            on_event=options.on_event,
        )
        return await ingestion.run()

    async def _targets(
        self, collection: str, embedder: Embedder, options: IngestOptions
    ) -> tuple[Target, BatchWriter]:
        """Return what an ingestion reads its ledger from, and what takes its batches."""
        if options.dry_run:
            rehearsal = Rehearsal(
                await self._store_or_none(),
                fingerprint=str(embedder.fingerprint),
                late=self._token_vectors(embedder),
            )
            return rehearsal, rehearsal
        store = await self.writable_store()
        await store.create(collection)
        await self.check_model((collection,))
        return store, self._writer(store, embedder)

    async def _store_or_none(self) -> Store | None:
        try:
            return await self.store()
        except NotFound:
            return None

    async def reembed(self, collection: str, on_event: Callable[[IngestEvent], None]) -> Summary:
        """Embed a collection anew with parts made from the settings. Errors: `NotFound`."""
        store, embedder = await self.writable_store(make=False), await self.embedder()
        reembedding = Reembedding(
            collection=collection,
            store=store,
            writer=self._writer(store, embedder),
            recipe=self._recipe(embedder),
            on_event=on_event,
        )
        return await reembedding.run()

    async def made_otherwise(self, collection: str) -> tuple[int, int]:
        """Count documents that today's settings would cut or embed otherwise, and all."""
        recipe, store = self._recipe(await self.embedder()), await self.store()
        entries = (await store.entries(collection)).values()
        return sum(not recipe.made(one.digest) for one in entries), len(entries)

    def _writer(self, store: Store, embedder: Embedder) -> Writer:
        return Writer(store=store, embedder=embedder, token_vectors=self._token_vectors(embedder))

    def _recipe(self, embedder: Embedder) -> Recipe:
        return Recipe(
            chunker=self._chunker(embedder),
            fingerprint=str(embedder.fingerprint),
            token_vectors=self._token_vectors(embedder),
        )

    def _chunker(self, embedder: Embedder) -> Chunker:
        return Chunker(embedder.count_tokens, embedder.max_tokens, self.settings.chunk_tokens or None)

    def _token_vectors(self, embedder: Embedder) -> bool:
        if self.settings.token_vectors and not isinstance(embedder, TokenEmbedder):
            raise SettingsError(
                f"Setting 'token_vectors' is on, and {self.settings.embedder!r} gives no token vectors.",
                remedy="Turn the setting off, or use a local embedder.",
            )
        return self.settings.token_vectors

    async def _parsers(self) -> ParserPool:
        limits = ParseLimits(
            seconds=self.settings.parse_seconds, memory=self.settings.parse_megabytes * 1024 * 1024
        )

        async def build() -> ParserPool:
            return ParserPool(limits=limits)

        return await self._once("parsers", build)

    async def _once(self, name: str, build: Callable[[], Awaitable[T]]) -> T:
        return await self.building.once(name, build)

    async def aclose(self) -> None:
        """Close what was built."""
        while self.built:
            _, one = self.built.popitem()
            if close := getattr(one, "aclose", None):
                await close()
