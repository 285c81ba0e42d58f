"""An HTTP server for tests that speaks OpenAI's chat protocol, well or badly."""

import itertools
import json
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from refdesk.llm import ToolCall
from refdesk.testing.llm import Called, as_call


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerReply:
    """What the server answers one request with."""

    pieces: Sequence[str] = ()
    calls: Sequence[Called] = ()
    """Calls of tools after the pieces, as they are: with broken arguments, no id, the id of another.

    One that is given by name and arguments gets an id."""
    one_place: bool = False
    """Give all calls the same index, as some servers do, so that their names and arguments run together."""
    fragment: int = 8
    """Characters of a call's arguments that are sent at once."""
    status: int = 200
    error: str = ""
    """The message of an error body, for a status that is not 200."""
    headers: Sequence[tuple[str, str]] = ()
    usage: tuple[int, int] | None = None
    """Tokens of the prompt and of the reply, told at the end."""
    finish: str = ""
    """Why the reply ends; empty for `tool_calls` where there are calls, else `stop`."""
    endless: bool = False
    """Send the pieces, or the arguments of the last call, again and again until the client hangs up."""
    hang: bool = False
    """Say nothing after the pieces until the client hangs up, or the server ends."""
    break_off: bool = False
    """Close the connection after the pieces, or in the midst of the last call, without ending the reply."""
    unframed: bool = False
    """Send no length, as servers of old protocols do: breaking off then looks like the end."""
    split_bytes: bool = False
    """Send every byte on its own, so that characters arrive in halves."""


Replying = ServerReply | Callable[[dict[str, Any]], ServerReply]
"""A reply, or a function from the body of a request to one."""


@dataclass(slots=True)
class ChatServer:
    """The server's address, the requests it got (decoded bodies, headers in lower case), and who hung up."""

    base_url: str
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)
    """Set when the server ends."""
    hung_up: threading.Event = field(default_factory=threading.Event)
    """Set when a client closed the connection before the reply had ended."""


@contextmanager
def chat_server(*replies: Replying) -> Iterator[ChatServer]:
    """Serve `/v1/chat/completions` on a free local port, each reply in turn, the last one again and again."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    state = ChatServer(f"http://127.0.0.1:{server.server_port}/v1")
    server.RequestHandlerClass = _handler(state, replies)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        state.over.set()
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    """Answers with server-sent events and says nothing on stderr."""

    state: ChatServer
    replies: Sequence[Replying]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        request = json.loads(body)
        self.state.requests.append(request)
        self.state.headers.append({name.lower(): value for name, value in self.headers.items()})
        replying = self.replies[min(len(self.state.requests), len(self.replies)) - 1]
        reply = replying(request) if callable(replying) else replying
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
        self.framed = not reply.unframed
        self.send_header(*(("transfer-encoding", "chunked") if self.framed else ("connection", "close")))
        self.end_headers()
        for delta in _deltas(reply, len(self.state.requests)):
            self._event(_chunk(delta), reply.split_bytes)
        while reply.hang and not self.state.over.wait(0.01):
            self._write(b": waiting\n\n")
        if not reply.break_off:
            finish = reply.finish or ("tool_calls" if reply.calls else "stop")
            self._event(_chunk({}, finish), reply.split_bytes)
            if reply.usage is not None:
                self._event(_usage(*reply.usage), reply.split_bytes)
            self._write(b"data: [DONE]\n\n")
            if self.framed:
                self.wfile.write(b"0\r\n\r\n")
        self.close_connection = True

    def _event(self, data: dict[str, Any], split: bool) -> None:
        data = {**data, "model": self.state.requests[-1].get("model", "")}
        event = f"data: {json.dumps(data, ensure_ascii=False)}\n\n".encode()
        for part in [event[i : i + 1] for i in range(len(event))] if split else [event]:
            self._write(part)

    def _write(self, part: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part) if self.framed else part)
        self.wfile.flush()


def _handler(state: ChatServer, replies: Sequence[Replying]) -> Callable[..., BaseHTTPRequestHandler]:
    return type("Handler", (_Handler,), {"state": state, "replies": replies})


def _deltas(reply: ServerReply, turn: int) -> Iterator[dict[str, Any]]:
    """Yield what a reply says, piece by piece; a call's name comes first, then its arguments in fragments."""
    endless = reply.endless and not reply.calls
    for piece in itertools.cycle(reply.pieces) if endless else reply.pieces:
        yield {"role": "assistant", "content": piece}
    for number, given in enumerate(reply.calls):
        index = 0 if reply.one_place else number
        call = as_call(given)
        identity = {"id": call.id} if isinstance(given, ToolCall) else {"id": f"call_{turn}_{number + 1}"}
        head = {"type": "function", "function": {"name": call.name, "arguments": ""}}
        named = identity if identity["id"] else {}
        yield {"role": "assistant", "content": None, "tool_calls": [{"index": index, **named, **head}]}
        fragments = _fragments(call.arguments, reply, last=number == len(reply.calls) - 1)
        for fragment in fragments:
            yield {"tool_calls": [{"index": index, "function": {"arguments": fragment}}]}


def _fragments(arguments: str, reply: ServerReply, *, last: bool) -> Iterable[str]:
    size = reply.fragment
    fragments = [arguments[at : at + size] for at in range(0, len(arguments), size)]
    if last and reply.endless:
        return itertools.cycle(fragments)
    return fragments[: len(fragments) // 2] if last and reply.break_off else fragments


def _chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return _CHUNK | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def _usage(prompt: int, completion: int) -> dict[str, Any]:
    told = {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }
    return _CHUNK | {"choices": [], "usage": told}


_CHUNK = {"id": "chat", "object": "chat.completion.chunk", "created": 0}
