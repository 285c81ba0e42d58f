"""Requests to a model server: retried where that can help, with the real cause where it cannot.

A new connection pool is opened for each call, so an embedder can be used from any event loop and has
nothing to close; the batches of one call share it.
"""

import email.utils
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import httpx

from refdesk.addresses import secrets_of, with_path, without_user
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


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Server:
    """A model server and how to talk to it."""

    url: str
    api_key: str = ""
    timeout: float = 60.0
    """Seconds for an answer; connecting gets 10."""
    retries: int = 4
    longest_wait: float = 60.0
    """Seconds between two tries at most; a server that asks for more is not waited for."""
    batch: int = 64
    """Texts of one request."""
    concurrency: int = 4
    """Requests at once."""
    transport: httpx.AsyncBaseTransport | None = None
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep

    def __repr__(self) -> str:
        return f"Server({self.shown!r})"

    @property
    def shown(self) -> str:
        """The address for messages, without passwords and keys."""
        return without_user(self.url)

    def redacted(self, message: str) -> str:
        """Return a message, maybe with a server's own words, without what the server was told in secret."""
        for secret in (self.api_key.strip(), *secrets_of(self.url)):
            message = message.replace(secret, "***") if secret else message
        return message

    @asynccontextmanager
    async def connect(self) -> AsyncIterator["Connection"]:
        """Open a pool of connections. Errors: `RemoteError` for a key that no header can carry."""
        if not all("!" <= character <= "~" for character in self.api_key.strip()):
            message = f"The API key for {self.shown} has spaces or characters beyond ASCII."
            raise RemoteError(message, retryable=False, remedy=REMEDIES[401])
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
        url = with_path(self.server.url, path)
        for attempt in range(self.server.retries + 1):
            answer = await self._send(method, url, body)
            if isinstance(answer, httpx.Response) and not answer.is_error:
                return self._decoded(path, answer)
            error = self._error(path, answer)
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

    def _decoded(self, path: str, response: httpx.Response) -> Any:
        try:
            return response.json()
        except (ValueError, RecursionError) as error:
            message = f"answered with something that is not JSON: {response.text[:SHOWN]!r}."
            raise RemoteError(self._message(path, message), retryable=False) from error

    def _error(self, path: str, answer: Answer) -> RemoteError:
        if isinstance(answer, Exception):
            message = self._message(path, f"could not be reached: {self._cause(answer)}.")
            retryable = isinstance(answer, httpx.TransportError) and not isinstance(
                answer, httpx.UnsupportedProtocol
            )
            return RemoteError(message, retryable=retryable, remedy="Check the URL and the server.")
        message = self._message(path, f"answered {answer.status_code}: {reason(answer)}")
        retryable = answer.status_code in RETRYABLE
        return RemoteError(message, retryable=retryable, remedy=REMEDIES.get(answer.status_code, ""))

    def _cause(self, error: Exception) -> str:
        # An address that cannot be read is quoted in pieces, any of which may be of a password.
        quoted = isinstance(error, httpx.InvalidURL) and self.server.shown != self.server.url
        return type(error).__name__ if quoted else f"{type(error).__name__} {error}".rstrip()

    def _message(self, path: str, what: str) -> str:
        return f"{with_path(self.server.shown, path)} {self.server.redacted(what)}"


def wait_seconds(answer: Answer, attempt: int) -> float:
    """Return the seconds before the next try: as the server asks, else a random share of a doubling time."""
    header = answer.headers.get("Retry-After") if isinstance(answer, httpx.Response) else None
    asked = retry_seconds(header)
    return asked if asked is not None else random.uniform(0.1, 0.5 * 2**attempt)


def retry_seconds(header: str | None) -> float | None:
    """Read a Retry-After header: seconds, or a date; None where there is none that can be read."""
    if header is None:
        return None
    if header.strip().isascii() and header.strip().isdigit():
        return float(header)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(header).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def reason(response: httpx.Response) -> str:
    """Return what an error response says, in the forms that OpenAI-like and TEI servers use."""
    try:
        body = response.json()
    except (ValueError, RecursionError):
        return response.text[:SHOWN] or response.reason_phrase
    said = body.get("error", body.get("message", body)) if isinstance(body, dict) else body
    said = said.get("message", said) if isinstance(said, dict) else said
    return str(said)[:SHOWN]
