"""Prepared documents that are embedded and written together."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from refdesk.embedding import Embedder, TokenEmbedder, Vectors
from refdesk.embedding.tokens import quantise_tokens
from refdesk.errors import ModelError
from refdesk.ingest.prepare import Prepared
from refdesk.sources import SourceGone
from refdesk.stores import Entry, Store, StoredDocument

CHUNKS = 256
"""Chunks after which a batch is written."""
DOCUMENTS = 128
"""Documents after which a batch is written."""
SECONDS = 15.0
"""Age after which a batch is written with the next document, so that an interruption costs little."""


@dataclass
class Batch:
    """Documents on their way into the store."""

    prepared: list[Prepared] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    """Documents of which only title, url, metadata or ACL changed."""
    gone: list[str] = field(default_factory=list)
    """Sources that are deleted."""
    marks: dict[str, str] = field(default_factory=dict)
    """How far each followed source was read when all of this is stored."""
    began: float = field(default_factory=time.monotonic)

    def add(self, one: Prepared | Entry | SourceGone) -> None:
        match one:
            case Prepared():
                self.prepared.append(one)
            case Entry():
                self.entries.append(one)
            case SourceGone():
                self.gone.append(one.source_id)

    def holds(self, source_id: str) -> bool:
        """Tell whether something is to be done with a source."""
        return source_id in self._ids()

    def _ids(self) -> Iterator[str]:
        yield from (one.document.source_id for one in self.prepared)
        yield from (one.source_id for one in self.entries)
        yield from self.gone

    @property
    def texts(self) -> list[str]:
        return [text for one in self.prepared for text in one.texts]

    @property
    def full(self) -> bool:
        documents = len(self.prepared) + len(self.entries) + len(self.gone)
        many = documents >= DOCUMENTS or sum(len(one.texts) for one in self.prepared) >= CHUNKS
        return many or time.monotonic() - self.began > SECONDS


@dataclass(kw_only=True)
class Writer:
    """Embed batches and write them. Errors: those of the embedder and of the store."""

    store: Store
    embedder: Embedder
    token_vectors: bool = False
    embedded: int = 0
    """Texts sent to the embedder so far."""

    async def write(self, collection: str, batch: Batch) -> None:
        """Store a batch whole, with its vectors; an empty one costs nothing."""
        if not batch.prepared:
            return
        await self.store.write(
            collection,
            await self.embed(batch),
            fingerprint=str(self.embedder.fingerprint),
            dimension=self.embedder.fingerprint.dimension,
        )

    async def embed(self, batch: Batch) -> list[StoredDocument]:
        """Return the documents of a batch with their vectors."""
        texts = batch.texts
        parts = [await self._embed(texts[start : start + CHUNKS]) for start in range(0, len(texts), CHUNKS)]
        none = np.zeros((0, self.embedder.fingerprint.dimension), np.float32)
        vectors = np.concatenate([none, *(part for part, _ in parts)])
        return _stored(batch.prepared, vectors, [one for _, tokens in parts for one in tokens])

    async def _embed(self, texts: Sequence[str]) -> tuple[Vectors, list[NDArray[np.int8]]]:
        """Embed a part of a batch: the token vectors of a long document would not fit in memory at once."""
        dimension = self.embedder.fingerprint.dimension
        if self.token_vectors and isinstance(self.embedder, TokenEmbedder):
            vectors, tokens = await self.embedder.embed_documents_with_tokens(texts)
        else:
            vectors, tokens = await self.embedder.embed_documents(texts), []
        if vectors.shape != (len(texts), dimension):
            raise ModelError(
                f"Embedding {len(texts)} texts gave vectors of shape {vectors.shape}; "
                f"expected {(len(texts), dimension)}.",
                remedy="Check the embedder; nothing of this batch was stored.",
            )
        self.embedded += len(texts)
        return vectors, [quantise_tokens(one) for one in tokens]


def _stored(
    prepared: Sequence[Prepared], vectors: Vectors, tokens: Sequence[NDArray[np.int8]]
) -> list[StoredDocument]:
    """Give every document its own share of the vectors."""
    stored, at = [], 0
    for one in prepared:
        share = slice(at, at + len(one.chunks))
        stored.append(
            StoredDocument(
                document=one.document,
                chunks=one.chunks,
                tokens=one.tokens,
                vectors=vectors[share],
                token_vectors=tuple(tokens[share]),
            )
        )
        at = share.stop
    return stored
