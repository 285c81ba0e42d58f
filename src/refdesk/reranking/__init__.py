"""Hits to better ordered hits.

`Reranker` is the contract. Implementations: `maxsim` (default, late interaction over the embedder's token
vectors), `cross_encoder` (a local ONNX or sentence-transformers folder), `http` (TEI and Cohere-style).

A reranker's scores compare with each other, so they can have thresholds, and each kind has its own scale:
`maxsim` and Cohere-style servers give 0 to 1, cross-encoders and TEI give logits, where 0 is undecided.
"""

from collections.abc import Sequence
from typing import Protocol

from refdesk.documents import Hit


class Reranker(Protocol):
    """Score hits against a question."""

    @property
    def name(self) -> str: ...

    async def rerank(self, question: str, hits: Sequence[Hit]) -> tuple[Hit, ...]:
        """Return every hit with `rerank_score` and `rank` set, best first.

        Long chunks are scored window by window, never cut. Errors: `ModelError`, `RemoteError`.
        """
        ...
