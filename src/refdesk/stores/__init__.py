"""Keep and find chunks.

`Store` is the contract, `refdesk.testing.stores` its conformance suite. Implementations:

- `lance` (default): a folder with LanceDB tables for chunks and SQLite as control plane
- `postgres`: a database with pgvector, which several machines may share

`opening.open_store` opens either.

Every read goes through a `Reader`, and a reader exists only for a `Scope`: there is no read without one.
A reader sees one published state, in all of its searches, however much is written meanwhile.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from refdesk.documents import (
    Chunk,
    Collection,
    DeleteReceipt,
    Document,
    DocumentRecord,
    Hit,
    Metadata,
    Scope,
)
from refdesk.filters import Filter


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredDocument:
    """A document with all that the store keeps of it."""

    document: Document
    chunks: tuple[Chunk, ...]
    tokens: tuple[str, ...]
    """Per chunk, the keyword tokens joined by single spaces."""
    vectors: NDArray[np.float32]
    """Shape (chunks, dimension)."""
    token_vectors: tuple[NDArray[np.int8], ...] = ()
    """Per chunk, shape (tokens, dimension), quantised by `refdesk.embedding.tokens`; empty where not kept."""
    strategy: str = ""
    """Name and version of the strategy that says what is embedded of a chunk, such as `titled:1`."""
    digests: tuple[bytes, ...] = ()
    """Per chunk, `DIGEST_BYTES` that tell the text that was embedded; empty where not kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """What an embedder made of a text."""

    vector: NDArray[np.float32]
    token_vectors: NDArray[np.int8] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorSet:
    """The vectors of a collection in one space, counted in the store."""

    fingerprint: str
    current: bool
    """Whether it is searched; else it is a remake that has not been switched to."""
    strategies: Mapping[str, int]
    """Vectors by the strategy that they were made by; an empty name where that was not noted."""
    missing: int = 0
    """Documents of which it has no vectors yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What the ledger says of a source that is stored."""

    source_id: str
    digest: str
    chunks: int
    metadata: Metadata = field(default_factory=dict)
    title: str = ""
    url: str | None = None
    acl: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What the ledger says of a source that failed when it was last tried."""

    source_id: str
    reason: str
    message: str


DIGEST_BYTES = 16


class Reader(Protocol):
    """Read one published state within a scope. Errors: `StoreError`; a failure is never an empty list."""

    @property
    def languages(self) -> tuple[str, ...]:
        """Languages of the documents in scope, most frequent first; queries are analysed for these."""
        ...

    async def vector_search(
        self, vector: NDArray[np.float32], *, top_k: int, filter: Filter | None = None
    ) -> tuple[Hit, ...]:
        """Return the `top_k` nearest chunks that match, with `vector_score` (cosine) and `rank`.

        `top_k` hits come back whenever that many chunks match, however selective the filter.
        """
        ...

    async def keyword_search(
        self, tokens: Sequence[str], *, top_k: int, filter: Filter | None = None
    ) -> tuple[Hit, ...]:
        """Return chunks by BM25 (lucene variant, k1 1.2, b 0.75), with `keyword_score` above 0 and `rank`."""
        ...

    async def neighbours(self, chunk: Chunk, *, before: int = 1, after: int = 1) -> tuple[Chunk, ...]:
        """Return the chunks around one, in order, the chunk itself included."""
        ...

    async def token_vectors(self, chunk_ids: Sequence[str]) -> Mapping[str, NDArray[np.int8]]:
        """Return the stored token vectors; ids whose document was ingested without them are missing."""
        ...

    async def vectors(self, chunk_ids: Sequence[str]) -> Mapping[str, NDArray[np.float32]]:
        """Return the stored vectors of chunks in scope."""
        ...

    async def document(self, document_id: str) -> Document:
        """Return a document with its text. Errors: `NotFound`, also where it is outside the scope."""
        ...

    async def chunks(self, document_id: str) -> tuple[Chunk, ...]:
        """Return the chunks of a document in order. Errors: `NotFound`."""
        ...

    async def documents(
        self, *, filter: Filter | None = None, offset: int = 0, limit: int | None = None
    ) -> tuple[DocumentRecord, ...]:
        """Return what is known of the documents, ordered by collection and source id."""
        ...

    async def count(self, filter: Filter | None = None) -> tuple[int, int]:
        """Count the matching documents and their chunks, in the store itself."""
        ...


class Remake(Protocol):
    """The chunks of a collection made anew, beside those that are read until `switch`.

    What is written stays when the process ends. Errors: `StoreError` where another process has begun anew in
    its own way, ended or discarded this; `NotFound` where the collection is gone.
    """

    async def missing(self) -> tuple[str, ...]:
        """Return the sources without new chunks, also such whose document has changed since."""
        ...

    async def write(self, documents: Sequence[StoredDocument]) -> None:
        """Add or replace the new chunks of documents, all or none, as durably as `Store.write`.

        A document is the stored one, with a new digest; one that is not what is stored now is passed over.
        """
        ...

    async def switch(self) -> bool:
        """Put the new chunks in the place of the old ones for every reader opened from now on.

        Nothing else of the documents changes but their digests. Returns False, and leaves the old ones, where
        some are missing. Errors: `StoreError` where there are not as many chunks as were written.
        """
        ...

    async def discard(self) -> None:
        """Give up what was made."""
        ...


class Store(Protocol):
    """Keep collections of documents. Errors: `StoreError`, `StoreLocked`, `NotFound`, `EmbeddingMismatch`."""

    async def create(self, name: str, *, description: str = "") -> Collection:
        """Create a collection, or return it where it exists (a new description then replaces the old)."""
        ...

    async def collections(self) -> tuple[Collection, ...]: ...

    async def collection(self, name: str) -> Collection:
        """Return a collection. Errors: `NotFound`, with the nearest name."""
        ...

    async def drop(self, name: str) -> DeleteReceipt:
        """Delete a collection with all it holds."""
        ...

    async def write(
        self, collection: str, documents: Sequence[StoredDocument], *, fingerprint: str, dimension: int
    ) -> None:
        """Add or replace documents, all or none. When this returns, they survive a crash of the machine.

        Readers see a document's old chunks or its new ones, never a mixture and never nothing.
        Errors: `EmbeddingMismatch` where the collection was made in another space.
        """
        ...

    async def remake(self, collection: str, *, fingerprint: str, dimension: int, recipe: str) -> Remake:
        """Begin to make the chunks of a collection anew, or go on where the same was left.

        `recipe` names how the chunks are made. One remake of a collection is kept: one that was begun with
        another space or recipe is given up.
        """
        ...

    async def embedded(
        self, collection: str, source_ids: Sequence[str], *, fingerprint: str
    ) -> Mapping[bytes, Embedded]:
        """Return what was made of the texts of these sources' chunks, by the digests of the texts.

        Nothing of sources that are not stored, of chunks without digests, or where the collection is in
        another space than `fingerprint` says.
        """
        ...

    async def vector_sets(self, collection: str) -> tuple[VectorSet, ...]:
        """Count the vectors of a collection, whoever may read them: the set that is searched comes first."""
        ...

    async def update(self, collection: str, entries: Sequence[Entry]) -> None:
        """Change title, url, metadata and ACL of stored documents whose text is the same.

        Each holds for every reader opened from now on.
        """
        ...

    async def delete(self, collection: str, source_ids: Sequence[str]) -> DeleteReceipt:
        """Delete documents, also such that have no chunks. Errors: `NotFound` where an id is unknown."""
        ...

    async def entries(self, collection: str) -> Mapping[str, Entry]:
        """Return the ledger: source id to what is stored."""
        ...

    async def failures(self, collection: str) -> Mapping[str, Failure]:
        """Return the sources that failed when they were last tried."""
        ...

    async def record_failures(self, collection: str, failures: Sequence[Failure]) -> None:
        """Note failures. A later `write` or `delete` of the same source clears its note."""
        ...

    async def clear_failures(self, collection: str, source_ids: Sequence[str]) -> None:
        """Remove the notes of sources that are fine again, or gone; ids without a note are passed over."""
        ...

    async def cursors(self, collection: str) -> Mapping[str, str]:
        """Return how far each followed source has been read: its name to what it noted."""
        ...

    async def set_cursor(self, collection: str, source: str, cursor: str) -> None:
        """Note how far a source has been read, an empty cursor to forget it. `drop` forgets all."""
        ...

    async def reader(self, scope: Scope) -> Reader:
        """Open the published state for a scope. Errors: `NotFound` for an unknown collection."""
        ...

    async def size(self) -> int:
        """Return the bytes that the library takes."""
        ...

    async def optimise(self, *, retention: timedelta = ...) -> None:
        """Bring indexes up to date and drop what old versions hold; done under the write lock.

        A reader may keep the state that it was opened on for so long. With none, nothing is left of what was
        deleted or replaced, and readers that are open have to be opened again.
        """
        ...

    async def aclose(self) -> None: ...
