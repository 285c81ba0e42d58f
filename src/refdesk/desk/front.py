"""`Desk`: hand it documents, ask it questions. Async; `refdesk.blocking` derives its blocking twin."""

import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from os import PathLike
from typing import Any

from refdesk import places
from refdesk.conversations import Conversations
from refdesk.desk.asking import Collections, scope_of
from refdesk.desk.conversing import ConversationVerbs
from refdesk.desk.deleting import emptied, everywhere, wiped
from refdesk.desk.given import function, not_blank, path, text, texts, whole
from refdesk.desk.ingesting import IngestOptions
from refdesk.desk.questions import Questions
from refdesk.desk.seeing import asking, refuse_upkeep_for, seen
from refdesk.desk.services import Services
from refdesk.documents import Collection, DeleteReceipt, Document, DocumentRecord, Metadata
from refdesk.embedding import Embedder
from refdesk.errors import InputError
from refdesk.events import IngestEvent, Sink
from refdesk.filters import Equals, Filters, as_filter
from refdesk.ingest import Summary
from refdesk.pipeline import Step
from refdesk.principals import Principals, as_acl
from refdesk.reranking import Reranker
from refdesk.settings import Settings
from refdesk.sources import Source
from refdesk.sources.files import Files
from refdesk.sources.text import MediaType, Text
from refdesk.stores import Failure, VectorSet

Path = str | PathLike[str]


