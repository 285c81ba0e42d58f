"""Prepared documents that are embedded and written together."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from refdesk.embedding import Embedder, TokenEmbedder, Vectors
from refdesk.embedding.tokens import quantise_tokens
from refdesk.errors import ModelError
from refdesk.ingest.prepare import Prepared
from refdesk.stores import Store, StoredDocument

CHUNKS = 512
"""Chunks after which a batch is written."""
DOCUMENTS = 256
"""Documents after which a batch is written."""
SECONDS = 15.0
"""Age after which a batch is written with the next document, so that an interruption costs little."""


@dataclass
class Batch:
    """Documents on their way into the store."""

    prepared: list[Prepared] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)

    def add(self, prepared: Prepared) -> None:
        self.prepared.append(prepared)

    @property
    def texts(self) -> list[str]:
        return [text for one in self.prepared for text in one.texts]

    @property
    def full(self) -> bool:
        many = len(self.prepared) >= DOCUMENTS or sum(len(one.texts) for one in self.prepared) >= CHUNKS
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
        if not batch.prepared:
            return
        texts = batch.texts
        vectors = await self._vectors(texts)
        tokens = await self._token_vectors(texts)
        self.embedded += len(texts)
        await self.store.write(
            collection,
            _stored(batch.prepared, vectors, tokens),
            fingerprint=str(self.embedder.fingerprint),
            dimension=self.embedder.fingerprint.dimension,
        )

    async def _vectors(self, texts: Sequence[str]) -> Vectors:
        dimension = self.embedder.fingerprint.dimension
        if not texts:
            return np.zeros((0, dimension), np.float32)
        vectors = await self.embedder.embed_documents(texts)
        if vectors.shape != (len(texts), dimension):
            raise ModelError(
                f"Embedding {len(texts)} texts gave vectors of shape {vectors.shape}; "
                f"expected {(len(texts), dimension)}.",
                remedy="Check the embedder; nothing of this batch was stored.",
            )
        return vectors
