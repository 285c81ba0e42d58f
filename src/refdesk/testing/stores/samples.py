"""Documents for the checks: small, deterministic, with vectors that follow from the text."""

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from refdesk.documents import PUBLIC, Chunk, Document, Heading, Metadata, Page, chunk_id, document_id
from refdesk.stores import Store, StoredDocument

DIMENSION = 16
FINGERPRINT = "sample@fp32/16#0"
COLLECTION = "default"


def vector(text: str) -> NDArray[np.float32]:
    """Return a unit vector that follows from a text, shape (DIMENSION,)."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])
    drawn = np.random.default_rng(seed).normal(size=DIMENSION)
    return (drawn / np.linalg.norm(drawn)).astype(np.float32)


def tokens(text: str) -> str:
    """Return the tokens of a text: its words in lower case."""
    return " ".join(text.lower().split())


def sample(
    source_id: str,
    *texts: str,
    collection: str = COLLECTION,
    metadata: Metadata | None = None,
    url: str | None = None,
    language: str = "en",
    acl: tuple[str, ...] = (PUBLIC,),
    late: bool = False,
) -> StoredDocument:
    """Return a document with one chunk per text; with `late`, also with token vectors."""
    whole = "\n\n".join(texts)
    starts = np.cumsum([0, *(len(text) + 2 for text in texts)]).tolist()
    document = Document(
        collection=collection,
        source_id=source_id,
        title=f"Title of {source_id}",
        text=whole,
        url=url,
        language=language,
        pages=(Page(1, 0, len(whole)),),
        headings=(Heading(1, "Top", 0),),
        metadata=metadata or {},
        acl=acl,
        digest=hashlib.sha256(whole.encode()).hexdigest(),
    )
    return StoredDocument(
        document=document,
        chunks=_chunks(collection, source_id, texts, starts),
        tokens=tuple(map(tokens, texts)),
        vectors=np.array([vector(text) for text in texts], np.float32).reshape(-1, DIMENSION),
        token_vectors=tuple(map(late_vectors, texts)) if late else (),
    )


def _chunks(
    collection: str, source_id: str, texts: Sequence[str], starts: Sequence[int]
) -> tuple[Chunk, ...]:
    document = document_id(collection, source_id)
    return tuple(
        Chunk(
            chunk_id=chunk_id(document, position, text),
            document_id=document,
            collection=collection,
            position=position,
            start=start,
            end=start + len(text),
            text=text,
            heading_path=("Top", f"Part {position}"),
            page=1,
        )
        for position, (text, start) in enumerate(zip(texts, starts, strict=False))
    )


def late_vectors(text: str) -> NDArray[np.int8]:
    """Return one int8 vector per word, shape (words, DIMENSION)."""
    rows = [np.round(vector(word) * 127) for word in text.split()]
    return np.array(rows, np.int8).reshape(-1, DIMENSION)


async def put(store: Store, *documents: StoredDocument, collection: str = COLLECTION) -> None:
    """Create the collection and write documents in one batch."""
    await store.create(collection)
    await store.write(collection, documents, fingerprint=FINGERPRINT, dimension=DIMENSION)
