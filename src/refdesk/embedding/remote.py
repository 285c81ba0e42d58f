"""Requests to a model server: retried where that can help, with the real cause where it cannot.

A new connection pool is opened for each call, so an embedder can be used from any event loop and has
nothing to close; the batches of one call share it.
"""

import email.utils
import json
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import httpx

from refdesk.errors import RemoteError

Body = Mapping[str, Any] | None
Answer = httpx.Response | httpx.RequestError | httpx.InvalidURL

RETRYABLE = frozenset({408, 409, 429, 500, 502, 503, 504})
REMEDIES = {
    401: "Check the API key.",
    403: "Check the API key and what it may use.",
    404: "Check the URL and the model's name.",
    413: "Use smaller chunks.",
    429: "Try again later.",
}
SHOWN = 300
"""Characters of a server's answer that a message repeats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A model server and how to talk to it."""

    url: str
    api_key: str = field(default="", repr=False)
    timeout: float = 60.0
    """Seconds for an answer; connecting gets 10."""
    retries: int = 4
    longest_wait: float = 60.0
    """Seconds between two tries at most; a server that asks for more is not waited for."""
    batch: int = 64
    """Texts of one request."""
    concurrency: int = 4
    """Requests at once."""
    transport: httpx.AsyncBaseTransport | None = field(default=None, repr=False)
    sleep: Callable[[float], Awaitable[None]] = field(default=anyio.sleep, repr=False)

    @asynccontextmanager
    async def connect(self) -> AsyncIterator["Connection"]:
        """Open a pool of connections."""
        headers = {"Authorization": f"Bearer {self.api_key.strip()}"} if self.api_key.strip() else {}
        timeout = httpx.Timeout(self.timeout, connect=10.0)
        async with httpx.AsyncClient(headers=headers, timeout=timeout, transport=self.transport) as client:
            yield Connection(self, client)


@dataclass(frozen=True, slots=True)
class Connection:
    """An open pool of connections to a server."""

    server: Server
    client: httpx.AsyncClient = field(repr=False)

    async def get(self, path: str) -> Any:
        return await self._request("GET", path, None)

    async def post(self, path: str, body: Mapping[str, Any]) -> Any:
        return await self._request("POST", path, body)

    async def _request(self, method: str, path: str, body: Body) -> Any:
        url = self.server.url.rstrip("/") + path
        for attempt in range(self.server.retries + 1):
            answer = await self._send(method, url, body)
            if isinstance(answer, httpx.Response) and not answer.is_error:
                return self._decoded(url, answer)
            error = self._error(url, answer)
            wait = wait_seconds(answer, attempt)
            last = attempt == self.server.retries or wait > self.server.longest_wait
            if last or not error.retryable:
                raise error from (answer if isinstance(answer, Exception) else None)
            await self.server.sleep(wait)
        raise AssertionError("The last try returns or raises.")

    async def _send(self, method: str, url: str, body: Body) -> Answer:
        try:
            return await self.client.request(method, url, json=body)
        except (httpx.RequestError, httpx.InvalidURL) as error:
            return error

    def _decoded(self, url: str, response: httpx.Response) -> Any:
        try:
            return response.json()
        except ValueError as error:
            message = f"{url} answered with something that is not JSON: {response.text[:SHOWN]!r}."
            raise RemoteError(self._redacted(message), retryable=False) from error

    def _error(self, url: str, answer: Answer) -> RemoteError:
        if isinstance(answer, Exception):
            message = self._redacted(f"{url} could not be reached: {type(answer).__name__} {answer}".rstrip())
            retryable = isinstance(answer, httpx.TransportError) and not isinstance(
                answer, httpx.UnsupportedProtocol
            )
            return RemoteError(f"{message}.", retryable=retryable, remedy="Check the URL and the server.")
        message = self._redacted(f"{url} answered {answer.status_code}: {reason(answer)}")
        retryable = answer.status_code in RETRYABLE
        return RemoteError(message, retryable=retryable, remedy=REMEDIES.get(answer.status_code, ""))

    def _redacted(self, message: str) -> str:
        key = self.server.api_key.strip()
        return message.replace(key, "***") if key else message


def wait_seconds(answer: Answer, attempt: int) -> float:
    """Return the seconds before the next try: as the server asks, else a random share of a doubling time."""
    header = answer.headers.get("Retry-After") if isinstance(answer, httpx.Response) else None
    asked = retry_seconds(header)
    return asked if asked is not None else random.uniform(0.1, 0.5 * 2**attempt)


def retry_seconds(header: str | None) -> float | None:
    """Read a Retry-After header: seconds, or a date; None where there is none that can be read."""
    if header is None:
        return None
    if header.strip().isdigit():
        return float(header)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(header).timestamp() - time.time())
    except ValueError:
        return None


def reason(response: httpx.Response) -> str:
    """Return what an error response says, in the forms that OpenAI-like and TEI servers use."""
    try:
        body = response.json()
    except json.JSONDecodeError:
        return response.text[:SHOWN] or response.reason_phrase
    said = body.get("error", body.get("message", body)) if isinstance(body, dict) else body
    said = said.get("message", said) if isinstance(said, dict) else said
    return str(said)[:SHOWN]
