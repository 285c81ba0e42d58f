"""Embedders behind HTTP: OpenAI-compatible servers, and Text Embeddings Inference.

Each asks the server once, at the start, what it is: a chat model, a wrong key or an unreachable host shows
then and not in the middle of an ingestion. Vectors are scaled to unit length here. Nothing is cut: a server
that finds a text too long has to say so.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import anyio
import anyio.from_thread
import httpx
import numpy as np

from refdesk.addresses import with_path, without_users
from refdesk.embedding import Fingerprint, Vectors
from refdesk.embedding.parallel import in_order
from refdesk.embedding.remote import Connection, Server
from refdesk.embedding.tokens import unit_rows
from refdesk.embedding.windows import mean_vector, text_windows
from refdesk.errors import RemoteError

OPENAI_URL = "https://api.openai.com/v1"
OPENAI_TOKENS = 8191
TEI_SPECIAL = 2
"""Special tokens that the server puts around a text."""
PROBE = "probe"

Count = Callable[[str], int]
Transport = httpx.AsyncBaseTransport | None
Rows = Callable[[Connection, Sequence[str]], Awaitable[Any]]
"""Ask a server for the vectors of one batch of texts."""


def estimated_tokens(text: str) -> int:
    """Estimate tokens from above, as half the UTF-8 bytes: for servers whose tokenizer is not here."""
    return (len(text.encode("utf-8", "replace")) + 1) // 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a server does not tell about its model."""

    query_prefix: str = ""
    document_prefix: str = ""
    max_tokens: int = OPENAI_TOKENS
    """Tokens of one input; a TEI server tells its own."""
    count: Count = estimated_tokens


OPTIONS = Options()


class HttpEmbedder:
    """A model on a server. Make one with `connect_openai` or `connect_tei`."""

    def __init__(self, server: Server, rows: Rows, fingerprint: Fingerprint, options: Options) -> None:
        self._server = server
        self._rows = rows
        self._fingerprint = fingerprint
        self._count = options.count
        longest = max(options.count(options.query_prefix), options.count(options.document_prefix))
        self._max_tokens = options.max_tokens - longest

    def __repr__(self) -> str:
        return f"HttpEmbedder({self._server.shown!r}, {str(self._fingerprint)!r})"

    @property
    def fingerprint(self) -> Fingerprint:
        return self._fingerprint

    @property
    def max_tokens(self) -> int:
        return self._max_tokens

    def count_tokens(self, text: str) -> int:
        return self._count(text)

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed texts; raise `RemoteError` where the server fails or finds one too long."""
        return await self._embed([self._fingerprint.document_prefix + text for text in texts])

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed queries; one longer than the model's input is the mean of its windows."""
        windows = [text_windows(text, self._count, self._max_tokens) for text in texts]
        prefix = self._fingerprint.query_prefix
        vectors = iter(await self._embed([prefix + part for parts in windows for part in parts]))
        means = [mean_vector([next(vectors) for _ in parts]) for parts in windows]
        return np.stack(means) if means else self._none()

    async def _embed(self, texts: Sequence[str]) -> Vectors:
        size = self._server.batch
        batches = [texts[start : start + size] for start in range(0, len(texts), size)]
        async with self._server.connect() as connection:

            async def one(batch: Sequence[str]) -> Vectors:
                rows = await self._rows(connection, batch)
                return checked(rows, len(batch), self._fingerprint.dimension, self._server)

            done = await in_order(one, batches, anyio.CapacityLimiter(self._server.concurrency))
        return np.concatenate([self._none(), *done])

    def _none(self) -> Vectors:
        return np.zeros((0, self._fingerprint.dimension), np.float32)


def connect_named(
    kind: str, rest: str, options: Options, environ: Mapping[str, str], transport: Transport = None
) -> HttpEmbedder:
    """Return the embedder that `openai:MODEL` or `tei:URL` names; blocks while the server is asked."""
    with anyio.from_thread.start_blocking_portal() as portal:
        if kind == "tei":
            return portal.call(connect_tei, Server(url=rest, transport=transport), options)
        url = environ.get("OPENAI_BASE_URL") or OPENAI_URL
        server = Server(url=url, api_key=environ.get("OPENAI_API_KEY", ""), transport=transport)
        return portal.call(connect_openai, server, rest, options)


