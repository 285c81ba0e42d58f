"""Calls in the words of OpenAI (responses), Anthropic and Google, over a local server with canned replies.

What a provider wants back with a call, such as a signed thought, is a part of the second request.
"""

import base64
import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from refdesk.context import Usage
from refdesk.errors import LLMError
from refdesk.llm import Message, Options, ToolCall, ToolForm
from refdesk.llm.models import ModelLLM

pytestmark = pytest.mark.anyio
QUESTION = (Message("system", "Use the tools."), Message("user", "How many days?"))
PARAMETERS = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
SEARCH = ToolForm(name="search", description="Search the documents.", parameters=PARAMETERS)
ARGUMENTS = {"query": "leave"}


@dataclass
class Canned:
    """The server's address and what it was sent."""

    url: str
    requests: list[dict[str, Any]] = field(default_factory=list)


@contextmanager
def canned(*replies: Sequence[dict[str, Any]]) -> Iterator[Canned]:
    """Answer each request with server-sent events, whatever it asks for."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            reply = replies[len(state.requests)]
            state.requests.append(json.loads(body))
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            for event in reply:
                kind = f"event: {event['type']}\n" if "type" in event else ""
                self.wfile.write(f"{kind}data: {json.dumps(event)}\n\n".encode())

        def log_message(self, format: str, *args: object) -> None:
            """Keep the output of tests clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state = Canned(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


async def two_turns(model: str) -> tuple[list[ToolCall], list[Usage]]:
    """Ask a model that calls, give it what its calls found, and return what it told."""
    told: list[tuple[ToolCall, ...]] = []
    usages: list[Usage] = []
    options = Options(tools=(SEARCH,), max_tokens=500, on_calls=told.append, on_usage=usages.append)
    llm = ModelLLM(name=model, model=model, attempts=1)
    said = "".join([piece async for piece in llm.stream(QUESTION, options)])
    [calls] = told
    results = tuple(Message("tool", f"Found {number}.", call=call) for number, call in enumerate(calls))
    asked = (*QUESTION, Message("assistant", said, calls=calls), *results)
    assert "".join([piece async for piece in llm.stream(asked, options)]) == "Thirty."
    assert len(told) == 1
    return list(calls), usages


def openai_reply(*output: dict[str, Any]) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = [{"type": "response.created", "response": _response([])}]
    for index, item in enumerate(output):
        place = {"output_index": index, "item_id": item["id"]}
        events.append({"type": "response.output_item.added", **place, "item": item | _begun(item)})
        if item["type"] == "function_call":
            for part in (item["arguments"][:5], item["arguments"][5:]):
                events.append({"type": "response.function_call_arguments.delta", **place, "delta": part})
        if item["type"] == "message":
            text = {"content_index": 0, "delta": "Thirty.", "logprobs": []}
            events.append({"type": "response.output_text.delta", **place, **text})
        events.append({"type": "response.output_item.done", **place, "item": item})
    events.append(
        {"type": "response.completed", "response": _response(list(output)) | {"status": "completed"}}
    )
    return [event | {"sequence_number": number} for number, event in enumerate(events)]


def _begun(item: dict[str, Any]) -> dict[str, Any]:
    return {"arguments": ""} if "arguments" in item else {"content": []} if "content" in item else {}


def _response(output: list[dict[str, Any]]) -> dict[str, Any]:
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 0,
        "model": "gpt-5-mini",
        "status": "in_progress",
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {"input_tokens": 90, "output_tokens": 12, "total_tokens": 102, **details},
    }


async def test_openai(monkeypatch: pytest.MonkeyPatch) -> None:
    thought = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2VjcmV0"}
    call = {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "call_a",
        "name": "search",
        "arguments": json.dumps(ARGUMENTS),
        "status": "completed",
    }
    text = {"type": "output_text", "text": "Thirty.", "annotations": [], "logprobs": []}
    message: dict[str, Any] = {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "content": [text],
        "status": "completed",
    }
    with canned(openai_reply(thought, call), openai_reply(message)) as server:
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        [told], usages = await two_turns("openai:gpt-5-mini")
    assert (told.name, json.loads(told.arguments), told.id) == ("search", ARGUMENTS, "call_a")
    assert [(one.input_tokens, one.output_tokens) for one in usages] == [(90, 12), (90, 12)]
    [tool] = server.requests[0]["tools"]
    assert (tool["type"], tool["name"]) == ("function", "search")
    assert tool["parameters"].items() >= PARAMETERS.items()
    sent = [one for one in server.requests[1]["input"] if "type" in one and one["type"] != "message"]
    assert [one["type"] for one in sent] == ["reasoning", "function_call", "function_call_output"]
    assert (sent[0]["id"], sent[0]["encrypted_content"]) == ("rs_1", "c2VjcmV0")
    assert (sent[1]["id"], sent[1]["call_id"], json.loads(sent[1]["arguments"])) == (
        "fc_1",
        "call_a",
        ARGUMENTS,
    )
    assert (sent[2]["call_id"], sent[2]["output"]) == ("call_a", "Found 0.")


