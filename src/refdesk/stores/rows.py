"""Chunks as rows of a Lance table, and back."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from refdesk.documents import Chunk
from refdesk.stores import DIGEST_BYTES, StoredDocument

CHUNK_COLUMNS = ["chunk_id", "doc_key", "position", "start", "end", "page", "text", "heading_path"]


MADE_OF = (pa.field("strategy", pa.string()), pa.field("digest", pa.binary(DIGEST_BYTES)))
"""Columns that tables of older libraries get with their next write."""


def schema(dimension: int) -> pa.Schema:
    """Return the columns of a table whose vectors have `dimension` numbers."""
    return pa.schema(
        [
            pa.field("chunk_id", pa.string(), nullable=False),
            pa.field("doc_key", pa.int64(), nullable=False),
            pa.field("generation", pa.int64(), nullable=False),
            pa.field("position", pa.int32(), nullable=False),
            pa.field("start", pa.int64(), nullable=False),
            pa.field("end", pa.int64(), nullable=False),
            pa.field("page", pa.int32()),
            pa.field("text", pa.string(), nullable=False),
            pa.field("heading_path", pa.list_(pa.string()), nullable=False),
            pa.field("tokens", pa.string(), nullable=False),
            pa.field("vector", pa.list_(pa.float32(), dimension), nullable=False),
            pa.field("token_vectors", pa.binary()),
            pa.field("token_count", pa.int32()),
            *MADE_OF,
        ]
    )


def table(
    documents: Sequence[StoredDocument], keys: Mapping[str, int], *, generation: int, dimension: int
) -> pa.Table:
    """Return the rows of documents; `keys` maps their source ids to document keys."""
    rows = [row for stored in documents for row in _rows(stored, keys[stored.document.source_id], generation)]
    columns = {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}
    vectors = np.concatenate([stored.vectors for stored in documents]).astype(np.float32, copy=False)
    columns["vector"] = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), dimension)
    return pa.table(columns, schema=schema(dimension))


def _rows(stored: StoredDocument, key: int, generation: int) -> Iterator[dict[str, object]]:
    for number, (chunk, tokens) in enumerate(zip(stored.chunks, stored.tokens, strict=True)):
        vectors = stored.token_vectors[number] if stored.token_vectors else None
        yield {
            "chunk_id": chunk.chunk_id,
            "doc_key": key,
            "generation": generation,
            "position": chunk.position,
            "start": chunk.start,
            "end": chunk.end,
            "page": chunk.page,
            "text": chunk.text,
            "heading_path": list(chunk.heading_path),
            "tokens": tokens,
            "token_vectors": None if vectors is None else vectors.astype(np.int8, copy=False).tobytes(),
            "token_count": None if vectors is None else len(vectors),
            "strategy": stored.strategy or None,
            "digest": stored.digests[number] if stored.digests else None,
        }


def chunk(row: Mapping[str, object], *, document_id: str, collection: str) -> Chunk:
    """Return the chunk of a row that has the `CHUNK_COLUMNS`."""
    return Chunk(
        chunk_id=row["chunk_id"],  # type: ignore[arg-type]
        document_id=document_id,
        collection=collection,
        position=row["position"],  # type: ignore[arg-type]
        start=row["start"],  # type: ignore[arg-type]
        end=row["end"],  # type: ignore[arg-type]
        text=row["text"],  # type: ignore[arg-type]
        heading_path=tuple(row["heading_path"]),  # type: ignore[arg-type]
        page=row["page"],  # type: ignore[arg-type]
    )


def token_vectors(data: bytes, count: int, dimension: int) -> NDArray[np.int8]:
    """Return stored token vectors, shape (tokens, dimension); `dimension` is for texts without tokens."""
    flat = np.frombuffer(data, dtype=np.int8)
    return flat.reshape(count, -1) if count else np.zeros((0, dimension), dtype=np.int8)


def matrix(column: pa.ChunkedArray) -> NDArray[np.float32]:
    """Return a column of vectors, shape (rows, dimension)."""
    return np.asarray(column.to_pylist(), dtype=np.float32)
