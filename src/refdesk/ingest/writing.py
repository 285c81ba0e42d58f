"""Batches of prepared documents to vectors, and into a store. A text that has a vector keeps it."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from refdesk.embedding import Embedder, TokenEmbedder, Vectors
from refdesk.embedding.tokens import quantise_tokens
from refdesk.errors import ModelError
from refdesk.ingest.batch import CHUNKS, Batch
from refdesk.ingest.prepare import Prepared
from refdesk.stores import DIGEST_BYTES, Embedded, Store, StoredDocument

Made = Mapping[bytes, Embedded]
"""What was made of texts, by their digests."""


def digest(text: str) -> bytes:
    """Return what tells a text from others: the first bytes of its SHA-256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:DIGEST_BYTES]


async def apart(
    store: Store, collection: str, prepared: Sequence[Prepared], *, fingerprint: str, late: bool
) -> tuple[Made, Mapping[bytes, str]]:
    """Return what is stored of the texts of documents, and the texts that have to be embedded.

    A text has its vector where the document that is replaced held it in the same space, and with `late` the
    vectors of its tokens too.
    """
    texts = {digest(text): text for one in prepared for text in one.texts}
    source_ids = [one.document.source_id for one in prepared]
    found = await store.embedded(collection, source_ids, fingerprint=fingerprint)
    made = {
        key: one for key, one in found.items() if key in texts and not (late and one.token_vectors is None)
    }
    return made, {key: text for key, text in texts.items() if key not in made}


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
            await self.embed(collection, batch.prepared),
            fingerprint=str(self.embedder.fingerprint),
            dimension=self.embedder.fingerprint.dimension,
        )

    async def embed(self, collection: str, prepared: Sequence[Prepared]) -> list[StoredDocument]:
        """Return documents with their vectors; of texts that the collection has, it gives them."""
        late = self.token_vectors and isinstance(self.embedder, TokenEmbedder)
        space = self.embedder.fingerprint
        made, new = await apart(self.store, collection, prepared, fingerprint=str(space), late=late)
        found = dict(made)
        for keys in _parts(list(new)):
            embedded = await self._embed([new[key] for key in keys])
            found |= dict(zip(keys, embedded, strict=True))
        return [_stored(one, found, space.dimension, late=late) for one in prepared]

    async def _embed(self, texts: Sequence[str]) -> list[Embedded]:
        """Embed so many texts that the vectors of their tokens fit in memory."""
        dimension, tokens = self.embedder.fingerprint.dimension, None
        if self.token_vectors and isinstance(self.embedder, TokenEmbedder):
            vectors, tokens = await self.embedder.embed_documents_with_tokens(texts)
        else:
            vectors = await self.embedder.embed_documents(texts)
        _refuse_shape(vectors, (len(texts), dimension))
        self.embedded += len(texts)
        late = [None] * len(texts) if tokens is None else map(quantise_tokens, tokens)
        return [Embedded(vector=one, token_vectors=each) for one, each in zip(vectors, late, strict=True)]


def _parts(keys: Sequence[bytes]) -> list[Sequence[bytes]]:
    return [keys[start : start + CHUNKS] for start in range(0, len(keys), CHUNKS)]


def _refuse_shape(vectors: Vectors, expected: tuple[int, int]) -> None:
    if vectors.shape != expected:
        raise ModelError(
            f"Embedding {expected[0]} texts gave vectors of shape {vectors.shape}; expected {expected}.",
            remedy="Check the embedder; nothing of this batch was stored.",
        )


def _stored(one: Prepared, found: Made, dimension: int, *, late: bool) -> StoredDocument:
    digests = tuple(map(digest, one.texts))
    vectors = [found[key].vector for key in digests]
    tokens = [found[key].token_vectors for key in digests] if late else []
    return StoredDocument(
        document=one.document,
        chunks=one.chunks,
        tokens=one.tokens,
        vectors=np.array(vectors, np.float32).reshape(-1, dimension),
        token_vectors=tuple(each for each in tokens if each is not None),
        strategy=one.strategy,
        digests=digests,
    )
