"""Language models for tests: one that replies by script, and an HTTP server that speaks OpenAI's protocol."""

import json
import threading
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from refdesk.errors import LLMError
from refdesk.llm import DEFAULTS, Message, Options

Script = str | Sequence[str] | LLMError
"""A reply in one piece, in given pieces, or a failure."""


@dataclass(slots=True)
class ScriptedLLM:
    """Replies with each script in turn, the last one again and again; records what it was asked."""

    replies: Sequence[Script]
    name: str = "scripted"
    asked: list[tuple[Message, ...]] = field(default_factory=list)

    async def stream(
        self, messages: tuple[Message, ...], options: Options = DEFAULTS
    ) -> AsyncGenerator[str, None]:
        reply = self.replies[min(len(self.asked), len(self.replies) - 1)]
        self.asked.append(messages)
        if isinstance(reply, LLMError):
            raise reply
        for piece in [reply] if isinstance(reply, str) else reply:
            yield piece


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerReply:
    """What the server answers one request with."""

    pieces: Sequence[str] = ()
    status: int = 200
    error: str = ""
    """The message of an error body, for a status that is not 200."""
    headers: Sequence[tuple[str, str]] = ()
    break_off: bool = False
    """Close the connection after the pieces, without ending the reply."""
    split_bytes: bool = False
    """Send every byte on its own, so that characters arrive in halves."""


@dataclass(slots=True)
class ChatServer:
    """The server's address and the requests it got: decoded bodies and headers in lower case."""

    base_url: str
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)


@contextmanager
def chat_server(*replies: ServerReply) -> Iterator[ChatServer]:
    """Serve `/v1/chat/completions` on a free local port, each reply in turn, the last one again and again."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    state = ChatServer(f"http://127.0.0.1:{server.server_port}/v1")
    server.RequestHandlerClass = _handler(state, replies)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    """Answers with server-sent events and says nothing on stderr."""

    state: ChatServer
    replies: Sequence[ServerReply]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        self.state.requests.append(json.loads(body))
        self.state.headers.append({name.lower(): value for name, value in self.headers.items()})
        reply = self.replies[min(len(self.state.requests), len(self.replies)) - 1]
        if reply.status != 200:
            self._fail(reply)
        else:
            self._stream(reply)

    def log_message(self, format: str, *args: object) -> None:
        """Keep the output of tests clean."""

    def _fail(self, reply: ServerReply) -> None:
        body = json.dumps({"error": {"message": reply.error, "type": "error"}}).encode()
        self.send_response(reply.status)
        for name, value in (
            ("content-type", "application/json"),
            ("content-length", str(len(body))),
            *reply.headers,
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, reply: ServerReply) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for piece in reply.pieces:
            self._event(_delta({"role": "assistant", "content": piece}), reply.split_bytes)
        if not reply.break_off:
            self._event(_delta({}, finish="stop"), reply.split_bytes)
            self._write(b"data: [DONE]\n\n")
            self.wfile.write(b"0\r\n\r\n")
        self.close_connection = True

    def _event(self, data: dict[str, Any], split: bool) -> None:
        event = f"data: {json.dumps(data, ensure_ascii=False)}\n\n".encode()
        for part in [event[i : i + 1] for i in range(len(event))] if split else [event]:
            self._write(part)

    def _write(self, part: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
        self.wfile.flush()


def _handler(state: ChatServer, replies: Sequence[ServerReply]) -> Callable[..., BaseHTTPRequestHandler]:
    return type("Handler", (_Handler,), {"state": state, "replies": replies})


def _delta(delta: dict[str, str], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {
        "id": "chat",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": "scripted",
        "choices": [choice],
    }
