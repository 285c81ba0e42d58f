"""Rerankers behind HTTP: Text Embeddings Inference, and servers that speak Cohere's form (also Jina, vLLM).

Scores keep their meaning apart: TEI answers sigmoids, which become logits again by default, so that they
compare with those of local cross-encoders; Cohere-style servers answer a relevance from 0 to 1, which stays.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import anyio

from refdesk.addresses import without_users
from refdesk.documents import Hit
from refdesk.embedding.http import estimated_tokens
from refdesk.embedding.parallel import in_order
from refdesk.embedding.remote import Connection, Server, in_halves, in_places
from refdesk.errors import RemoteError
from refdesk.reranking.ordering import hit_text, ordered
from refdesk.reranking.pairs import windowed

COHERE_URL = "https://api.cohere.com/v2"
COHERE_TOKENS = 4096
"""Tokens of a document that Cohere reads; it would cut longer ones."""
TEI_SPECIAL = 4
TEI_TOKENS = 512
"""Tokens of question and text, where a server does not tell: the least that rerankers take."""
SMALLEST_SIGMOID = 1e-7
BEYOND = 1e-3
"""How far a score may be outside of 0 to 1 and still be a rounded one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a server takes, and what it says of its model."""

    tokens: int
    """Of question and text together."""
    batch: int | None = None
    """Texts of one request."""
    model: str = ""
    """Name and revision; empty where the server does not tell."""


class Dialect(Protocol):
    """How a kind of server is asked."""

    async def limits(self, connection: Connection) -> Limits:
        """Return what the server takes."""
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
        self._model = ""

    def __repr__(self) -> str:
        return f"HttpReranker({self._name!r}, {self._server.shown!r})"

    @property
    def name(self) -> str:
        """The name it was given, and what the server said of its model when it was last asked."""
        return f"{self._name} {self._model}".rstrip()

    async def rerank(self, question: str, hits: Sequence[Hit]) -> tuple[Hit, ...]:
        """See `refdesk.reranking.Reranker`. Errors: `RemoteError`, after retries where they can help."""
        if not hits:
            return ()
        async with self._server.connect() as connection:
            limits = await self._dialect.limits(connection)
            pairs = windowed(question, [hit_text(hit) for hit in hits], self._count, limits.tokens)
            texts = [text for _, text in pairs.pairs]
            scores = await self._scores(connection, question, texts, limits.batch)
        self._model = without_users(limits.model)
        names = [hit.chunk.chunk_id for hit in hits]
        return ordered(hits, dict(zip(names, pairs.best(scores), strict=True)))

    async def _scores(
        self, connection: Connection, question: str, texts: Sequence[str], most: int | None
    ) -> list[float]:
        size = min(self._server.batch, most or self._server.batch)
        batches = [texts[start : start + size] for start in range(0, len(texts), size)]
        ask = partial(self._dialect.scores, connection, question)

        async def one(batch: Sequence[str]) -> list[float]:
            return await in_halves(ask, batch)

        found = await in_order(one, batches, anyio.CapacityLimiter(self._server.concurrency))
        return [score for batch in found for score in batch]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tei:
    """Text Embeddings Inference: `POST /rerank`."""

    logits: bool = True
    """Undo the server's sigmoid; False keeps scores between 0 and 1."""

    async def limits(self, connection: Connection) -> Limits:
        try:
            info = await connection.get("/info")
        except RemoteError as error:
            if error.status not in UNKNOWN_PATH:
                raise
            return Limits(tokens=TEI_TOKENS - TEI_SPECIAL)
        if not isinstance(info, Mapping) or not isinstance(info.get("max_input_length"), int):
            raise _unusable(connection, "/info does not tell max_input_length")
        batch = info.get("max_client_batch_size")
        told = (str(info[key]) for key in ("model_id", "model_sha") if info.get(key))
        return Limits(
            tokens=info["max_input_length"] - TEI_SPECIAL,
            batch=batch if isinstance(batch, int) and batch > 0 else None,
            model="@".join(told),
        )

    async def scores(self, connection: Connection, question: str, texts: Sequence[str]) -> list[float]:
        body = {"query": question, "texts": list(texts), "raw_scores": False, "truncate": False}
        rows = await connection.post("/rerank", body)
        scores = by_index(connection, rows, "score", len(texts))
        if wrong := [score for score in scores if not -BEYOND <= score <= 1 + BEYOND]:
            raise _unusable(connection, f"the score {wrong[0]:g}, which is no sigmoid")
        return [unsigmoid(score) for score in scores] if self.logits else scores


@dataclass(frozen=True, slots=True, kw_only=True)
class Cohere:
    """Cohere's form: `POST {url}/rerank` with a model, documents and a key."""

    model: str
    max_tokens: int = COHERE_TOKENS

    async def limits(self, connection: Connection) -> Limits:
        return Limits(tokens=self.max_tokens)

    async def scores(self, connection: Connection, question: str, texts: Sequence[str]) -> list[float]:
        body = {"model": self.model, "query": question, "documents": list(texts), "top_n": len(texts)}
        answer = await connection.post("/rerank", body)
        rows = answer.get("results") if isinstance(answer, Mapping) else None
        return by_index(connection, rows, "relevance_score", len(texts))


def by_index(connection: Connection, rows: Any, key: str, expected: int) -> list[float]:
    """Put the rows of an answer in the order of the texts. Errors: `RemoteError` where one is unusable."""
    try:
        rows = list(rows)
        found = in_places({row["index"]: row[key] for row in rows}, expected if len(rows) == expected else -1)
    except (TypeError, KeyError) as error:
        raise _unusable(connection, f"a row without index or {key}") from error
    except ValueError as error:
        raise _unusable(connection, f"scores that fit no {expected} texts: {error}") from error
    if any(
        isinstance(one, bool) or not isinstance(one, int | float) or not math.isfinite(one) for one in found
    ):
        raise _unusable(connection, "a score that is no number")
    return [float(one) for one in found]


UNKNOWN_PATH = (404, 405)


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