class Desk(Questions):
    """A library of documents and the calls on it. Make one with `aopen`."""

    def __init__(self, services: Services) -> None:
        self.services = services

    @property
    def conversations(self) -> ConversationVerbs:
        """The calls on conversations: list, show, delete, purge, count."""
        return ConversationVerbs(lambda: self.services.conversations)

    @property
    def root(self) -> str:
        """The folder that ids of files are relative to: the library's parent, or the current one."""
        return places.root(self.settings.library)

    async def ingest(
        self,
        *sources: Path | Source,
        collection: str | None = None,
        glob: str | None = None,
        prune: bool = False,
        acl: Principals = None,
        full: bool = False,
        dry_run: bool = False,
        on_event: Callable[[IngestEvent], None] = lambda event: None,
    ) -> Summary:
        """Bring files, folders or other sources into a collection, which is created where it is missing.

        `acl` names the users and groups that may read what its source says nothing about, also where that is
        stored already. Without it, documents keep theirs, and new ones get that of the setting `acl`.
        What is stored already costs nothing. `prune` removes documents whose file has vanished, and lets a
        followed source lose more than it may by itself; `full` reads followed sources from their beginning.
        A dry run reads and counts, and writes nothing. A source that fails is listed in the summary and does
        not stop the others.
        """
        if not sources:
            raise InputError("Nothing to ingest was named.", remedy="Give a file, a folder or a source.")
        if wrong := [one for one in sources if not isinstance(one, str | PathLike | Source)]:
            raise InputError(
                f"Cannot ingest {wrong[0]!r:.100}; allowed are paths and sources.",
                remedy="Give several as separate arguments: ingest('a.md', 'docs/').",
            )
        name = self._collection(collection)
        paths = [one for one in sources if isinstance(one, str | PathLike)]
        given: list[Source] = [one for one in sources if not isinstance(one, str | PathLike)]
        joined = [*([self._files(*paths, glob=glob)] if paths else []), *given]
        said = None if acl is None else as_acl(acl, "The ACL of what is ingested")
        listener = function(on_event, "`on_event`")
        run = IngestOptions(prune=prune, full=full, dry_run=dry_run, acl=said, on_event=listener)
        return await self.services.ingest(joined, name, run)

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
        acl: Principals = None,
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
            acl=acl,
        )
        return await self.ingest(source, collection=collection)

    async def reembed(
        self, collection: str | None = None, *, on_event: Callable[[IngestEvent], None] = lambda event: None
    ) -> Summary:
        """Embed a collection anew from its stored documents, with the embedder and chunk size in force.

        Readers see the old chunks until all are made; documents keep their ids, and no source is read.
        An interrupted run goes on where it was. Errors: `NotFound`, `StoreError`.
        """
        name = self._collection(collection)
        return await self.services.reembed(name, function(on_event, "`on_event`"))

    async def documents(
        self,
        *,
        collections: Collections = None,
        principals: Principals = None,
        filters: Filters = None,
        offset: int = 0,
        limit: int | None = None,
        upkeep: bool = False,
    ) -> tuple[DocumentRecord, ...]:
        """List documents by collection and source id, without their texts.

        `upkeep` lists all, whoever may read them: for those who look after a library, not for who asks it.
        """
        refuse_upkeep_for(principals, upkeep=upkeep)
        scope = replace(scope_of(self.settings, collections, principals), upkeep=upkeep)
        first, most = whole(offset, "`offset`"), None if limit is None else whole(limit, "`limit`")
        reader = await self.services.reader(scope)
        return await reader.documents(filter=as_filter(filters), offset=first, limit=most)

    async def document(
        self, name: str, *, collections: Collections = None, principals: Principals = None
    ) -> Document:
        """Return one document with its text, by document id or source id.

        Errors: `NotFound`, also where those who ask may not read it.
        """
        named = Equals("source_id", text(name, "The document"))
        reader = await self.services.reader(scope_of(self.settings, collections, principals))
        found = await reader.documents(filter=named, limit=1)
        return await reader.document(found[0].document_id if found else name)

    async def delete(
        self, *names: str, collection: str | None = None, answers: bool = False, wipe: bool = False
    ) -> DeleteReceipt:
        """Delete documents by document id or source id, and what conversations keep to search them again.

        `answers` also deletes the answers in conversations that cite them. Nobody reads them any more when
        this returns; `wipe` makes sure that nothing of them is left in files of the past, see `wipe`.
        Errors: `NotFound` where one is unknown; then none is deleted.
        """
        where, names = self._collection(collection), texts(names, "The documents")
        known = await self.documents(collections=where, upkeep=True)
        by_id = {one.document_id: one.source_id for one in known}
        store = await self.services.writable_store(make=False)
        work = store.delete(where, [by_id.get(name, name) for name in names])
        return await everywhere(work, store, self.services.conversations, answers=answers, wipe=wipe)

    async def collections(
        self, *, principals: Principals = None, upkeep: bool = False
    ) -> tuple[Collection, ...]:
        """List all collections, with counts of what those who ask may read; with `upkeep`, of all."""
        refuse_upkeep_for(principals, upkeep=upkeep)
        known = await (await self.services.store()).collections()
        return known if upkeep else await seen(self.services, known, asking(self.settings, principals))

    async def collection(
        self, name: str, *, principals: Principals = None, upkeep: bool = False
    ) -> Collection:
        """Describe one collection, counted as `collections` does. Errors: `NotFound`."""
        refuse_upkeep_for(principals, upkeep=upkeep)
        known = await (await self.services.store()).collection(self._collection(name))
        if upkeep:
            return known
        found = await seen(self.services, [known], asking(self.settings, principals))
        return found[0] if found else await (await self.services.store()).collection(name)

    async def create_collection(self, name: str, *, description: str = "") -> Collection:
        """Create a collection, or change the description of an existing one."""
        name, said = self._collection(name), text(description, "The description")
        return await (await self.services.writable_store()).create(name, description=said)

    async def delete_collection(
        self, name: str, *, answers: bool = False, wipe: bool = False
    ) -> DeleteReceipt:
        """Delete a collection with all that it holds; options as of `delete`. Errors: `NotFound`."""
        name, store = self._collection(name), await self.services.writable_store(make=False)
        kept = self.services.conversations
        return await everywhere(store.drop(name), store, kept, answers=answers, wipe=wipe)

    async def purge_collection(
        self, name: str, *, answers: bool = False, wipe: bool = False
    ) -> DeleteReceipt:
        """Delete all that a collection holds and keep its name and description. Errors: `NotFound`."""
        name, store = self._collection(name), await self.services.writable_store(make=False)
        kept = self.services.conversations
        return await everywhere(emptied(store, name), store, kept, answers=answers, wipe=wipe)

    async def wipe(self) -> None:
        """Remove what was deleted or replaced from the files that readers of the past may still use.

        Runs and readers that are open fail then, and have to begin again. Errors: `NotFound`.
        """
        await wiped(await self.services.writable_store(make=False))

    async def failures(self, collection: str | None = None) -> Mapping[str, Failure]:
        """Return the sources that failed when they were last ingested, with reasons."""
        return await (await self.services.store()).failures(self._collection(collection))

    async def vector_sets(self, collection: str | None = None) -> tuple[VectorSet, ...]:
        """Count the vectors of a collection by space and strategy, whoever may read them.

        One that is being embedded anew has two sets, and the second says how many documents it lacks.
        """
        return await (await self.services.store()).vector_sets(self._collection(collection))

    async def aclose(self) -> None:
        await self.services.aclose()

    def _collection(self, given: str | None) -> str:
        """Return the collection that a call names, the settings' one for None. Errors: `InputError`."""
        return self.settings.collection if given is None else not_blank(given, "The collection")

    def _files(self, *paths: Path, glob: str | None = None) -> Files:
        """Return paths as a source; their ids are relative to `root`."""
        return Files(paths, glob=glob, root=self.root)


@asynccontextmanager
async def aopen(
    library: Path | None = None,
    *,
    embedder: str | Embedder | None = None,
    reranker: str | Reranker | None = None,
    conversations: str | Conversations | None = None,
    steps: Sequence[type[Step]] = (),
    workers: Mapping[str, Any] | None = None,
    listeners: Sequence[Sink] = (),
    **options: Any,
) -> AsyncIterator[Desk]:
    """Open a library, a folder or a URL postgresql://..., for async code.

    Options are the fields of `Settings`; parts may be objects. `steps` and `workers` are steps and
    implementations of your own that pipeline files may name; `listeners` are called with every event of
    every run.
    A missing library is made at the first write; models are loaded when they are first needed.
    """
    given = {
        "embedder": embedder,
        "reranker": reranker,
        "conversations": conversations,
    }
    options["library"] = None if library is None else path(library, "The library")
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
        listeners=tuple(function(one, "A listener") for one in listeners),
        steps=tuple(steps),
        workers=workers or {},
    )
    try:
        yield Desk(services)
    finally:
        await services.aclose()
