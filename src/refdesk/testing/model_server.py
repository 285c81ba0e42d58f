"""An HTTP server for tests with an embedder and a reranker, which fails as real ones do.

It speaks the protocols of Text Embeddings Inference (`/info`, `/embed`, `/rerank`), of OpenAI's embeddings
(`/v1/embeddings`) and of Cohere's reranking (`/v2/rerank`).
"""

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import anyio

from refdesk.embedding import Embedder
from refdesk.testing.embedders import HashingEmbedder

Scoring = Callable[[str, str], float]
"""Takes question and text, returns a relevance between 0 and 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What the server does in place of an answer, or to it."""

    status: int = 200
    error: str = ""
    """The message of an error body, for a status that is not 200."""
    headers: Sequence[tuple[str, str]] = ()
    body: bytes | None = None
    """Is sent as it is."""
    change: Callable[[Any], Any] | None = None
    """What becomes of the answer before it is sent."""
    hang: bool = False
    """Say nothing until the server stops."""
    drip: bool = False
    """Send one blank after the other, without end."""
    cut: bool = False
    """Close the connection after half of the answer."""


@dataclass(frozen=True, slots=True)
class Request:
    """What the server was asked; headers in lower case."""

    path: str
    body: dict[str, Any]
    headers: Mapping[str, str]


def shared_words(question: str, text: str) -> float:
    """Return the share of the question's words that a text has, within 0.02 and 0.98."""
    asked = {word.strip("?.,!").casefold() for word in question.split()}
    said = {word.strip("?.,!").casefold() for word in text.split()}
    return 0.02 + 0.96 * len(asked & said) / max(1, len(asked))


@dataclass(slots=True, kw_only=True)
class ModelServer:
    """What tests set and look at. `start` and `stop` it, or use `model_server`."""

    embedder: Embedder = field(default_factory=HashingEmbedder)
    scoring: Scoring = shared_words
    model: str = "org/model"
    revision: str = "abc"
    tokens: int = 512
    """Longest input."""
    batch: int = 32
    """Texts of one request at most."""
    next: list[Fault] = field(default_factory=list)
    """Faults of the next requests, one each."""
    failing: dict[str, Fault] = field(default_factory=dict)
    """Faults by the end of the path, such as `/rerank`, for as long as they are there."""
    requests: list[Request] = field(default_factory=list)
    port: int = 0
    _server: ThreadingHTTPServer | None = None
    _over: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def asked(self, path: str) -> list[Request]:
        """Return the requests to a path."""
        return [one for one in self.requests if one.path.endswith(path)]

    def start(self) -> None:
        """Serve on a free port, or where it served before."""
        handler = type("Handler", (_Handler,), {"state": self})
        self._server, self._over = _Server(("127.0.0.1", self.port), handler), threading.Event()
        self.port = self._server.server_port
        serve = self._server.serve_forever
        threading.Thread(target=serve, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def stop(self) -> None:
        """Refuse connections from now on, and leave those that hang."""
        if self._server is not None:
            self._over.set()
            self._server.shutdown()
            self._server.server_close()
            self._server = None


@contextmanager
def model_server(**options: Any) -> Iterator[ModelServer]:
    """Serve on a free local port; options are the fields of `ModelServer`."""
    server = ModelServer(**options)
    server.start()
    try:
        yield server
    finally:
        server.stop()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True


class _Refused(Exception):
    """A request that the model does not take: its status and why."""


class _Handler(BaseHTTPRequestHandler):
    state: ModelServer

    def do_GET(self) -> None:
        self._answer({})

    def do_POST(self) -> None:
        self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def log_message(self, *_: Any) -> None:
        """Keep the output of tests clean."""

    def _answer(self, body: dict[str, Any]) -> None:
        state, path = self.state, self.path.partition("?")[0]
        headers = {name.lower(): value for name, value in self.headers.items()}
        state.requests.append(Request(path, body, headers))
        lasting = next((fault for end, fault in state.failing.items() if path.endswith(end)), None)
        fault = lasting or (state.next.pop(0) if state.next else Fault())
        with suppress(ConnectionError):
            if fault.hang:
                state._over.wait()
                self.close_connection = True
            elif fault.drip:
                self._drip()
            elif fault.body is not None:
                self._send(fault.status, fault.body, fault)
            elif fault.status != 200:
                self._send(fault.status, json.dumps({"error": {"message": fault.error}}).encode(), fault)
            else:
                self._send(*self._made(path, body, fault), fault)

    def _made(self, path: str, body: dict[str, Any], fault: Fault) -> tuple[int, bytes]:
        try:
            answer = ROUTES[path](self.state, body)
        except KeyError as error:
            return 404, json.dumps({"error": f"there is no {error}"}).encode()
        except _Refused as error:
            return int(error.args[0]), json.dumps({"error": error.args[1]}).encode()
        return 200, json.dumps(fault.change(answer) if fault.change else answer).encode()

    def _send(self, status: int, content: bytes, fault: Fault) -> None:
        self.send_response(status)
        for name, value in (("Content-Length", str(len(content))), *fault.headers):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if fault.cut else content)
        self.close_connection = fault.cut or self.close_connection

    def _drip(self) -> None:
        self.send_response(200)
        self.end_headers()
        while not self.state._over.wait(0.01):
            self.wfile.write(b" ")
            self.wfile.flush()


def _info(state: ModelServer, body: dict[str, Any]) -> Any:
    return {
        "model_id": state.model,
        "model_sha": state.revision,
        "model_dtype": "float32",
        "max_input_length": state.tokens,
        "max_client_batch_size": state.batch,
    }


def _embed(state: ModelServer, body: dict[str, Any]) -> Any:
    return _vectors(state, body["inputs"])


def _embeddings(state: ModelServer, body: dict[str, Any]) -> Any:
    rows = enumerate(_vectors(state, body["input"]))
    return {"data": [{"index": index, "embedding": row} for index, row in rows][::-1]}


def _rerank(state: ModelServer, body: dict[str, Any]) -> Any:
    return _scored(state, body["query"], body["texts"], "score")


def _cohere(state: ModelServer, body: dict[str, Any]) -> Any:
    return {"results": _scored(state, body["query"], body["documents"], "relevance_score")}


def _vectors(state: ModelServer, texts: Sequence[str]) -> list[list[float]]:
    _check(state, texts)
    return [row.tolist() for row in anyio.run(state.embedder.embed_queries, texts)]


def _scored(state: ModelServer, question: str, texts: Sequence[str], key: str) -> list[dict[str, Any]]:
    """Score texts, best first, as servers return them."""
    _check(state, [f"{question} {text}" for text in texts])
    rows = [{"index": index, key: state.scoring(question, text)} for index, text in enumerate(texts)]
    return sorted(rows, key=lambda row: -float(row[key]))


def _check(state: ModelServer, texts: Sequence[str]) -> None:
    if len(texts) > state.batch:
        raise _Refused(413, f"batch size {len(texts)} > maximum allowed batch size {state.batch}")
    if any(len(text.split()) > state.tokens for text in texts):
        raise _Refused(413, f"`inputs` must have less than {state.tokens} tokens")


ROUTES: Mapping[str, Callable[[ModelServer, dict[str, Any]], Any]] = {
    "/info": _info,
    "/embed": _embed,
    "/rerank": _rerank,
    "/v1/embeddings": _embeddings,
    "/v1/rerank": _cohere,
    "/v2/rerank": _cohere,
}
