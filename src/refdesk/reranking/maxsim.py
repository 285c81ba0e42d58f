"""Late interaction over the embedder's token vectors (Khattab and Zaharia, SIGIR 2020), and other signals.

Each token of the question looks for its most similar token in the chunk. Two scores come of it:

- `rerank_score`, 0 to 1: the mean over the question's tokens of that cosine, squared. It depends on question
  and chunk alone, so thresholds can be set on it. With MiniLM, questions that a collection says nothing about
  stay below 0.2, and questions that it answers mostly exceed 0.35 (`refdesk eval zones`).
- `fused_score`, which orders the hits: cosine, BM25 and late interaction, each standardised over the hits and
  weighted. Here a token of the question counts the less, the better all hits match it, as with words that
  are everywhere.

Token vectors stored at ingestion are used where there are some; the others are computed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import anyio.to_thread
import numpy as np
from numpy.typing import NDArray

from refdesk.chunking import embedded_text, lead
from refdesk.documents import Hit
from refdesk.embedding import Embedder, TokenEmbedder
from refdesk.embedding.tokens import dequantise
from refdesk.reranking.ordering import ordered
from refdesk.stores import Reader

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mixture:
    """How much each signal counts in the order of hits.

    Fitted on training questions: `python benchmarks/fit_reranker.py --help` tells how.
    """

    cosine: float = 0.7
    keyword: float = 1.0
    late: float = 0.7
    rarity: float = 2.0
    """How steeply a token's weight falls with how well the hits match it on average; 0 weighs all alike."""


MIXTURE = Mixture()


class LateEmbedder(Embedder, TokenEmbedder, Protocol):
    """An embedder that gives vectors of texts and of tokens."""


class MaxSimReranker:
    """Order hits by late interaction; needs no weights besides the embedder's."""

    def __init__(
        self, embedder: LateEmbedder, reader: Reader | None = None, *, mixture: Mixture = MIXTURE
    ) -> None:
        self._embedder = embedder
        self._reader = reader
        self._mixture = mixture

    @property
    def name(self) -> str:
        return f"maxsim({self._embedder.fingerprint})"

    async def rerank(self, question: str, hits: Sequence[Hit]) -> tuple[Hit, ...]:
        """See `refdesk.reranking.Reranker`. Chunks and questions may have any length."""
        if not hits:
            return ()
        hits = sorted(hits, key=lambda hit: hit.chunk.chunk_id)  # sums of floats depend on the order
        query = (await self._embedder.embed_tokens([question]))[0].vectors
        tokens = await self.token_vectors(hits)
        return await anyio.to_thread.run_sync(score, query, hits, tokens, self._mixture)

    async def token_vectors(self, hits: Sequence[Hit]) -> Mapping[str, Floats]:
        """Return the token vectors of every hit by chunk id: stored, else computed from what was embedded."""
        names = [hit.chunk.chunk_id for hit in hits]
        stored = await self._reader.token_vectors(names) if self._reader else {}
        known = {name: dequantise(vectors) for name, vectors in stored.items()}
        lacking = [hit for hit in hits if hit.chunk.chunk_id not in known]
        computed = await self._embedder.embed_tokens([self._text(hit) for hit in lacking])
        fresh = {hit.chunk.chunk_id: tokens.vectors for hit, tokens in zip(lacking, computed, strict=True)}
        return known | fresh

    def _text(self, hit: Hit) -> str:
        count, limit = self._embedder.count_tokens, self._embedder.max_tokens
        return embedded_text(lead(hit.title, hit.metadata), hit.chunk, count, limit)


def score(
    query: Floats, hits: Sequence[Hit], tokens: Mapping[str, Floats], mixture: Mixture = MIXTURE
) -> tuple[Hit, ...]:
    """Order hits by the token vectors of the question, shape (tokens, dimension), and of their chunks."""
    names = [hit.chunk.chunk_id for hit in hits]
    best = best_cosines(query, [tokens[name] for name in names])
    relevance = np.square(np.maximum(best, 0.0)).mean(axis=1) if best.shape[1] else np.zeros(len(hits))
    order = fused(hits, best, mixture)
    return ordered(hits, _by_name(names, relevance), _by_name(names, order))


def best_cosines(query: Floats, chunks: Sequence[Floats]) -> Floats:
    """Return each token's best cosine in each chunk, shape (chunks, question tokens); 0 in empty ones."""
    best = np.zeros((len(chunks), len(query)), np.float32)
    full = [number for number, chunk in enumerate(chunks) if len(chunk)]
    if full and len(query):
        lengths = [len(chunks[number]) for number in full]
        starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        cosines = np.concatenate([chunks[number] for number in full]) @ query.T
        best[full] = np.maximum.reduceat(cosines, starts, axis=0)
    return best


def fused(hits: Sequence[Hit], best: Floats, mixture: Mixture = MIXTURE) -> NDArray[np.float64]:
    """Add up the standardised signals; one that no hit carries, or all carry equally, adds nothing."""
    cosines = [hit.vector_score for hit in hits]
    lowest = min((cosine for cosine in cosines if cosine is not None), default=0.0)
    return (
        mixture.cosine * standardised([lowest if cosine is None else cosine for cosine in cosines])
        + mixture.keyword * standardised([hit.keyword_score or 0.0 for hit in hits])
        + mixture.late * standardised(late(best, mixture.rarity))
    )


def late(best: Floats, steepness: float = MIXTURE.rarity) -> NDArray[np.float64]:
    """Return each chunk's mean best cosine; tokens that hits match badly on average weigh more."""
    rarity = np.maximum(0.0, 1.0 - best.mean(axis=0, dtype=np.float64)) ** steepness
    total = rarity.sum()
    return best @ (rarity / total) if total else np.zeros(len(best))


def standardised(values: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Bring values to mean 0 and deviation 1; equal values all become 0."""
    array = np.asarray(values, np.float64)
    deviation = array.std()
    return np.zeros_like(array) if deviation <= 1e-9 else (array - array.mean()) / deviation


def _by_name(names: Sequence[str], values: NDArray[np.floating]) -> dict[str, float]:
    return dict(zip(names, values.tolist(), strict=True))
