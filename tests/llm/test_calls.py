"""Calls of tools over a real local HTTP server: what is sent, what comes back, and what goes wrong."""

import json
import threading
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any

import anyio
import anyio.to_thread
import pytest

from refdesk.context import Usage
from refdesk.errors import LLMError
from refdesk.llm import Message, Options, ToolCall, ToolForm
from refdesk.llm.failures import tools_refused
from refdesk.llm.models import ModelLLM
from refdesk.testing.chat_server import ChatServer, ServerReply, chat_server

pytestmark = pytest.mark.anyio
QUESTION = (Message("system", "Use the tools."), Message("user", "How many days?"))
SEARCH = ToolForm(
    name="search",
    description="Search the documents.",
    parameters={
        "type": "object",
        "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
        "required": ["query"],
    },
)
GIVE_UP = ToolForm(
    name="give_up",
    description="Say that it cannot be found.",
    parameters={"type": "object", "properties": {"reason": {"type": "string"}}, "required": ["reason"]},
)
BOTH = (SEARCH, GIVE_UP)
FOUND = ToolCall(name="search", arguments='{"query": "leave"}', id="call_7")


@dataclass
class Heard:
    """What a model told besides its text."""

    calls: list[tuple[ToolCall, ...]] = field(default_factory=list)
    usages: list[Usage] = field(default_factory=list)

    def options(self, *tools: ToolForm, **further: Any) -> Options:
        return Options(
            tools=tools or BOTH, on_calls=self.calls.append, on_usage=self.usages.append, **further
        )


def model_at(server: ChatServer, **changes: Any) -> ModelLLM:
    async def no_wait(seconds: float) -> None: ...

    return ModelLLM(name="openai:tiny", model="tiny", base_url=server.base_url, sleep=no_wait, **changes)


async def replies(llm: ModelLLM, options: Options, messages: tuple[Message, ...] = QUESTION) -> list[str]:
    return [piece async for piece in llm.stream(messages, options)]


async def called(*calls: ToolCall | tuple[str, dict[str, Any]], **server: Any) -> tuple[ToolCall, ...]:
    heard = Heard()
    with chat_server(ServerReply(calls=calls, **server)) as chat:
        assert await replies(model_at(chat), heard.options()) == []
    [told] = heard.calls
    return told


async def test_the_tools_are_sent_as_they_are() -> None:
    with chat_server(ServerReply(pieces=["Thirty."])) as server:
        await replies(model_at(server), Options(tools=BOTH))
    sent = server.requests[0]
    assert sent.keys() == {"model", "messages", "stream", "stream_options", "tools", "tool_choice"}
    assert sent["tool_choice"] == "auto"
    assert [tool["type"] for tool in sent["tools"]] == ["function", "function"]
    for tool, form in zip(sent["tools"], BOTH, strict=True):
        assert tool["function"]["name"] == form.name
        assert tool["function"]["description"] == form.description
        assert tool["function"]["parameters"].items() >= form.parameters.items()


async def test_a_reply_of_calls_alone_streams_no_text_and_is_no_error() -> None:
    assert await called(("search", {"query": "leave days, 休暇"})) == (
        ToolCall(name="search", arguments='{"query": "leave days, 休暇"}', id="call_1_1"),
    )


async def test_text_before_calls_streams_and_calls_keep_their_order() -> None:
    heard = Heard()
    reply = ServerReply(
        pieces=["Let me ", "look."], calls=[("search", {"query": "a"}), ("search", {"query": "b"})]
    )
    with chat_server(reply) as server:
        assert await replies(model_at(server), heard.options()) == ["Let me ", "look."]
    [calls] = heard.calls
    assert [(call.name, json.loads(call.arguments), call.id) for call in calls] == [
        ("search", {"query": "a"}, "call_1_1"),
        ("search", {"query": "b"}, "call_1_2"),
    ]


async def test_a_reply_without_calls_tells_none() -> None:
    heard = Heard()
    with chat_server(ServerReply(pieces=["Thirty."])) as server:
        assert await replies(model_at(server), heard.options()) == ["Thirty."]
    assert heard.calls == []


