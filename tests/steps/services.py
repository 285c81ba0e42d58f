"""The services of a run on a real library, filled as a test wants it, and steps that run on them."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from refdesk.analysis import analyse
from refdesk.context import Context
from refdesk.desk.calls import CallServices
from refdesk.desk.services import Services
from refdesk.documents import PUBLIC, Chunk, Document, Metadata, chunk_id, document_id
from refdesk.pipeline import LLMValue, Pipeline, Run, Step
from refdesk.settings import Settings
from refdesk.stores import Store, StoredDocument
from refdesk.stores.lance import open_lance
from refdesk.testing import HashingEmbedder

Span = tuple[int, int]


def document(
    text: str,
    spans: Sequence[Span] | None = None,
    *,
    source_id: str = "doc",
    collection: str = "default",
    metadata: Metadata | None = None,
) -> tuple[Document, tuple[Chunk, ...]]:
    """Return a document and its chunks, which are its lines, or the given spans; those may overlap."""
    made = Document(
        collection=collection,
        source_id=source_id,
        title=source_id,
        text=text,
        language="en",
        metadata=metadata or {},
        acl=(PUBLIC,),
    )
    places = _lines(text) if spans is None else spans
    return made, tuple(
        Chunk(
            chunk_id=chunk_id(made.document_id, position, text[start:end]),
            document_id=made.document_id,
            collection=collection,
            position=position,
            start=start,
            end=end,
            text=text[start:end],
        )
        for position, (start, end) in enumerate(places)
    )


def _lines(text: str) -> list[Span]:
    spans, at = [], 0
    for line in text.split("\n"):
        if line.strip():
            spans.append((at, at + len(line)))
        at += len(line) + 1
    return spans


async def fill(store: Store, *documents: tuple[Document, tuple[Chunk, ...]]) -> None:
    """Write documents with exactly these chunks."""
    embedder = HashingEmbedder()
    for collection in dict.fromkeys(one.collection for one, _ in documents):
        await store.create(collection)
        stored = [
            StoredDocument(
                document=one,
                chunks=chunks,
                tokens=tuple(" ".join(analyse(chunk.text, "en")) for chunk in chunks),
                vectors=await embedder.embed_documents([chunk.text for chunk in chunks]),
            )
            for one, chunks in documents
            if one.collection == collection
        ]
        space = embedder.fingerprint
        await store.write(collection, stored, fingerprint=str(space), dimension=space.dimension)


@asynccontextmanager
async def services_on(
    folder: Path,
    *documents: tuple[Document, tuple[Chunk, ...]],
    llm: LLMValue = None,
    settings: Mapping[str, Any] | None = None,
) -> AsyncIterator[CallServices]:
    """Make a library of documents in a folder, and give the services of one run on it."""
    store = await open_lance(folder)
    try:
        await fill(store, *documents)
    finally:
        await store.aclose()
    chosen = Settings(library=str(folder), **(settings or {}))
    desk = Services(settings=chosen, built={"embedder": HashingEmbedder()})
    try:
        yield CallServices(desk=desk, settings=chosen, given=llm)
    finally:
        await desk.aclose()


async def ran(services: CallServices, steps: Step | Pipeline, context: Context) -> Context:
    """Return what steps make of a context, as the runner sees it: policies, checks and traces included."""
    run = Run(services=services)
    return await run.steps((steps,) if isinstance(steps, Step) else steps.steps, context)


def id_of(source_id: str, collection: str = "default") -> str:
    """Return the id of a document that was made here."""
    return document_id(collection, source_id)
