"""A library in Postgres, and documents that are in it for a while."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import numpy as np
from numpy.typing import NDArray

from refdesk.documents import Chunk, Document, Metadata, chunk_id, document_id
from refdesk.stores import StoredDocument
from refdesk.stores.postgres import catalogue, migrations, records
from refdesk.stores.postgres.address import read_address
from refdesk.stores.postgres.connecting import Connection, Database, connected
from refdesk.stores.postgres.writing import write


@asynccontextmanager
async def database(url: str) -> AsyncIterator[Database]:
    """Make a library in a database and open it."""
    address = read_address(url)
    async with connected(address) as connection:
        await migrations.migrate(connection, address)
        extension = await migrations.check(connection, address)
    opened = Database(address, extension, connections=4, wait=5)
    try:
        yield opened
    finally:
        await opened.aclose()


@asynccontextmanager
async def written(library: Database, documents: Sequence[Document]) -> AsyncIterator[Connection]:
    """Write documents without chunks into the collection `c`, and undo it at the end."""
    stored = [
        StoredDocument(document=each, chunks=(), tokens=(), vectors=np.zeros((0, 1), np.float32))
        for each in documents
    ]
    async with library.writing("c") as connection:
        await catalogue.create(connection, "c", "")
        place = await catalogue.place(connection, "c")
        keys = await records.identify(connection, place, [each.source_id for each in documents])
        await records.add(connection, place, stored, keys, 1)
        await catalogue.publish(connection, place.key, 1)
        yield connection
        await connection.rollback()


def unit_vectors(count: int, dimension: int, *, seed: int = 0) -> NDArray[np.float32]:
    """Draw unit vectors; the same seed gives the same ones."""
    drawn = np.random.default_rng(seed).standard_normal((count, dimension))
    lengths = np.linalg.norm(drawn, axis=1, keepdims=True)
    return np.asarray(drawn / lengths, np.float32)


def made(
    source_id: str,
    vectors: NDArray[np.float32],
    *,
    acl: tuple[str, ...],
    metadata: Metadata | None = None,
    collection: str = "default",
) -> StoredDocument:
    """Return a document with a chunk for each vector."""
    key, texts = document_id(collection, source_id), [f"part {number}" for number in range(len(vectors))]
    starts = [sum(len(text) + 1 for text in texts[:number]) for number in range(len(texts))]
    chunks = tuple(
        Chunk(
            chunk_id=chunk_id(key, number, text),
            document_id=key,
            collection=collection,
            position=number,
            start=start,
            end=start + len(text),
            text=text,
        )
        for number, (text, start) in enumerate(zip(texts, starts, strict=True))
    )
    document = Document(
        collection=collection,
        source_id=source_id,
        title=source_id,
        text="\n".join(texts),
        metadata=metadata or {},
        acl=acl,
    )
    return StoredDocument(document=document, chunks=chunks, tokens=tuple(texts), vectors=vectors)


async def indexed_anyway(library: Database, documents: Sequence[StoredDocument], dimension: int) -> None:
    """Write documents, and make the index of vectors however few they are."""
    async with library.writing("default") as connection:
        await catalogue.create(connection, "default", "")
    await write(library, "default", documents, fingerprint="f", dimension=dimension)
    async with library.writing("default") as connection:
        place = await catalogue.place(connection, "default")
        await connection.execute("SELECT tend_chunks(%s, %s, true)", (place.chunk_set, dimension))
