"""Language models for tests: one that replies by script, and an HTTP server that speaks OpenAI's protocol."""

import itertools
import json
import threading
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import anyio

from refdesk.context import Usage
from refdesk.errors import LLMError
from refdesk.llm import DEFAULTS, Message, Options

Reply = str | Sequence[str] | LLMError
"""A reply in one piece, in given pieces, or a failure."""

Script = Reply | Callable[[tuple[Message, ...]], Reply]
"""A reply, or a function from what was asked to one."""


@dataclass(slots=True)
class ScriptedLLM:
    """Replies with each script in turn, the last one again and again; records what it was asked."""

    replies: Sequence[Script]
    name: str = "scripted"
    seconds: float = 0.0
    """How long it takes until a reply begins."""
    usage: Usage | None = None
    """What each reply that comes to its end is said to have cost."""
    asked: list[tuple[Message, ...]] = field(default_factory=list)
    options: list[Options] = field(default_factory=list)

    async def stream(
        self, messages: tuple[Message, ...], options: Options = DEFAULTS
    ) -> AsyncGenerator[str, None]:
        script = self.replies[min(len(self.asked), len(self.replies) - 1)]
        self.asked.append(messages)
        self.options.append(options)
        if self.seconds:
            await anyio.sleep(self.seconds)
        reply = script(messages) if callable(script) else script
        if isinstance(reply, LLMError):
            raise reply
        for piece in [reply] if isinstance(reply, str) else reply:
            yield piece
        if self.usage is not None:
            options.on_usage(self.usage)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerReply:
    """What the server answers one request with."""

    pieces: Sequence[str] = ()
    status: int = 200
    error: str = ""
    """The message of an error body, for a status that is not 200."""
    headers: Sequence[tuple[str, str]] = ()
    usage: tuple[int, int] | None = None
    """Tokens of the prompt and of the reply, told at the end."""
    finish: str = "stop"
    """Why the reply ends."""
    endless: bool = False
    """Send the pieces again and again until the client hangs up."""
    break_off: bool = False
    """Close the connection after the pieces, without ending the reply."""
    split_bytes: bool = False
    """Send every byte on its own, so that characters arrive in halves."""


@dataclass(slots=True)
class ChatServer:
    """The server's address, the requests it got (decoded bodies, headers in lower case), and who hung up."""

    base_url: str
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    hung_up: threading.Event = field(default_factory=threading.Event)
    """Set when a client closed the connection before the reply had ended."""


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
            try:
                self._stream(reply)
            except ConnectionError:
                self.state.hung_up.set()
                self.close_connection = True

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
        for piece in itertools.cycle(reply.pieces) if reply.endless else reply.pieces:
            self._event(_delta({"role": "assistant", "content": piece}), reply.split_bytes)
        if not reply.break_off:
            self._event(_delta({}, finish=reply.finish), reply.split_bytes)
            if reply.usage is not None:
                self._event(_usage(*reply.usage), reply.split_bytes)
            self._write(b"data: [DONE]\n\n")
            self.wfile.write(b"0\r\n\r\n")
        self.close_connection = True

    def _event(self, data: dict[str, Any], split: bool) -> None:
        data = {**data, "model": self.state.requests[-1].get("model", "")}
        event = f"data: {json.dumps(data, ensure_ascii=False)}\n\n".encode()
        for part in [event[i : i + 1] for i in range(len(event))] if split else [event]:
            self._write(part)

    def _write(self, part: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
        self.wfile.flush()


def _handler(state: ChatServer, replies: Sequence[ServerReply]) -> Callable[..., BaseHTTPRequestHandler]:
    return type("Handler", (_Handler,), {"state": state, "replies": replies})


def _delta(delta: dict[str, str], finish: str | None = None) -> dict[str, Any]:
    return _CHUNK | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def _usage(prompt: int, completion: int) -> dict[str, Any]:
    told = {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }
    return _CHUNK | {"choices": [], "usage": told}


_CHUNK = {"id": "chat", "object": "chat.completion.chunk", "created": 0}
