"""Messages to a reply.

`LLM` is the contract. `names` reads model strings; `models` reaches providers through pydantic-ai (`exchange`
and `failures` speak its language), `local` runs llama.cpp here, `function` takes functions and plain objects.
`complete` joins a reply, `thoughts` cuts out what a model thinks first, `replies` and `asking` read JSON out
of what models say.
"""

from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from refdesk.context import Usage


@dataclass(frozen=True, slots=True)
class Message:
    role: Literal["system", "user", "assistant"]
    text: str


def ignore_usage(usage: Usage) -> None:
    """Take a usage and do nothing with it."""


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


DEFAULTS = Options()


class LLM(Protocol):
    """Stream the reply to a conversation as pieces of text. Failures are `LLMError`."""

    @property
    def name(self) -> str: ...

    def stream(
        self, messages: tuple[Message, ...], options: Options = DEFAULTS
    ) -> AsyncGenerator[str, None]: ...