async def test_usage_is_told_for_calls() -> None:
    heard = Heard()
    with chat_server(ServerReply(calls=[("search", {"query": "a"})], usage=(90, 12))) as server:
        await replies(model_at(server), heard.options())
    assert heard.usages == [Usage(requests=1, input_tokens=90, output_tokens=12)]


@pytest.mark.parametrize(
    "arguments", ['{"query": "unfini', "leave days", '["a"]', "{'query': 'a'}", '{"query": "a"}}', "null"]
)
async def test_broken_arguments_come_as_they_were_written(arguments: str) -> None:
    [call] = await called(ToolCall(name="search", arguments=arguments, id="x1"))
    assert (call.arguments, call.id) == (arguments, "x1")


@pytest.mark.parametrize("arguments", ["", " ", "{}"])
async def test_no_arguments_are_an_empty_object(arguments: str) -> None:
    [call] = await called(ToolCall(name="search", arguments=arguments, id="x1"))
    assert call.arguments == "{}"


async def test_calls_without_ids_and_with_the_same_get_their_own() -> None:
    bare = ToolCall(name="search", arguments="{}")
    same = replace(bare, id="same")
    calls = await called(bare, bare, same, same)
    ids = [call.id for call in calls]
    assert len(set(ids)) == 4
    assert all(ids)
    assert ids[2] == "same"


async def test_calls_that_a_server_gives_one_place_are_parted() -> None:
    heard = Heard()
    reply = ServerReply(
        calls=[("search", {"query": "a"}), ("search", {"query": "b"}), ("give_up", {"reason": "c"})],
        one_place=True,
    )
    with chat_server(reply, ServerReply(pieces=["Thirty."])) as server:
        llm = model_at(server)
        await replies(llm, heard.options())
        [calls] = heard.calls
        results = tuple(Message("tool", call.arguments, call=call) for call in calls)
        await replies(llm, heard.options(), (*QUESTION, Message("assistant", "", calls=calls), *results))
    named = [("search", {"query": "a"}), ("search", {"query": "b"}), ("give_up", {"reason": "c"})]
    assert [(call.name, json.loads(call.arguments)) for call in calls] == named
    assistant, *told = server.requests[1]["messages"][2:]
    sent = [(one["id"], one["function"]["name"]) for one in assistant["tool_calls"]]
    assert sent == [(call.id, call.name) for call in calls]
    assert [(one["tool_call_id"], one["content"]) for one in told] == [
        (one.id, one.arguments) for one in calls
    ]


async def test_an_id_of_an_earlier_turn_is_not_used_again() -> None:
    heard = Heard()
    asked = (*QUESTION, Message("assistant", "", calls=(FOUND,)), Message("tool", "Nothing.", call=FOUND))
    with chat_server(ServerReply(calls=[FOUND])) as server:
        await replies(model_at(server), heard.options(), asked)
    [(again,)] = heard.calls
    assert again.arguments == FOUND.arguments
    assert again.id not in ("", FOUND.id)


async def test_results_go_back_behind_their_calls() -> None:
    heard = Heard()
    first = ServerReply(
        pieces=["Let me look."],
        calls=[("search", {"query": "leave"}), ToolCall(name="search", arguments='{"query": "unf')],
    )
    with chat_server(first, ServerReply(pieces=["Thirty."])) as server:
        llm = model_at(server)
        said = "".join(await replies(llm, heard.options()))
        [calls] = heard.calls
        results = (
            Message("tool", "Found 2.", call=calls[0]),
            Message("tool", "These arguments are no JSON.", call=calls[1]),
        )
        asked = (*QUESTION, Message("assistant", said, calls=calls), *results, Message("user", "Now answer."))
        assert await replies(llm, heard.options(), asked) == ["Thirty."]
    system, user, assistant, one, two, last = server.requests[1]["messages"]
    assert (system["role"], user["role"], last) == (
        "system",
        "user",
        {"role": "user", "content": "Now answer."},
    )
    assert (assistant["role"], assistant["content"]) == ("assistant", "Let me look.")
    assert [(call["id"], call["type"], call["function"]["name"]) for call in assistant["tool_calls"]] == [
        (calls[0].id, "function", "search"),
        (calls[1].id, "function", "search"),
    ]
    sent = [json.loads(call["function"]["arguments"]) for call in assistant["tool_calls"]]
    assert sent[0] == {"query": "leave"}
    assert list(sent[1].values()) == ['{"query": "unf']  # servers refuse a history that is no JSON
    assert [one, two] == [
        {"role": "tool", "tool_call_id": calls[0].id, "content": "Found 2."},
        {"role": "tool", "tool_call_id": calls[1].id, "content": "These arguments are no JSON."},
    ]