async def connect_openai(server: Server, model: str, options: Options = OPTIONS) -> HttpEmbedder:
    """Use a model behind `POST /embeddings`, as OpenAI, vLLM, Ollama, llama.cpp and others serve it."""
    rows = partial(_openai_rows, model)
    fingerprint = Fingerprint(
        model=without_users(model),
        revision="",
        dimension=await _dimension(server, rows),
        precision="remote",
        pooling="remote",
        query_prefix=options.query_prefix,
        document_prefix=options.document_prefix,
    )
    return HttpEmbedder(server, rows, fingerprint, options)


async def connect_tei(server: Server, options: Options = OPTIONS) -> HttpEmbedder:
    """Use the model of a Text Embeddings Inference server; `/info` tells its name, revision and limits."""
    async with server.connect() as connection:
        info = await connection.get("/info")
    try:
        model, limit = str(info["model_id"]), int(info["max_input_length"])
        batch = min(server.batch, int(info.get("max_client_batch_size") or server.batch))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise RemoteError(
            f"{with_path(server.shown, '/info')} gives no usable {error}.", retryable=False
        ) from error
    fingerprint = Fingerprint(
        model=without_users(model),
        revision=str(info.get("model_sha") or ""),
        dimension=await _dimension(server, _tei_rows),
        precision=str(info.get("model_dtype") or "remote"),
        pooling="remote",
        query_prefix=options.query_prefix,
        document_prefix=options.document_prefix,
    )
    options = replace(options, max_tokens=limit - TEI_SPECIAL)
    return HttpEmbedder(replace(server, batch=batch), _tei_rows, fingerprint, options)


async def _dimension(server: Server, rows: Rows) -> int:
    async with server.connect() as connection:
        return int(checked(await rows(connection, [PROBE]), 1, None, server).shape[1])


async def _openai_rows(model: str, connection: Connection, texts: Sequence[str]) -> Any:
    body = {"model": model, "input": list(texts), "encoding_format": "float"}
    answer = await connection.post("/embeddings", body)
    try:
        return [item["embedding"] for item in sorted(answer["data"], key=lambda item: int(item["index"]))]
    except (KeyError, TypeError, ValueError) as error:
        shown, said = connection.server.shown, connection.server.redacted(str(answer)[:200])
        raise RemoteError(
            f"{shown} gave no embeddings for the model {without_users(model)!r} but {said}.",
            retryable=False,
            remedy="Check that it is an embedding model.",
        ) from error


async def _tei_rows(connection: Connection, texts: Sequence[str]) -> Any:
    return await connection.post("/embed", {"inputs": list(texts), "normalize": True, "truncate": False})


def checked(rows: Any, count: int, dimension: int | None, server: Server) -> Vectors:
    """Return a server's rows as unit vectors; refuse a wrong number, a wrong dimension, or no numbers."""
    try:
        vectors = np.asarray(rows, np.float32)
    except (TypeError, ValueError) as error:
        raise RemoteError(
            f"{server.shown} answered with vectors of unequal length or no numbers.", retryable=False
        ) from error
    if vectors.ndim != 2 or len(vectors) != count or vectors.shape[1] == 0:
        raise RemoteError(
            f"{server.shown} answered {count} texts with an array of shape {vectors.shape}.", retryable=False
        )
    if dimension is not None and vectors.shape[1] != dimension:
        raise RemoteError(
            f"{server.shown} answered with {vectors.shape[1]} dimensions; the model gave {dimension} before.",
            retryable=False,
            remedy="The server's model has changed: embed the collection again.",
        )
    if not np.isfinite(vectors).all() or not np.linalg.norm(vectors, axis=1).all():
        raise RemoteError(
            f"{server.shown} answered with a vector that is zero or not finite.", retryable=False
        )
    return unit_rows(vectors)
