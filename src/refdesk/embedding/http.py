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
from refdesk.embedding import REMOTE, SAME, Fingerprint, Vectors
from refdesk.embedding.parallel import in_order
from refdesk.embedding.remote import Connection, Server, in_halves, in_places
from refdesk.embedding.tokens import unit_rows
from refdesk.embedding.windows import mean_vector, text_windows
from refdesk.errors import EmbeddingMismatch, RemoteError

OPENAI_URL = "https://api.openai.com/v1"
OPENAI_TOKENS = 8191
TEI_SPECIAL = 2
"""Special tokens that the server puts around a text."""
PROBE = "A library keeps books: über 100 Bücher, 図書館, библиотека."
"""What tells whether the model behind an address is still the one that it was."""
PROBE_SECONDS = 300.0
"""After so long the probe is embedded again, beside what is asked for."""

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

    def __init__(
        self, server: Server, rows: Rows, fingerprint: Fingerprint, options: Options, probe: Vectors
    ) -> None:
        self._server = server
        self._size = server.batch
        self._probe = probe
        self._probed = server.clock()
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
        due = bool(texts) and self._server.clock() - self._probed > PROBE_SECONDS
        asked = [PROBE, *texts] if due else texts
        size = self._size
        batches = [asked[start : start + size] for start in range(0, len(asked), size)]
        async with self._server.connect() as connection:

            async def ask(batch: Sequence[str]) -> Vectors:
                rows = await self._rows(connection, batch)
                return checked(rows, len(batch), self._fingerprint.dimension, self._server)

            async def one(batch: Sequence[str]) -> list[Vectors]:
                return await in_halves(ask, batch, self._smaller)

            done = await in_order(one, batches, anyio.CapacityLimiter(self._server.concurrency))
        rows = [row for batch in done for row in batch]
        if due:
            self._same(rows.pop(0))
        return np.stack(rows) if rows else self._none()

    def _smaller(self, size: int) -> None:
        """Send no larger batches any more than the server took."""
        self._size = min(self._size, size)

    def _same(self, probe: Vectors) -> None:
        """Check that the probe's vector is what it was. Errors: `EmbeddingMismatch`."""
        if (cosine := float(self._probe @ probe)) < SAME:
            raise EmbeddingMismatch(
                f"The model at {self._server.shown} has changed: a fixed text's vector has the cosine"
                f" {cosine:.3f} to what it was.",
                remedy="Serve the model that was there, or start anew and run: refdesk reembed.",
            )
        self._probed = self._server.clock()

    def _none(self) -> Vectors:
        return np.zeros((0, self._fingerprint.dimension), np.float32)


def connect_named(
    kind: str, rest: str, options: Options, environ: Mapping[str, str], transport: Transport = None
) -> HttpEmbedder:
    """Return what `connect` does; blocks while the server is asked."""
    with anyio.from_thread.start_blocking_portal() as portal:
        return portal.call(connect, kind, rest, options, environ, transport)


async def connect(
    kind: str, rest: str, options: Options, environ: Mapping[str, str], transport: Transport = None
) -> HttpEmbedder:
    """Return the embedder that `openai:MODEL` or `tei:URL` names. Errors: `RemoteError`."""
    if kind == "tei":
        server = Server(url=rest, api_key=environ.get("TEI_API_KEY", ""), transport=transport)
        return await connect_tei(server, options)
    url = environ.get("OPENAI_BASE_URL") or OPENAI_URL
    server = Server(url=url, api_key=environ.get("OPENAI_API_KEY", ""), transport=transport)
    return await connect_openai(server, rest, options)


async def connect_openai(server: Server, model: str, options: Options = OPTIONS) -> HttpEmbedder:
    """Use a model behind `POST /embeddings`, as OpenAI, vLLM, Ollama, llama.cpp and others serve it."""
    rows = partial(_openai_rows, model)
    probe = await _probed(server, rows)
    fingerprint = Fingerprint(
        model=without_users(model),
        revision="",
        dimension=len(probe),
        precision=REMOTE,
        pooling=REMOTE,
        query_prefix=options.query_prefix,
        document_prefix=options.document_prefix,
    )
    return HttpEmbedder(server, rows, fingerprint, options, probe)


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
    probe = await _probed(server, _tei_rows)
    fingerprint = Fingerprint(
        model=without_users(model),
        revision=str(info.get("model_sha") or ""),
        dimension=len(probe),
        precision=str(info.get("model_dtype") or REMOTE),
        pooling=REMOTE,
        query_prefix=options.query_prefix,
        document_prefix=options.document_prefix,
    )
    options = replace(options, max_tokens=limit - TEI_SPECIAL)
    return HttpEmbedder(replace(server, batch=batch), _tei_rows, fingerprint, options, probe)


async def _probed(server: Server, rows: Rows) -> Vectors:
    """Return the vector of the probe, which also tells the dimension."""
    async with server.connect() as connection:
        vector: Vectors = checked(await rows(connection, [PROBE]), 1, None, server)[0]
    return vector


async def _openai_rows(model: str, connection: Connection, texts: Sequence[str]) -> Any:
    body = {"model": model, "input": list(texts), "encoding_format": "float"}
    answer = await connection.post("/embeddings", body)
    try:
        return in_places({item["index"]: item["embedding"] for item in answer["data"]}, len(answer["data"]))
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
        vectors = np.asarray(rows)
    except ValueError as error:
        raise RemoteError(
            f"{server.shown} answered with vectors of unequal length.", retryable=False
        ) from error
    if vectors.size and vectors.dtype.kind not in "fiu":
        raise RemoteError(f"{server.shown} answered with vectors that are no numbers.", retryable=False)
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
    vectors = vectors.astype(np.float64)
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    if not np.isfinite(largest).all() or not largest.all():
        raise RemoteError(
            f"{server.shown} answered with a vector that is zero or not finite.", retryable=False
        )
    return unit_rows((vectors / largest).astype(np.float32))
