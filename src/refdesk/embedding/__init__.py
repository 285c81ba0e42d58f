"""Texts to vectors.

`Embedder` is the contract. Implementations, by the name that settings use:

- `minilm` (default): all-MiniLM-L6-v2 on onnxruntime, `refdesk.embedding.onnx`
- a folder with a sentence-transformers BERT model: the same
- `multilingual-e5-small`: 4-bit weights, `refdesk.embedding.e5`
- `openai:MODEL`, `tei:URL`: HTTP servers, `refdesk.embedding.http`

`refdesk.testing.HashingEmbedder` is a deterministic one for tests.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
"""Shape (texts, dimension), rows of unit length."""


REMOTE = "remote"
"""What a fingerprint says where only the server knows."""
SAME = 0.95
"""Cosine of two vectors of one text that are of the same model. Servers compute in their own precision, and
another model's vector has nothing to do with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint:
    """An embedding space: vectors are comparable when all of this is equal."""

    model: str
    revision: str
    dimension: int
    precision: str = "fp32"
    pooling: str = "mean"
    query_prefix: str = ""
    document_prefix: str = ""
    normalised: bool = True

    @property
    def remote(self) -> bool:
        """Whether a server embeds, so that nobody here sees which weights."""
        return self.pooling == REMOTE

    def __str__(self) -> str:
        digest = hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:12]
        return f"{self.model}@{self.precision}/{self.dimension}#{digest}"


class Embedder(Protocol):
    """Turn texts into unit vectors of one space."""

    @property
    def fingerprint(self) -> Fingerprint: ...

    @property
    def max_tokens(self) -> int:
        """Tokens that fit one text, special tokens and prefix already subtracted."""
        ...

    def count_tokens(self, text: str) -> int:
        """Count the tokens of a text, without special tokens and prefix."""
        ...

    async def embed_documents(self, texts: Sequence[str]) -> Vectors: ...

    async def embed_queries(self, texts: Sequence[str]) -> Vectors: ...


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """The vectors of a text's tokens, for late interaction."""

    vectors: NDArray[np.float32]
    """Shape (tokens, dimension), rows of unit length; special tokens are left out."""
    offsets: tuple[tuple[int, int], ...]
    """The characters of the text that each token covers."""


@runtime_checkable
class TokenEmbedder(Protocol):
    """An embedder that also gives the vectors of single tokens."""

    async def embed_tokens(self, texts: Sequence[str]) -> list[TokenVectors]: ...

    async def embed_documents_with_tokens(self, texts: Sequence[str]) -> tuple[Vectors, list[TokenVectors]]:
        """Embed documents and give the vectors of their tokens from the same pass."""
        ...