def anthropic_reply(stop: str, *blocks: tuple[dict[str, Any], list[dict[str, Any]]]) -> list[dict[str, Any]]:
    message: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "content": [],
        "model": "claude-haiku-4-5",
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 90, "output_tokens": 1},
    }
    events: list[dict[str, Any]] = [{"type": "message_start", "message": message}]
    for index, (block, deltas) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    ending = {"stop_reason": stop, "stop_sequence": None}
    events.append({"type": "message_delta", "delta": ending, "usage": {"output_tokens": 12}})
    return [*events, {"type": "message_stop"}]


async def test_anthropic(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("anthropic")
    thought = (
        {"type": "thinking", "thinking": "", "signature": ""},
        [
            {"type": "thinking_delta", "thinking": "I should search."},
            {"type": "signature_delta", "signature": "c2lnbmVk"},
        ],
    )
    said = ({"type": "text", "text": ""}, [{"type": "text_delta", "text": "Let me look."}])
    halves = json.dumps(ARGUMENTS)[:5], json.dumps(ARGUMENTS)[5:]
    calls: list[tuple[dict[str, Any], list[dict[str, Any]]]] = [
        (
            {"type": "tool_use", "id": identity, "name": "search", "input": {}},
            [{"type": "input_json_delta", "partial_json": half} for half in halves],
        )
        for identity in ("toolu_1", "toolu_2")
    ]
    answer = ({"type": "text", "text": ""}, [{"type": "text_delta", "text": "Thirty."}])
    replies = anthropic_reply("tool_use", thought, said, *calls), anthropic_reply("end_turn", answer)
    with canned(*replies) as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        told, usages = await two_turns("anthropic:claude-haiku-4-5")
    assert [(one.name, json.loads(one.arguments), one.id) for one in told] == [
        ("search", ARGUMENTS, "toolu_1"),
        ("search", ARGUMENTS, "toolu_2"),
    ]
    assert [(one.input_tokens, one.output_tokens) for one in usages] == [(90, 12), (90, 12)]
    [tool] = server.requests[0]["tools"]
    assert (tool["name"], tool["description"]) == (SEARCH.name, SEARCH.description)
    assert tool["input_schema"].items() >= PARAMETERS.items()
    user, assistant, results = server.requests[1]["messages"]
    assert [one["role"] for one in (user, assistant, results)] == ["user", "assistant", "user"]
    assert [one["type"] for one in assistant["content"]] == ["thinking", "text", "tool_use", "tool_use"]
    assert assistant["content"][0]["signature"] == "c2lnbmVk"
    assert [one["input"] for one in assistant["content"][2:]] == [ARGUMENTS, ARGUMENTS]
    assert [(one["type"], one["tool_use_id"]) for one in results["content"]] == [
        ("tool_result", "toolu_1"),
        ("tool_result", "toolu_2"),
    ]


def google_reply(*parts: dict[str, Any]) -> list[dict[str, Any]]:
    used = {"promptTokenCount": 90, "candidatesTokenCount": 12, "totalTokenCount": 102}
    last = {"content": {"role": "model", "parts": list(parts)}, "finishReason": "STOP", "index": 0}
    return [{"candidates": [last], "usageMetadata": used, "modelVersion": "gemini-2.5-flash"}]


async def test_google(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("google.genai")
    signature = base64.b64encode(b"signed").decode()
    call: dict[str, Any] = {"functionCall": {"name": "search", "args": ARGUMENTS}}
    calls = [call | {"thoughtSignature": signature}, call]
    with canned(google_reply(*calls), google_reply({"text": "Thirty."})) as server:
        monkeypatch.setenv("GOOGLE_API_KEY", "none")
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.url)
        told, usages = await two_turns("google:gemini-2.5-flash")
    assert [(one.name, json.loads(one.arguments)) for one in told] == [("search", ARGUMENTS)] * 2
    assert len({one.id for one in told} - {""}) == 2
    assert [(one.input_tokens, one.output_tokens) for one in usages] == [(90, 12), (90, 12)]
    [tools] = server.requests[0]["tools"]
    assert tools["functionDeclarations"][0]["name"] == "search"
    user, model, results = server.requests[1]["contents"]
    assert (user["role"], model["role"], results["role"]) == ("user", "model", "user")
    assert [part["functionCall"]["args"] for part in model["parts"]] == [ARGUMENTS, ARGUMENTS]
    assert [part.get("thoughtSignature") for part in model["parts"]] == [signature, None]
    assert [part["functionResponse"]["name"] for part in results["parts"]] == ["search", "search"]


CHUNK = {"id": "chat", "object": "chat.completion.chunk", "created": 0, "model": "tiny"}
HALF = {"index": 0, "delta": {"content": "Half "}, "finish_reason": None}
NAMELESS = {"index": 0, "delta": {"tool_calls": [{"index": 0, "function": None}]}, "finish_reason": None}


@pytest.mark.parametrize("choices", [[[HALF], 3], [[NAMELESS], [HALF | {"finish_reason": "stop"}]]])
async def test_what_is_in_no_protocol_is_an_error(choices: list[object]) -> None:
    with canned([CHUNK | {"choices": one} for one in choices]) as server:
        llm = ModelLLM(name="openai:tiny", model="tiny", base_url=server.url, attempts=1)
        with pytest.raises(LLMError, match="cannot be read") as raised:
            assert [piece async for piece in llm.stream(QUESTION, Options(tools=(SEARCH,)))]
    assert raised.value.retryable
