"""Something else in place of an answer that a model does not write."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing

import anyio

from refdesk.errors import LLMError, ModelError, RemoteError
from refdesk.events import AnswerEvent

Events = AsyncGenerator[AnswerEvent, None]
Failure = LLMError | ModelError | RemoteError
"""What fails is a language model, or the embedder that finds the sentences to quote."""
Instead = Callable[[Failure], Awaitable[Events | None]]
"""Return what is given in place of a failed answer, None for the failure itself."""


async def later(begin: Callable[[], Awaitable[Events]]) -> Events:
    """Give events that are only begun when the first is asked for, so that this may fail, too."""
    async with aclosing(await begin()) as events:
        async for event in events:
            yield event


async def or_instead(events: Events, instead: Instead, *, final: bool) -> Events:
    """Give the events of an answer, or where its model fails those of something else.

    `final` says that a reader sees each piece at once: then nothing takes the place of what has begun.
    """
    begun = False
    try:
        async with aclosing(events):
            async for event in events:
                begun = True
                yield event
        return
    except (LLMError, ModelError, RemoteError) as error:
        other = None if begun and final else await instead(error)
        if other is None:
            raise
    async with aclosing(other):
        async for event in other:
            yield event


async def begun_within(events: Events, seconds: float | None, model: str) -> Events:
    """Give events; the first has to come in time. Errors: `LLMError`."""
    async with aclosing(events):
        if seconds is not None:
            first = await _first(events, seconds, model)
            if first is None:
                return
            yield first
        async for event in events:
            yield event


async def _first(events: Events, seconds: float, model: str) -> AnswerEvent | None:
    with anyio.move_on_after(seconds):
        return await anext(events, None)
    raise LLMError(
        f"The model {model} wrote nothing within {seconds:g} seconds.",
        retryable=True,
        remedy="Allow more time, or use a faster model.",
    )
