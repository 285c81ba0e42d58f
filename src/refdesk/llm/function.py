"""A plain function, or an object that streams and takes no options, as a language model."""

import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Protocol

import anyio.to_thread

from refdesk.errors import LLMError
from refdesk.llm import DEFAULTS, Message, Options

TextFunction = Callable[[str], str | Awaitable[str]]
"""Takes the prompt, that is all messages joined by blank lines, and returns the reply."""


@dataclass(frozen=True, slots=True)
class FunctionLLM:
    """Ask a function, sync (run in a thread) or async, and give its reply in one piece."""

    function: TextFunction

    @property
    def name(self) -> str:
        return name_of(self.function)

    async def stream(
        self, messages: tuple[Message, ...], options: Options = DEFAULTS
    ) -> AsyncGenerator[str, None]:
        reply = await ask_function(self.function, "\n\n".join(message.text for message in messages))
        if not isinstance(reply, str):
            raise LLMError(
                f"The function {self.name!r} returned {type(reply).__name__}; it must return text."
            )
        yield reply


def name_of(function: Callable[..., Any]) -> str:
    """Return what a function is called as a language model."""
    return f"function:{getattr(function, '__name__', type(function).__name__)}"


async def ask_function(function: Callable[..., Any], *arguments: Any) -> object:
    """Return what a function, sync or async, returns. Errors: `LLMError`, whatever it raises."""
    try:
        if inspect.iscoroutinefunction(function):
            return await function(*arguments)
        reply = await anyio.to_thread.run_sync(function, *arguments, abandon_on_cancel=True)
        return await reply if inspect.isawaitable(reply) else reply
    except LLMError:
        raise
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        raise LLMError(f"The function {name_of(function)!r} failed: {what}") from error


def can_take(function: Callable[..., Any], *arguments: Any) -> bool:
    """Tell whether a function can be called like this; one that does not say what it takes can."""
    try:
        inspect.signature(function).bind(*arguments)
    except TypeError:
        return False
    except ValueError:
        return True
    return True


class Streaming(Protocol):
    """What a model of one's own needs at least."""

    @property
    def name(self) -> str: ...

    def stream(self, messages: tuple[Message, ...]) -> AsyncGenerator[str, None]: ...


@dataclass(frozen=True, slots=True)
class OptionlessLLM:
    """Ask an object whose `stream` takes messages alone; options are ignored."""

    llm: Streaming

    @property
    def name(self) -> str:
        return self.llm.name

    async def stream(
        self, messages: tuple[Message, ...], options: Options = DEFAULTS
    ) -> AsyncGenerator[str, None]:
        async with aclosing(self.llm.stream(messages)) as pieces:
            async for piece in pieces:
                yield piece