async def test_calls_of_ones_own_and_results_without_a_call() -> None:
    asked = (
        *QUESTION,
        Message("assistant", "", calls=(FOUND,)),
        Message("tool", "Found 2.", call=FOUND),
        Message("tool", "By the way."),
    )
    with chat_server(ServerReply(pieces=["Thirty."])) as server:
        await replies(model_at(server), Options(tools=BOTH), asked)
    assistant, result, user = server.requests[0]["messages"][2:]
    assert not assistant["content"]
    assert assistant["tool_calls"][0]["id"] == result["tool_call_id"] == "call_7"
    assert user == {"role": "user", "content": "By the way."}


async def test_calls_that_were_left_out_or_changed_stay_so() -> None:
    heard = Heard()
    reply = ServerReply(pieces=["Hm <|x|>."], calls=[("search", {"query": "a"}), ("search", {"query": "b"})])
    with chat_server(reply, ServerReply(pieces=["Thirty."])) as server:
        llm = model_at(server)
        await replies(llm, heard.options())
        kept = replace(heard.calls[0][1], arguments='{"query": "c"}')
        asked = (*QUESTION, Message("assistant", "Hm.", calls=(kept,)), Message("tool", "None.", call=kept))
        await replies(llm, heard.options(), asked)
    assistant = server.requests[1]["messages"][2]
    assert assistant["content"] == "Hm."
    assert [(c["id"], json.loads(c["function"]["arguments"])) for c in assistant["tool_calls"]] == [
        (kept.id, {"query": "c"})
    ]


async def test_calls_where_no_tools_were_given_are_no_reply() -> None:
    heard = Heard()
    with chat_server(ServerReply(calls=[FOUND])) as server, pytest.raises(LLMError, match="no text"):
        await replies(model_at(server), replace(heard.options(), tools=()))
    assert heard.calls == []


async def test_a_reply_that_breaks_off_in_a_call_is_asked_again_and_told_once() -> None:
    heard = Heard()
    long = ("search", {"query": "how many days of leave does one get"})
    with chat_server(ServerReply(calls=[FOUND, long], break_off=True), ServerReply(calls=[long])) as server:
        assert await replies(model_at(server), heard.options()) == []
        assert len(server.requests) == 2
    [(call,)] = heard.calls
    assert json.loads(call.arguments) == long[1]


async def test_a_reply_that_breaks_off_in_a_call_after_text_fails() -> None:
    heard = Heard()
    broken = ServerReply(pieces=["Let me look."], calls=[FOUND], break_off=True)
    with chat_server(broken) as server:
        with pytest.raises(LLMError) as raised:
            await replies(model_at(server), heard.options())
        assert len(server.requests) == 1
    assert raised.value.retryable
    assert not tools_refused(raised.value)
    assert heard.calls == []


async def test_closing_a_stream_in_the_midst_of_a_call_hangs_up() -> None:
    heard = Heard()
    endless = ServerReply(pieces=["Let me look."], calls=[FOUND], endless=True)
    with chat_server(endless) as server:
        async with aclosing(model_at(server).stream(QUESTION, heard.options())) as pieces:
            assert await anext(pieces) == "Let me look."
        assert await anyio.to_thread.run_sync(server.hung_up.wait, 30)
    assert heard.calls == []


async def test_a_deadline_in_the_midst_of_a_call_hangs_up() -> None:
    heard, arrived = Heard(), threading.Event()

    def endless(sent: dict[str, Any]) -> ServerReply:
        arrived.set()
        return ServerReply(calls=[FOUND], endless=True)

    with chat_server(endless) as server:
        async with anyio.create_task_group() as group:
            group.start_soon(replies, model_at(server), heard.options())
            assert await anyio.to_thread.run_sync(arrived.wait, 30)
            group.cancel_scope.cancel()
        assert await anyio.to_thread.run_sync(server.hung_up.wait, 30)
    assert heard.calls == []
