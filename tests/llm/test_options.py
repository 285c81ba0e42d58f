"""Options, usage, failures and hanging up, over a real local HTTP server that speaks OpenAI's protocol."""

from contextlib import aclosing
from typing import Any

import anyio
import anyio.to_thread
import pytest

from refdesk.context import Usage
from refdesk.errors import ContextTooLong, LLMError
from refdesk.llm import DEFAULTS, Message, Options
from refdesk.llm.models import ModelLLM
from refdesk.llm.names import llm_for
from refdesk.testing.chat_server import ChatServer, ServerReply, chat_server

pytestmark = pytest.mark.anyio
QUESTION = (Message("user", "Why?"),)
SCHEMA = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
FINE = ServerReply(pieces=["{}"])


def model_at(server: ChatServer, **changes: Any) -> ModelLLM:
    async def no_wait(seconds: float) -> None: ...

    return ModelLLM(name="openai:tiny", model="tiny", base_url=server.base_url, sleep=no_wait, **changes)


async def replies(llm: ModelLLM, options: Options = DEFAULTS) -> list[str]:
    return [piece async for piece in llm.stream(QUESTION, options)]


async def test_nothing_is_sent_that_was_not_asked_for() -> None:
    with chat_server(FINE) as server:
        await replies(model_at(server))
    assert server.requests[0].keys() == {"model", "messages", "stream", "stream_options"}


async def test_limits_temperature_and_further_settings() -> None:
    with chat_server(FINE) as server:
        llm = model_at(server, settings=(("seed", 7), ("temperature", 0.9)))
        await replies(llm, Options(max_tokens=50, temperature=0.0))
    sent = server.requests[0]
    assert (sent["max_tokens"], sent["temperature"], sent["seed"]) == (50, 0.0, 7)


async def test_openai_itself_gets_the_newer_word_for_the_limit() -> None:
    with chat_server(FINE) as server:
        await replies(model_at(server, key_variable="OPENAI_API_KEY"), Options(max_tokens=50))
    assert server.requests[0]["max_completion_tokens"] == 50


async def test_a_schema_holds_the_reply() -> None:
    with chat_server(FINE) as server:
        await replies(model_at(server), Options(json_schema=SCHEMA))
    form = server.requests[0]["response_format"]
    assert form["type"] == "json_schema"
    assert form["json_schema"]["name"] == "reply"
    assert form["json_schema"]["schema"].items() >= SCHEMA.items()


@pytest.mark.parametrize("status", [400, 415, 422, 501])
async def test_a_server_without_schemas_is_asked_without_one(status: int) -> None:
    refusal = ServerReply(status=status, error="response_format is not supported")
    with chat_server(refusal, FINE) as server:
        assert await replies(model_at(server, attempts=1), Options(json_schema=SCHEMA)) == ["{}"]
    assert ["response_format" in sent for sent in server.requests] == [True, False]


async def test_a_refusal_of_something_else_is_told() -> None:
    with chat_server(ServerReply(status=400, error="bad thing")) as server:
        with pytest.raises(LLMError, match="bad thing"):
            await replies(model_at(server), Options(json_schema=SCHEMA))
        assert len(server.requests) == 2


TOO_LONG = [
    (400, "request (9031 tokens) exceeds the available context size (8192 tokens), try increasing it"),
    (400, "This model's maximum context length is 8192 tokens."),
    (500, "the request exceeds the available context size"),
    (413, "prompt is too long: 210000 tokens > 200000 maximum"),
]


@pytest.mark.parametrize(("status", "said"), TOO_LONG)
async def test_a_prompt_that_is_too_long(status: int, said: str) -> None:
    with chat_server(ServerReply(status=status, error=said)) as server:
        with pytest.raises(ContextTooLong) as raised:
            await replies(model_at(server), Options(json_schema=SCHEMA))
        assert len(server.requests) == 1
    assert not raised.value.retryable
    assert "larger window" in raised.value.remedy


async def test_usage_is_told_once_a_request() -> None:
    told: list[Usage] = []
    with chat_server(ServerReply(pieces=["a", "b"], usage=(12, 3))) as server:
        await replies(model_at(server), Options(on_usage=told.append))
    assert told == [Usage(requests=1, input_tokens=12, output_tokens=3)]


async def test_requests_that_are_repeated_count_where_they_cost() -> None:
    told: list[Usage] = []
    busy, empty = ServerReply(status=503, error="busy"), ServerReply(usage=(12, 0))
    with chat_server(busy, empty, ServerReply(pieces=["a"], usage=(12, 1))) as server:
        await replies(model_at(server), Options(on_usage=told.append))
    assert [(one.requests, one.input_tokens, one.output_tokens) for one in told] == [(1, 12, 0), (1, 12, 1)]


async def test_a_server_that_tells_no_usage_and_a_reply_that_breaks_off() -> None:
    told: list[Usage] = []
    with chat_server(FINE, ServerReply(pieces=["a"], break_off=True)) as server:
        await replies(model_at(server), Options(on_usage=told.append))
        with pytest.raises(LLMError):
            await replies(model_at(server), Options(on_usage=told.append))
    assert told == []


async def test_known_models_have_a_price_and_local_ones_none(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Usage] = []
    with chat_server(ServerReply(pieces=["a"], usage=(1_000_000, 0))) as server:
        for model, priced in (("gpt-4o-mini", True), ("gpt-4o-mini", False), ("no-such-thing", True)):
            llm = ModelLLM(name=model, model=model, base_url=server.base_url, priced=priced)
            await replies(llm, Options(on_usage=told.append))
        monkeypatch.setenv("OLLAMA_BASE_URL", server.base_url)
        ollama = llm_for("ollama:gpt-4o-mini")
        assert [piece async for piece in ollama.stream(QUESTION, Options(on_usage=told.append))]
    assert told[0].cost == pytest.approx(0.15, rel=0.5)
    assert [one.cost for one in told[1:]] == [0.0, 0.0, 0.0]


async def test_why_there_is_no_text() -> None:
    with chat_server(ServerReply(finish="length")) as server:
        with pytest.raises(LLMError, match="used up the tokens") as raised:
            await replies(model_at(server))
        assert (raised.value.retryable, len(server.requests)) == (False, 1)
        assert "more tokens" in raised.value.remedy
    with chat_server(ServerReply(finish="content_filter")) as server:
        with pytest.raises(LLMError, match="content filter"):
            await replies(model_at(server))
        assert len(server.requests) == 1


async def test_closing_a_stream_hangs_up() -> None:
    with chat_server(ServerReply(pieces=["more "], endless=True)) as server:
        async with aclosing(model_at(server).stream(QUESTION)) as pieces:
            assert await anext(pieces) == "more "
        assert await anyio.to_thread.run_sync(server.hung_up.wait, 30)


async def test_a_deadline_hangs_up() -> None:
    heard: list[str] = []
    with chat_server(ServerReply(pieces=["more "], endless=True)) as server:
        with anyio.CancelScope() as scope:
            async for piece in model_at(server).stream(QUESTION):
                heard.append(piece)
                if len(heard) == 3:
                    scope.cancel()
        assert scope.cancelled_caught
        assert await anyio.to_thread.run_sync(server.hung_up.wait, 30)
    assert len(heard) == 3
