from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path

import pytest

from refdesk.analysis import analyse
from refdesk.documents import PUBLIC, Chunk, Document, Scope, chunk_id, document_id
from refdesk.stores import Reader, StoredDocument
from refdesk.stores.lance import open_lance
from refdesk.testing import HashingEmbedder

OpenReader = Callable[[Mapping[str, str]], Awaitable[Reader]]


@pytest.fixture
def embedder() -> HashingEmbedder:
    return HashingEmbedder()


async def stored(embedder: HashingEmbedder, source_id: str, text: str) -> StoredDocument:
    """Return a document whose chunks are its lines."""
    document = document_id("default", source_id)
    lines = [line for line in text.split("\n") if line]
    starts = [text.index(line) for line in lines]
    chunks = tuple(
        Chunk(
            chunk_id=chunk_id(document, position, line),
            document_id=document,
            collection="default",
            position=position,
            start=start,
            end=start + len(line),
            text=line,
        )
        for position, (start, line) in enumerate(zip(starts, lines, strict=True))
    )
    return StoredDocument(
        document=Document(
            collection="default",
            source_id=source_id,
            title=source_id,
            text=text,
            language="en",
            acl=(PUBLIC,),
        ),
        chunks=chunks,
        tokens=tuple(" ".join(analyse(line, "en")) for line in lines),
        vectors=await embedder.embed_documents(lines),
    )


@pytest.fixture
async def open_reader(tmp_path: Path, embedder: HashingEmbedder) -> AsyncIterator[OpenReader]:
    """Store texts by source id and return a reader of them."""
    store = await open_lance(tmp_path / "library")

    async def reader_of(texts: Mapping[str, str]) -> Reader:
        await store.create("default")
        documents = [await stored(embedder, name, text) for name, text in texts.items()]
        space = embedder.fingerprint
        await store.write("default", documents, fingerprint=str(space), dimension=space.dimension)
        return await store.reader(Scope())

    yield reader_of
    await store.aclose()
