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
        return f"function:{getattr(self.function, '__name__', type(self.function).__name__)}"

    async def stream(
        self, messages: tuple[Message, ...], options: Options = DEFAULTS
    ) -> AsyncGenerator[str, None]:
        prompt = "\n\n".join(message.text for message in messages)
        try:
            reply = await self._call(prompt)
        except LLMError:
            raise
        except Exception as error:
            raise LLMError(f"The function {self.name!r} failed: {type(error).__name__}: {error}") from error
        if not isinstance(reply, str):
            raise LLMError(
                f"The function {self.name!r} returned {type(reply).__name__}; it must return text."
            )
        yield reply

    async def _call(self, prompt: str) -> object:
        if inspect.iscoroutinefunction(self.function):
            return await self.function(prompt)
        reply = await anyio.to_thread.run_sync(self.function, prompt, abandon_on_cancel=True)
        return await reply if inspect.isawaitable(reply) else reply


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


def takes_options(llm: Any) -> bool:
    """Tell whether an object's `stream` can be given options besides messages."""
    try:
        inspect.signature(llm.stream).bind((), DEFAULTS)
    except TypeError:
        return False
    return True
