"""Rerankers behind HTTP: Text Embeddings Inference, and servers that speak Cohere's form (also Jina, vLLM).

Scores keep their meaning apart: TEI answers sigmoids, which become logits again by default, so that they
compare with those of local cross-encoders; Cohere-style servers answer a relevance from 0 to 1, which stays.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import anyio

from refdesk.addresses import without_users
from refdesk.documents import Hit
from refdesk.embedding.http import estimated_tokens
from refdesk.embedding.parallel import in_order
from refdesk.embedding.remote import Connection, Server
from refdesk.errors import RemoteError
from refdesk.reranking.ordering import hit_text, ordered
from refdesk.reranking.pairs import windowed

COHERE_URL = "https://api.cohere.com/v2"
COHERE_TOKENS = 4096
"""Tokens of a document that Cohere reads; it would cut longer ones."""
TEI_SPECIAL = 4
SMALLEST_SIGMOID = 1e-7


class Dialect(Protocol):
    """How a kind of server is asked."""

    async def limit(self, connection: Connection) -> int:
        """Return the tokens of question and text together."""
        ...

    async def scores(self, connection: Connection, question: str, texts: Sequence[str]) -> list[float]:
        """Return a score for each text, in order."""
        ...


class HttpReranker:
    """Order hits by a model on a server; long chunks count by their best window."""

    def __init__(
        self, server: Server, dialect: Dialect, name: str, count: Callable[[str], int] = estimated_tokens
    ) -> None:
        self._server = server
        self._dialect = dialect
        self._name = without_users(name)
        self._count = count

    def __repr__(self) -> str:
        return f"HttpReranker({self._name!r}, {self._server.shown!r})"

    @property
    def name(self) -> str:
        return self._name

    async def rerank(self, question: str, hits: Sequence[Hit]) -> tuple[Hit, ...]:
        """See `refdesk.reranking.Reranker`. Errors: `RemoteError`, after retries where they can help."""
        if not hits:
            return ()
        async with self._server.connect() as connection:
            limit = await self._dialect.limit(connection)
            pairs = windowed(question, [hit_text(hit) for hit in hits], self._count, limit)
            scores = await self._scores(connection, question, [text for _, text in pairs.pairs])
        names = [hit.chunk.chunk_id for hit in hits]
        return ordered(hits, dict(zip(names, pairs.best(scores), strict=True)))

    async def _scores(self, connection: Connection, question: str, texts: Sequence[str]) -> list[float]:
        size = self._server.batch
        batches = [texts[start : start + size] for start in range(0, len(texts), size)]

        async def one(batch: Sequence[str]) -> list[float]:
            return await self._dialect.scores(connection, question, batch)

        found = await in_order(one, batches, anyio.CapacityLimiter(self._server.concurrency))
        return [score for batch in found for score in batch]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tei:
    """Text Embeddings Inference: `POST /rerank`."""

    logits: bool = True
    """Undo the server's sigmoid; False keeps scores between 0 and 1."""

    async def limit(self, connection: Connection) -> int:
        info = await connection.get("/info")
        if not isinstance(info, Mapping) or not isinstance(info.get("max_input_length"), int):
            raise _unusable(connection, "/info does not tell max_input_length")
        return int(info["max_input_length"]) - TEI_SPECIAL

    async def scores(self, connection: Connection, question: str, texts: Sequence[str]) -> list[float]:
        body = {"query": question, "texts": list(texts), "raw_scores": False, "truncate": False}
        rows = await connection.post("/rerank", body)
        scores = by_index(connection, rows, "score", len(texts))
        return [unsigmoid(score) for score in scores] if self.logits else scores


@dataclass(frozen=True, slots=True, kw_only=True)
class Cohere:
    """Cohere's form: `POST {url}/rerank` with a model, documents and a key."""

    model: str
    max_tokens: int = COHERE_TOKENS

    async def limit(self, connection: Connection) -> int:
        return self.max_tokens

    async def scores(self, connection: Connection, question: str, texts: Sequence[str]) -> list[float]:
        body = {"model": self.model, "query": question, "documents": list(texts), "top_n": len(texts)}
        answer = await connection.post("/rerank", body)
        rows = answer.get("results") if isinstance(answer, Mapping) else None
        return by_index(connection, rows, "relevance_score", len(texts))


def by_index(connection: Connection, rows: Any, key: str, expected: int) -> list[float]:
    """Put the rows of an answer in the order of the texts. Errors: `RemoteError` where one is unusable."""
    try:
        scores = {int(row["index"]): float(row[key]) for row in rows}
    except (TypeError, KeyError, ValueError) as error:
        raise _unusable(connection, f"a row without index or {key}") from error
    if sorted(scores) != list(range(expected)) or not all(map(math.isfinite, scores.values())):
        raise _unusable(connection, f"{len(scores)} usable scores for {expected} texts")
    return [scores[index] for index in range(expected)]


def unsigmoid(score: float) -> float:
    """Return the logit of a sigmoid's value; what rounding took to 0 or 1 is kept finite."""
    bounded = min(max(score, SMALLEST_SIGMOID), 1.0 - SMALLEST_SIGMOID)
    return math.log(bounded / (1.0 - bounded))


def _unusable(connection: Connection, what: str) -> RemoteError:
    return RemoteError(
        f"The reranker at {connection.server.shown} answered with {what}.",
        retryable=False,
        remedy="Check that the URL is that of a reranking model.",
    )
