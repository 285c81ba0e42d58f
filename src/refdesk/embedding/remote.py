"""Requests to a model server: retried where that can help, with the real cause where it cannot.

A new connection pool is opened for each call, so an embedder can be used from any event loop and has
nothing to close; the batches of one call share it.
"""

import email.utils
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import anyio
import httpx

from refdesk.addresses import secrets_of, with_path, without_user
from refdesk.errors import RemoteError

Body = Mapping[str, Any] | None
Answer = httpx.Response | httpx.RequestError | httpx.InvalidURL

PASSING = frozenset({408, 409, 424, 425, 429})
"""What may be otherwise the next time, besides 5xx; TEI says 424 where its backend failed."""
LASTING = frozenset({501, 505, 511})
TOO_LARGE = frozenset({400, 413, 422})
"""What servers say of a batch that has too many texts or tokens: fewer may be taken."""
LONGEST_ANSWER = 64 * 1024 * 1024
"""Bytes of an answer, unpacked."""
PACKING = (b"content-encoding", b"content-length", b"transfer-encoding")
"""Headers that an unpacked answer has no more."""
T = TypeVar("T")
R = TypeVar("R")
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
    """Seconds for a whole answer, however it trickles in; connecting gets 10."""
    retries: int = 4
    longest_wait: float = 60.0
    """Seconds between two tries at most; a server that asks for more is not waited for."""
    batch: int = 64
    """Texts of one request."""
    concurrency: int = 4
    """Requests at once."""
    longest: int = LONGEST_ANSWER
    """Bytes of an answer; what is longer is not read."""
    clock: Callable[[], float] = time.monotonic
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
            with anyio.fail_after(self.server.timeout):
                async with self.client.stream(method, url, json=body) as response:
                    return await self._whole(response)
        except TimeoutError:
            return httpx.ReadTimeout(f"no whole answer within {self.server.timeout:g} seconds")
        except (httpx.RequestError, httpx.InvalidURL) as error:
            return error

    async def _whole(self, response: httpx.Response) -> httpx.Response:
        """Read an answer, and no more of it than is allowed."""
        content = bytearray()
        async for part in response.aiter_bytes():
            content += part
            if len(content) > self.server.longest:
                said = f"{self.server.shown} answered with more than {self.server.longest:,} bytes."
                raise RemoteError(said, retryable=False, remedy="Check the URL.")
        headers = [one for one in response.headers.raw if one[0].lower() not in PACKING]
        return httpx.Response(
            response.status_code, headers=headers, content=bytes(content), request=response.request
        )

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
        status = answer.status_code
        message = self._message(path, f"answered {status}: {reason(answer)}")
        return RemoteError(message, retryable=passes(status), remedy=REMEDIES.get(status, ""), status=status)

    def _cause(self, error: Exception) -> str:
        # An address that cannot be read is quoted in pieces, any of which may be of a password.
        quoted = isinstance(error, httpx.InvalidURL) and self.server.shown != self.server.url
        return type(error).__name__ if quoted else f"{type(error).__name__} {error}".rstrip()

    def _message(self, path: str, what: str) -> str:
        return f"{with_path(self.server.shown, path)} {self.server.redacted(what)}"


def passes(status: int) -> bool:
    """Tell whether an error may be gone the next time."""
    return status in PASSING or (status >= 500 and status not in LASTING)


async def in_halves(
    ask: Callable[[Sequence[T]], Awaitable[Iterable[R]]],
    items: Sequence[T],
    smaller: Callable[[int], None] = lambda size: None,
) -> list[R]:
    """Ask for a batch, and where the server finds it too large for its halves, down to single items.

    `smaller` is told the size of a batch that was taken where a larger one was not. Errors: `RemoteError`,
    also for a single item that is too large.
    """
    try:
        return [*await ask(items)]
    except RemoteError as error:
        if len(items) < 2 or error.status not in TOO_LARGE:
            raise
    middle = (len(items) + 1) // 2
    done = [
        *await in_halves(ask, items[:middle], smaller),
        *await in_halves(ask, items[middle:], smaller),
    ]
    smaller(middle)
    return done


def in_places(rows: Mapping[Any, R], count: int) -> list[R]:
    """Return rows in the order of their places. Errors: `ValueError` where these are not 0 to `count` - 1."""
    if any(isinstance(place, bool) or not isinstance(place, int) for place in rows):
        raise ValueError("a place is no whole number")
    if sorted(rows) != list(range(count)):
        raise ValueError(f"{len(rows)} places for {count} rows")
    return [rows[place] for place in range(count)]


def wait_seconds(answer: Answer, attempt: int) -> float:
    """Return the seconds before the next try: as the server asks, else a random share of a doubling time."""
    headers = answer.headers if isinstance(answer, httpx.Response) else {}
    exact = retry_seconds(headers.get("Retry-After-Ms"))
    asked = exact / 1000 if exact is not None else retry_seconds(headers.get("Retry-After"))
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
