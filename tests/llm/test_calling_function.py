"""Functions that are given tools, as language models that call them."""

import json
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest

from refdesk.context import Usage
from refdesk.errors import InputError, LLMError
from refdesk.llm import Message, Options, ToolCall, ToolForm, calling_of
from refdesk.llm.calling_function import CallingFunctionLLM
from refdesk.llm.function import FunctionLLM
from refdesk.llm.names import llm_for

pytestmark = pytest.mark.anyio
QUESTION = (Message("system", "Use the tools."), Message("user", "How many days?"))
SEARCH = ToolForm(name="search", description="Search.", parameters={"type": "object", "properties": {}})
CALL = ToolCall(name="search", arguments='{"query": "leave"}', id="x1")


async def asked(function: Any, *tools: ToolForm) -> tuple[str, list[ToolCall]]:
    """Return the text and the calls of a function's reply."""
    told: list[tuple[ToolCall, ...]] = []
    options = Options(tools=tools or (SEARCH,), on_calls=told.append)
    text = "".join([piece async for piece in llm_for(function).stream(QUESTION, options)])
    return text, [call for calls in told for call in calls]


def saying(said: object) -> Any:
    return lambda messages, tools, options: said


@dataclass
class Asked:
    """A function with a memory."""

    given: list[tuple[object, ...]] = field(default_factory=list)

    async def __call__(self, messages: object, tools: object, options: Options) -> str:
        self.given.append((messages, tools, options.max_tokens))
        options.on_usage(Usage(requests=1, input_tokens=7, output_tokens=2))
        return "Thirty."


async def test_it_is_given_messages_tools_and_options() -> None:
    function, usages = Asked(), list[Usage]()
    llm = llm_for(function)
    options = Options(max_tokens=9, tools=(SEARCH,), on_usage=usages.append)
    assert [piece async for piece in llm.stream(QUESTION, options)] == ["Thirty."]
    assert function.given == [(QUESTION, (SEARCH,), 9)]
    assert usages == [Usage(requests=1, input_tokens=7, output_tokens=2)]
    assert llm.name == "function:Asked"
    assert calling_of(llm) == "native"


OPENAI = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {"id": "x1", "type": "function", "function": {"name": "search", "arguments": CALL.arguments}}
    ],
}
ONE_CALL = [
    CALL,
    [CALL],
    (CALL,),
    {"name": "search", "arguments": {"query": "leave"}, "id": "x1"},
    {"name": "search", "arguments": '{"query": "leave"}', "id": "x1"},
    [{"name": "search", "arguments": {"query": "leave"}, "id": "x1"}],
    {"tool_calls": [CALL]},
    {"text": "", "tool_calls": [{"name": "search", "arguments": {"query": "leave"}, "id": "x1"}]},
    OPENAI,
]


@pytest.mark.parametrize("said", ONE_CALL)
async def test_the_forms_of_a_call(said: object) -> None:
    text, [call] = await asked(saying(said))
    assert text == ""
    assert (call.name, json.loads(call.arguments), call.id) == ("search", {"query": "leave"}, "x1")


@pytest.mark.parametrize("said", ["Thirty.", {"text": "Thirty."}, {"content": "Thirty.", "tool_calls": None}])
async def test_the_forms_of_a_text(said: object) -> None:
    assert await asked(saying(said)) == ("Thirty.", [])


async def test_text_and_several_calls_with_ids_of_their_own() -> None:
    bare = {"name": "search"}
    text, calls = await asked(saying({"text": "Let me look.", "tool_calls": [bare, CALL, CALL, bare]}))
    assert text == "Let me look."
    assert len({call.id for call in calls} - {""}) == 4
    assert [call.arguments for call in calls] == ["{}", CALL.arguments, CALL.arguments, "{}"]


async def test_broken_arguments_stay_for_the_caller() -> None:
    _, [call] = await asked(saying({"name": "search", "arguments": '{"query": "unf'}))
    assert call.arguments == '{"query": "unf'


WRONG = [
    (None, "NoneType"),
    (3, "int"),
    ({}, "nothing"),
    ({"answer": "x"}, "'answer'"),
    ({"name": ""}, "without a name"),
    ({"function": "search"}, "without a name"),
    ({"text": 3}, "int"),
    ({"tool_calls": "search"}, "str"),
    ([3], "int"),
    ({"name": "search", "arguments": ["leave"]}, "list"),
    ({"name": "search", "arguments": {"query": {1}}}, "set"),
]


@pytest.mark.parametrize(("said", "named"), WRONG)
async def test_what_a_function_may_not_return(said: object, named: str) -> None:
    with pytest.raises(LLMError, match=named) as raised:
        await asked(saying(said))
    assert "ToolCall" in str(raised.value)
    assert not raised.value.retryable


@pytest.mark.parametrize("said", ["", [], {"text": ""}, {"tool_calls": []}])
async def test_nothing_is_no_reply(said: object) -> None:
    with pytest.raises(LLMError, match="no text"):
        await asked(saying(said))


async def test_calls_where_no_tools_were_given_are_no_reply() -> None:
    async def model(messages: object, tools: object, options: object) -> object:
        return [CALL]

    with pytest.raises(LLMError, match="called search, and this request offers no tools"):
        assert [piece async for piece in llm_for(model).stream(QUESTION)]


async def test_what_a_function_raises() -> None:
    def busy(messages: object, tools: object, options: object) -> str:
        raise LLMError("The gateway is busy.", retryable=True)

    def broken(messages: object, tools: object, options: object) -> str:
        raise KeyError("choices")

    with pytest.raises(LLMError, match="busy") as raised:
        await asked(busy)
    assert raised.value.retryable
    with pytest.raises(LLMError, match="broken' failed: KeyError"):
        await asked(broken)


async def test_how_functions_are_told_apart() -> None:
    def three(messages: object, tools: object, options: object) -> str:
        return "three"

    def extra(prompt: str, temperature: float = 0.0, seed: int = 1) -> str:
        return prompt

    async def waiting(messages: object, tools: object, options: object) -> str:
        return "three"

    for function in (three, waiting, partial(three), Asked(), lambda a, b, c=None: "three"):
        assert isinstance(llm_for(function), CallingFunctionLLM)
    prompted: list[Any] = [extra, lambda *parts: "one", str, partial(three, tools=(), options=None), print]
    for one in prompted:
        assert isinstance(llm_for(one), FunctionLLM)
    assert await asked(waiting) == await asked(three) == ("three", [])


@pytest.mark.parametrize(
    "function", [lambda: "", lambda a, b: "", lambda a, *, key: "", lambda a, b, c, d: ""]
)
def test_functions_that_take_something_else(function: Any) -> None:
    with pytest.raises(InputError, match="neither one argument nor three") as raised:
        llm_for(function)
    assert "messages, tools and options" in raised.value.remedy


async def test_a_plain_function_reads_a_conversation_with_results() -> None:
    asked = (*QUESTION, Message("assistant", "", calls=(CALL,)), Message("tool", "Found 2.", call=CALL))
    heard: list[str] = []

    def model(prompt: str) -> str:
        heard.append(prompt)
        return "Thirty."

    assert [piece async for piece in llm_for(model).stream(asked)] == ["Thirty."]
    assert heard == ["Use the tools.\n\nHow many days?\n\n\n\nFound 2."]
