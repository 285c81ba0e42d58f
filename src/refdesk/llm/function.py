"""A plain function as a language model."""

import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass

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
