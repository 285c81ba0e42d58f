"""Messages to a reply.

`LLM` is the contract. `names` reads model strings; `models` reaches providers through pydantic-ai, whose
language `exchange`, `calls`, `joined_calls` and `failures` speak; `local` runs llama.cpp here, `function`
takes functions and plain objects, `calling_function` functions that call tools. `complete` joins a reply,
`thoughts` cuts out what a model thinks first, `replies` and `asking` read JSON out of what models say.
"""

from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from refdesk.context import Usage

Calling = Literal["native", "written"]
"""How a model calls tools: in its provider's own form, or by writing JSON that a caller reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolForm:
    """A tool as a model is told of it."""

    name: str
    description: str
    parameters: Mapping[str, Any] = field(hash=False)
    """A JSON Schema of an object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A tool that a model wants to be run."""

    name: str
    arguments: str
    """JSON, as the model wrote it; it may be broken."""
    id: str = ""
    details: Any = field(default=None, compare=False, repr=False)
    """What the provider wants back with the call."""


@dataclass(frozen=True, slots=True)
class Message:
    """A part of a conversation. An assistant's may hold calls; a tool's holds the result of one."""

    role: Literal["system", "user", "assistant", "tool"]
    text: str
    calls: tuple[ToolCall, ...] = ()
    call: ToolCall | None = None
    """What a tool's message is the result of."""


def ignore_usage(usage: Usage) -> None:
    """Take a usage and do nothing with it."""


def ignore_calls(calls: tuple[ToolCall, ...]) -> None:
    """Take calls and do nothing with them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a reply is wanted. A model that cannot do one of these ignores it."""

    max_tokens: int | None = None
    """Tokens of the reply."""
    temperature: float | None = None
    json_schema: Mapping[str, Any] | None = field(default=None, hash=False)
    """A JSON Schema for servers that can hold a model to one; the prompt asks for the same in words."""
    on_usage: Callable[[Usage], None] = ignore_usage
    """Is told what each request cost, where the model tells it; a repeated request is one more."""
    tools: tuple[ToolForm, ...] = ()
    """Tools that a model with native calling may call."""
    on_calls: Callable[[tuple[ToolCall, ...]], None] = ignore_calls
    """Is told the calls of a reply, in order, when it has ended; a reply of calls alone streams no text."""


DEFAULTS = Options()


class LLM(Protocol):
    """Stream the reply to a conversation as pieces of text. Failures are `LLMError`.

    A model may have `calling: Calling`; without it, it is `written`.
    """

    @property
    def name(self) -> str: ...

    def stream(
        self, messages: tuple[Message, ...], options: Options = DEFAULTS
    ) -> AsyncGenerator[str, None]: ...


def calling_of(llm: LLM) -> Calling:
    """Return how a model calls tools."""
    return "native" if getattr(llm, "calling", "written") == "native" else "written"
