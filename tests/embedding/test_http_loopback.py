"""One embedder over a real socket."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import numpy as np
import pytest

from refdesk.embedding.names import embedder_for

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
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
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
