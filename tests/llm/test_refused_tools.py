"""Servers and models that take no tools, over a real local HTTP server."""

import json
from typing import Any

import pytest

from refdesk.errors import ContextTooLong, LLMError
from refdesk.llm import Message, Options, ToolCall, ToolForm, calling_of
from refdesk.llm.failures import tools_refused
from refdesk.llm.local import LocalLLM
from refdesk.llm.models import ModelLLM
from refdesk.llm.names import llm_for
from refdesk.testing.chat_server import ChatServer, ServerReply, chat_server

pytestmark = pytest.mark.anyio
QUESTION = (Message("user", "How many days?"),)
PARAMETERS = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
BOTH = tuple(ToolForm(name=name, description=name, parameters=PARAMETERS) for name in ("search", "read"))


def model_at(server: ChatServer, **changes: Any) -> ModelLLM:
    async def no_wait(seconds: float) -> None: ...

    return ModelLLM(name="openai:tiny", model="tiny", base_url=server.base_url, sleep=no_wait, **changes)


async def replies(llm: ModelLLM, options: Options) -> list[str]:
    return [piece async for piece in llm.stream(QUESTION, options)]


REFUSALS = [
    (400, "registry.ollama.ai/library/gemma3:270m does not support tools"),
    (400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
    (500, "tools param requires --jinja flag"),
    (404, "No endpoints found that support tool use. Try another model."),
    (400, "`tool calling` is not supported with this model"),
    (400, "Function calling is not enabled for models/gemma-3-27b-it"),
    (400, "Unrecognized request arguments supplied: tool_choice, tools"),
    (422, "Extra inputs are not permitted"),
    (501, "not implemented"),
]


@pytest.mark.parametrize(("status", "said"), REFUSALS)
async def test_a_refusal_of_tools_is_told_and_never_got_round(status: int, said: str) -> None:
    with chat_server(ServerReply(status=status, error=said), ServerReply(pieces=["?"])) as server:
        with pytest.raises(LLMError) as raised:
            await replies(model_at(server), Options(tools=BOTH))
        assert len(server.requests) == 1
    assert tools_refused(raised.value)
    assert not raised.value.retryable


OTHERS = [
    (401, "Incorrect API key."),
    (403, "not allowed"),
    (404, "The model `tiny` does not exist."),
    (429, "too many requests"),
    (500, "internal error"),
    (400, "This model's maximum context length is 8192 tokens."),
]


@pytest.mark.parametrize(("status", "said"), OTHERS)
async def test_other_failures_are_no_refusal_of_tools(status: int, said: str) -> None:
    with chat_server(ServerReply(status=status, error=said)) as server, pytest.raises(LLMError) as raised:
        await replies(model_at(server, attempts=1), Options(tools=BOTH))
    assert not tools_refused(raised.value)
    assert isinstance(raised.value, ContextTooLong) is ("context length" in said)


async def test_a_schema_is_given_up_before_the_tools() -> None:
    def picky(sent: dict[str, Any]) -> ServerReply:
        if "response_format" in sent:
            return ServerReply(status=400, error="response_format cannot be used with tools")
        return ServerReply(calls=[("search", {"query": str(len(sent["tools"]))})])

    called: list[ToolCall] = []
    options = Options(tools=BOTH, on_calls=called.extend, json_schema={"type": "object", "properties": {}})
    with chat_server(picky) as server:
        assert await replies(model_at(server), options) == []
        assert len(server.requests) == 2
    [call] = called
    assert json.loads(call.arguments) == {"query": "2"}


async def test_how_models_call() -> None:
    assert calling_of(llm_for("openai:gpt-5-mini")) == "native"
    assert calling_of(llm_for("anthropic:claude-haiku-4-5")) == "native"
    assert calling_of(llm_for("ollama:llama3.2")) == "native"
    assert calling_of(llm_for("local:smollm2")) == "written" == calling_of(LocalLLM(model="smollm2"))
    assert calling_of(llm_for(lambda prompt: prompt)) == "written"


async def test_a_model_that_writes_its_calls_is_sent_no_tools() -> None:
    with chat_server(ServerReply(pieces=["{}"])) as server:
        await replies(model_at(server, calling="written"), Options(tools=BOTH))
    assert "tools" not in server.requests[0]


@pytest.mark.parametrize(
    ("said", "refused"),
    [("Tools are not supported by this model.", True), ("The model tiny returned no text.", False)],
)
def test_a_library_that_refuses_before_the_server_is_asked(said: str, refused: bool) -> None:
    assert tools_refused(LLMError(f"The model tiny cannot be used: {said}")) is refused
