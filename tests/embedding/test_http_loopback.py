"""One embedder over a real socket."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import numpy as np
import pytest

from refdesk.embedding.http import connect_openai
from refdesk.embedding.names import embedder_for
from refdesk.embedding.remote import Server
from refdesk.errors import RemoteError

pytestmark = pytest.mark.anyio


class Handler(BaseHTTPRequestHandler):
    """Embed a text as its counts of the letters a, b and c, plus one."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        rows = [[text.count(letter) + 1.0 for letter in "abc"] for text in body["input"]]
        data = [{"index": index, "embedding": row} for index, row in enumerate(rows)]
        content = json.dumps({"data": data}).encode()
        self.send_response(200 if self.headers["Authorization"] == "Bearer key" else 401)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Keep the test's output clean."""


@pytest.fixture
def url() -> Iterator[str]:
    with serving(Handler) as address:
        yield address


@pytest.fixture
def gateway() -> Iterator[str]:
    with serving(Broken) as address:
        yield address


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


async def test_an_openai_server_is_used_by_name(url: str) -> None:
    environ = {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "key"}
    embedder = embedder_for("openai:letters", environ=environ)
    found = await embedder.embed_documents(["aaa", "", "cc"])
    expected = np.array([[4, 1, 1], [1, 1, 1], [1, 1, 3]], np.float32)
    assert np.allclose(found, expected / np.linalg.norm(expected, axis=1, keepdims=True))


class Broken(Handler):
    """A gateway that answers in Latin-1."""

    def do_POST(self) -> None:
        content = "Passerelle indisponible : r\xe9essayez".encode("latin-1")
        self.send_response(502)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


async def test_an_error_page_that_is_not_utf8_is_reported(gateway: str) -> None:
    with pytest.raises(RemoteError, match="answered 502: Passerelle indisponible") as caught:
        await connect_openai(Server(url=gateway, retries=0), "m")
    assert caught.value.retryable
