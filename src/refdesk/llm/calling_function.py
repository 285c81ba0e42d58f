"""A function that is given the conversation and the tools, as a language model that calls them."""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from refdesk.errors import LLMError
from refdesk.llm import DEFAULTS, Calling, Message, Options, ToolCall, ToolForm
from refdesk.llm.calls import with_ids
from refdesk.llm.function import ask_function, name_of

Said = str | ToolCall | Mapping[str, Any] | Sequence[ToolCall | Mapping[str, Any]]
"""A text; a call, as `ToolCall` or `{"name": ..., "arguments": ...}`; several calls; or both, as
`{"text": ..., "tool_calls": [...]}`."""
CallingFunction = Callable[[tuple[Message, ...], tuple[ToolForm, ...], Options], Said | Awaitable[Said]]
"""Takes messages, tools and options. It may tell its usage by `options.on_usage`."""


@dataclass(frozen=True, slots=True)
class CallingFunctionLLM:
    """Ask a function, sync (run in a thread) or async, for a text or for calls of tools.

    Calls where no tools were given are ignored.
    """

    function: CallingFunction
    calling: ClassVar[Calling] = "native"

    @property
    def name(self) -> str:
        return name_of(self.function)

    async def stream(
        self, messages: tuple[Message, ...], options: Options = DEFAULTS
    ) -> AsyncGenerator[str, None]:
        said = await ask_function(self.function, messages, options.tools, options)
        try:
            text, wanted = read_said(said)
        except (TypeError, ValueError) as error:
            raise LLMError(f"The function {self.name!r} returned {error}; {_ALLOWED}.") from error
        calls = with_ids(wanted, messages) if options.tools else ()
        if not text and not calls:
            raise LLMError(f"The function {self.name!r} {_nothing(wanted)}.")
        if text:
            yield text
        if calls:
            options.on_calls(calls)


def _nothing(wanted: Sequence[ToolCall]) -> str:
    if not wanted:
        return "returned no text and called no tool"
    called = f"called {wanted[0].name}, and this request offers no tools"
    return f"{called}: let it return text where `tools` is empty"


def read_said(said: object) -> tuple[str, list[ToolCall]]:
    """Return the text and the calls of what a function returned. Errors: `TypeError`, `ValueError`."""
    if isinstance(said, str):
        return said, []
    if isinstance(said, ToolCall):
        return "", [said]
    if isinstance(said, Mapping):
        if "name" in said or "function" in said:
            return "", [_call(said)]
        if not said.keys() & {"text", "content", "tool_calls"}:
            raise ValueError(f"a mapping with {', '.join(map(repr, said)) or 'nothing'}")
        text = said.get("text") or said.get("content") or ""
        if not isinstance(text, str):
            raise TypeError(f"a text that is {type(text).__name__}")
        return text, _calls(said.get("tool_calls") or ())
    return "", _calls(said)


def _calls(said: object) -> list[ToolCall]:
    if not isinstance(said, list | tuple):
        raise TypeError(type(said).__name__)
    return [one if isinstance(one, ToolCall) else _call(one) for one in said]


def _call(said: object) -> ToolCall:
    """Read one call; the form in which OpenAI's servers give it, with `function` inside, is one too."""
    if not isinstance(said, Mapping):
        raise TypeError(f"a call that is {type(said).__name__}")
    inner = said.get("function", said)
    name = inner.get("name") if isinstance(inner, Mapping) else None
    if not isinstance(name, str) or not name:
        raise ValueError(f"a call without a name: {said!r:.200}")
    identity = said.get("id")
    return ToolCall(
        name=name,
        arguments=_arguments(inner.get("arguments")),
        id=identity if isinstance(identity, str) else "",
    )


def _arguments(given: object) -> str:
    if given is None or given == "":
        return "{}"
    if isinstance(given, str):
        return given
    if not isinstance(given, Mapping):
        raise TypeError(f"arguments that are {type(given).__name__}")
    return json.dumps(dict(given), ensure_ascii=False)


_ALLOWED = (
    "it must return a text, a ToolCall or a mapping with name and arguments, a list of these, "
    "or a mapping with text and tool_calls"
)
