"""`Desk`: hand it documents, ask it questions. Async; `refdesk.blocking` derives its blocking twin."""

import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from os import PathLike
from typing import Any

from refdesk.desk.asking import Collections
from refdesk.desk.questions import Questions
from refdesk.desk.services import Services
from refdesk.documents import Collection, DeleteReceipt, Document, DocumentRecord, Metadata
from refdesk.embedding import Embedder
from refdesk.errors import InputError
from refdesk.events import IngestEvent, Sink
from refdesk.filters import Equals, Filters, as_filter
from refdesk.ingest import Summary
from refdesk.pipeline import Step
from refdesk.reranking import Reranker
from refdesk.settings import Settings
from refdesk.sources import Source
from refdesk.sources.files import Files
from refdesk.sources.text import MediaType, Text
from refdesk.stores import Failure

Path = str | PathLike[str]


class Desk(Questions):
    """A library of documents and the calls on it. Make one with `aopen`."""

    def __init__(self, services: Services) -> None:
        self.services = services

    @property
    def root(self) -> str:
        """The folder that holds the library; ids of files are relative to it."""
        return os.path.dirname(os.path.abspath(self.settings.library))

    async def ingest(
        self,
        *sources: Path | Source,
        collection: str | None = None,
        glob: str | None = None,
        prune: bool = False,
        on_event: Callable[[IngestEvent], None] = lambda event: None,
    ) -> Summary:
        """Bring files, folders or other sources into a collection, which is created where it is missing.

        What is stored already costs nothing. `prune` removes documents whose file has vanished. A source that
        fails is listed in the summary and does not stop the others.
        """
        if not sources:
            raise InputError("Nothing to ingest was named.", remedy="Give a file, a folder or a source.")
        if wrong := [one for one in sources if not isinstance(one, str | PathLike | Source)]:
            raise InputError(
                f"Cannot ingest {wrong[0]!r:.100}; allowed are paths and sources.",
                remedy="Give several as separate arguments: ingest('a.md', 'docs/').",
            )
        name = collection or self.settings.collection
        paths = [one for one in sources if isinstance(one, str | PathLike)]
        given: list[Source] = [one for one in sources if not isinstance(one, str | PathLike)]
        joined = [*([self._files(*paths, glob=glob)] if paths else []), *given]
        return await self.services.ingest(joined, name, prune, on_event)

    async def ingest_text(
        self,
        text: str,
        *,
        source_id: str,
        title: str = "",
        url: str | None = None,
        media_type: MediaType = "text/plain",
        language: str = "",
        metadata: Metadata | None = None,
        collection: str | None = None,
    ) -> Summary:
        """Bring one text into a collection under an id of your own; the same id replaces it."""
        source = Text(
            text,
            source_id=source_id,
            title=title,
            url=url,
            media_type=media_type,
            language=language,
            metadata=metadata,
        )
        return await self.ingest(source, collection=collection)

    async def reembed(
        self, collection: str | None = None, *, on_event: Callable[[IngestEvent], None] = lambda event: None
    ) -> Summary:
        """Embed a collection anew from its stored documents, with the embedder and chunk size in force.

        Readers see the old chunks until all are made; documents keep their ids, and no source is read.
        An interrupted run goes on where it was. Errors: `NotFound`, `StoreError`.
        """
        return await self.services.reembed(collection or self.settings.collection, on_event)

    async def documents(
        self,
        *,
        collections: Collections = None,
        filters: Filters = None,
        offset: int = 0,
        limit: int | None = None,
    ) -> tuple[DocumentRecord, ...]:
        """List documents by collection and source id, without their texts."""
        reader = await self.services.reader(self._scope(collections))
        return await reader.documents(filter=as_filter(filters), offset=offset, limit=limit)

    async def document(self, name: str, *, collections: Collections = None) -> Document:
        """Return one document with its text, by document id or source id. Errors: `NotFound`."""
        reader = await self.services.reader(self._scope(collections))
        return await reader.document(await self._document_id(name, collections))

    async def delete(self, *names: str, collection: str | None = None) -> DeleteReceipt:
        """Delete documents by document id or source id.

        Errors: `NotFound` where one is unknown; then none is deleted.
        """
        where = collection or self.settings.collection
        by_id = {one.document_id: one.source_id for one in await self.documents(collections=where)}
        store = await self.services.writable_store(make=False)
        return await store.delete(where, [by_id.get(name, name) for name in names])

    async def collections(self) -> tuple[Collection, ...]:
        """List all collections."""
        return await (await self.services.store()).collections()

    async def collection(self, name: str) -> Collection:
        """Describe one collection. Errors: `NotFound`."""
        return await (await self.services.store()).collection(name)

    async def create_collection(self, name: str, *, description: str = "") -> Collection:
        """Create a collection, or change the description of an existing one."""
        return await (await self.services.writable_store()).create(name, description=description)

    async def delete_collection(self, name: str) -> DeleteReceipt:
        """Delete a collection with all that it holds."""
        return await (await self.services.writable_store(make=False)).drop(name)

    async def failures(self, collection: str | None = None) -> Mapping[str, Failure]:
        """Return the sources that failed when they were last ingested, with reasons."""
        return await (await self.services.store()).failures(collection or self.settings.collection)

    async def aclose(self) -> None:
        await self.services.aclose()

    def _files(self, *paths: Path, glob: str | None = None) -> Files:
        """Return paths as a source; their ids are relative to the folder that holds the library."""
        return Files(paths, glob=glob, root=self.root)

    async def _document_id(self, name: str, collections: Collections) -> str:
        found = await self.documents(collections=collections, filters=Equals("source_id", name), limit=1)
        return found[0].document_id if found else name


@asynccontextmanager
async def aopen(
    library: Path | None = None,
    *,
    embedder: str | Embedder | None = None,
    reranker: str | Reranker | None = None,
    steps: Sequence[type[Step]] = (),
    workers: Mapping[str, Any] | None = None,
    listeners: Sequence[Sink] = (),
    **options: Any,
) -> AsyncIterator[Desk]:
    """Open a library folder for async code. Options are the fields of `Settings`; parts may be objects.

    `steps` and `workers` are steps and implementations of your own that pipeline files may name; `listeners`
    are called with every event of every run.
    The folder is made at the first write; models are loaded when they are first needed.
    """
    given = {"embedder": embedder, "reranker": reranker, "library": library}
    objects: dict[str, object] = {}
    for name, value in given.items():
        if value is None or isinstance(value, str):
            options[name] = value
        elif isinstance(value, PathLike):
            options[name] = os.fspath(value)
        else:
            objects[name] = value
    settings = Settings.load(options)
    services = Services(
        settings=settings,
        built=objects,
        listeners=tuple(listeners),
        steps=tuple(steps),
        workers=workers or {},
    )
    try:
        yield Desk(services)
    finally:
        await services.aclose()
