"""The model that replies by script, and the server that speaks OpenAI's protocol, when they call tools."""

import http.client
import json
from typing import Any
from urllib.parse import urlsplit

import pytest

from refdesk.context import Usage
from refdesk.llm import Calling, Message, Options, ToolCall, calling_of
from refdesk.llm.replies import readings
from refdesk.testing.chat_server import ServerReply, chat_server
from refdesk.testing.llm import Calls, ScriptedLLM

pytestmark = pytest.mark.anyio
QUESTION = (Message("user", "How many days?"),)
TURN = Calls(("search", {"query": "leave"}), ToolCall(name="read", arguments='{"numbers": [1'), text="Hm.")


async def asked(llm: ScriptedLLM, messages: tuple[Message, ...] = QUESTION) -> tuple[str, list[ToolCall]]:
    told: list[tuple[ToolCall, ...]] = []
    text = "".join([piece async for piece in llm.stream(messages, Options(on_calls=told.append))])
    return text, [call for calls in told for call in calls]


async def test_calls_are_told_after_the_text_and_have_ids() -> None:
    text, calls = await asked(ScriptedLLM([TURN]))
    assert text == "Hm."
    assert [(call.name, call.arguments) for call in calls] == [
        ("search", '{"query": "leave"}'),
        ("read", '{"numbers": [1'),
    ]
    assert len({call.id for call in calls} - {""}) == 2


async def test_ids_of_later_turns_are_new() -> None:
    llm = ScriptedLLM([TURN, TURN])
    _, first = await asked(llm)
    turn = Message("assistant", "", calls=tuple(first))
    _, second = await asked(llm, (*QUESTION, turn))
    assert not {call.id for call in first} & {call.id for call in second}


async def test_the_same_script_written() -> None:
    text, calls = await asked(
        ScriptedLLM([Calls(("search", {"query": "leave"}), text="Hm.")], calling="written")
    )
    assert calls == []
    assert [one.value for one in readings(text)] == [{"name": "search", "arguments": {"query": "leave"}}]


@pytest.mark.parametrize(
    ("llm", "calling"),
    [
        (ScriptedLLM(["a"]), "written"),
        (ScriptedLLM(["a", TURN]), "native"),
        (ScriptedLLM([lambda messages: TURN], calling="native"), "native"),
        (ScriptedLLM([TURN], calling="written"), "written"),
    ],
)
def test_how_it_calls(llm: ScriptedLLM, calling: Calling) -> None:
    assert calling_of(llm) == calling


async def test_usage_is_told_for_calls_and_scripts_may_be_functions() -> None:
    told: list[Usage] = []
    cost = Usage(requests=1, input_tokens=5, output_tokens=2)
    llm = ScriptedLLM(
        [lambda messages: Calls(("search", {"query": messages[-1].text}))], calling="native", usage=cost
    )
    _, [call] = await asked(llm)
    assert json.loads(call.arguments) == {"query": "How many days?"}
    assert [piece async for piece in llm.stream(QUESTION, Options(on_usage=told.append))] == []
    assert told == [cost]


def sent_by(url: str, body: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the deltas of a reply, as they are on the wire."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc)
    connection.request("POST", "/v1/chat/completions", json.dumps(body))
    lines = connection.getresponse().read().decode().split("\n\n")
    connection.close()
    assert lines[-2:] == ["data: [DONE]", ""]
    return [json.loads(line.removeprefix("data: "))["choices"][0] for line in lines[:-2]]


def test_a_call_is_a_name_and_then_fragments() -> None:
    reply = ServerReply(pieces=["Hm."], calls=[("search", {"query": "leave"}), ("read", {})], fragment=9)
    with chat_server(reply) as server:
        choices = sent_by(server.base_url, {})
    assert choices[0]["delta"]["content"] == "Hm."
    calls = [choice["delta"]["tool_calls"][0] for choice in choices[1:-1]]
    assert calls == [
        {"index": 0, "id": "call_1_1", "type": "function", "function": {"name": "search", "arguments": ""}},
        {"index": 0, "function": {"arguments": '{"query":'}},
        {"index": 0, "function": {"arguments": ' "leave"}'}},
        {"index": 1, "id": "call_1_2", "type": "function", "function": {"name": "read", "arguments": ""}},
        {"index": 1, "function": {"arguments": "{}"}},
    ]
    assert [choice["finish_reason"] for choice in choices] == [None] * 6 + ["tool_calls"]


def test_a_call_without_an_id_and_a_reply_to_what_was_sent() -> None:
    def echo(sent: dict[str, Any]) -> ServerReply:
        return ServerReply(calls=[ToolCall(name=sent["model"], arguments="{}")], finish="length")

    with chat_server(echo) as server:
        first, _, last = sent_by(server.base_url, {"model": "tiny"})
    assert "id" not in first["delta"]["tool_calls"][0]
    assert first["delta"]["tool_calls"][0]["function"]["name"] == "tiny"
    assert last["finish_reason"] == "length"
