"""Random calls go over the wire in random fragments and come back; random conversations stay in order."""

import itertools
import json
from collections import Counter
from typing import Any

import anyio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from refdesk.llm import Message, Options, ToolCall, ToolForm
from refdesk.llm.calls import with_ids
from refdesk.llm.models import ModelLLM
from refdesk.testing.chat_server import ChatServer, ServerReply, chat_server

TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
ARGUMENTS = st.dictionaries(
    TEXT, TEXT | st.integers() | st.booleans() | st.lists(TEXT, max_size=3), max_size=3
)
NAMES = st.sampled_from(["search", "read", "answer"])
IDS = st.sampled_from(["", "a", "b", "call00001"])
CALLS = st.builds(
    ToolCall, name=NAMES, arguments=st.one_of(ARGUMENTS.map(json.dumps), TEXT.filter(str.strip)), id=IDS
)
TOOLS = tuple(
    ToolForm(name=name, description=name, parameters={"type": "object", "properties": {}})
    for name in ("search", "read", "answer")
)
often = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def model_at(server: ChatServer) -> ModelLLM:
    return ModelLLM(name="openai:tiny", model="tiny", base_url=server.base_url, attempts=1)


def asked(server: ChatServer, messages: tuple[Message, ...]) -> tuple[str, tuple[ToolCall, ...]]:
    told: list[tuple[ToolCall, ...]] = []

    async def stream() -> str:
        options = Options(tools=TOOLS, on_calls=told.append)
        return "".join([piece async for piece in model_at(server).stream(messages, options)])

    return anyio.run(stream), tuple(itertools.chain(*told))


@often
@given(st.lists(CALLS, min_size=1, max_size=4), st.integers(1, 30), st.booleans(), TEXT)
def test_what_the_server_calls_is_what_comes(
    calls: list[ToolCall], fragment: int, split: bool, text: str
) -> None:
    reply = ServerReply(
        pieces=[text] if text else [], calls=calls, fragment=fragment, split_bytes=split and len(calls) < 2
    )
    with chat_server(reply) as server:
        said, told = asked(server, (Message("user", "Go."),))
    assert said == text
    assert [(call.name, call.arguments) for call in told] == [(call.name, call.arguments) for call in calls]
    ids = [call.id for call in told]
    assert all(ids)
    assert len(set(ids)) == len(ids)


@often
@given(st.lists(st.tuples(TEXT, st.lists(CALLS, min_size=1, max_size=3)), min_size=1, max_size=3), st.data())
def test_turns_go_back_as_they_came(turns: list[tuple[str, list[ToolCall]]], data: st.DataObject) -> None:
    replies = [ServerReply(pieces=[text] if text else [], calls=calls) for text, calls in turns]
    messages: tuple[Message, ...] = (Message("user", "Go."),)
    expected: list[tuple[Any, ...]] = [("user", "Go.")]
    with chat_server(*replies, ServerReply(pieces=["done"])) as server:
        for _ in turns:
            text, calls = asked(server, messages)
            results = [data.draw(TEXT.filter(str.strip)) for _ in calls]
            messages += (Message("assistant", text, calls=calls),)
            messages += tuple(
                Message("tool", result, call=call) for result, call in zip(results, calls, strict=True)
            )
            expected.append(("assistant", text, [(call.id, call.name) for call in calls]))
            expected += [("tool", call.id, result) for result, call in zip(results, calls, strict=True)]
        assert asked(server, messages) == ("done", ())
        sent = server.requests[-1]["messages"]
    assert [_shape(one) for one in sent] == expected
    assert max(Counter(call.id for one in messages for call in one.calls).values()) == 1
    for message in sent:
        for call in message.get("tool_calls", ()):
            assert isinstance(json.loads(call["function"]["arguments"]), dict)


def _shape(sent: dict[str, Any]) -> tuple[Any, ...]:
    if sent["role"] == "tool":
        return "tool", sent["tool_call_id"], sent["content"]
    if sent["role"] == "assistant":
        calls = [(call["id"], call["function"]["name"]) for call in sent["tool_calls"]]
        return "assistant", sent["content"] or "", calls
    return sent["role"], sent["content"]


@given(st.lists(CALLS, max_size=6), st.lists(CALLS, max_size=3))
def test_ids_are_ones_own_and_good_ones_stay(calls: list[ToolCall], before: list[ToolCall]) -> None:
    numbered = with_ids(calls, (Message("assistant", "", calls=tuple(before)),))
    taken = {call.id for call in before}
    ids = [call.id for call in numbered]
    assert len(set(ids)) == len(ids) == len(calls)
    assert not set(ids) & (taken | {""})
    for old, new in zip(calls, numbered, strict=True):
        assert (old.name, old.arguments) == (new.name, new.arguments)
    first = {call.id: at for at, call in reversed(list(enumerate(calls)))}
    for identity, at in first.items():
        if identity and identity not in taken and not identity.startswith("call0"):
            assert ids[at] == identity
