"""Work that tells what it does, as a stream of what it tells."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress

import anyio

from refdesk.context import Context
from refdesk.events import Event, Sink

_PATIENCE = 1.0
"""Seconds that work which was broken off may take to clean up before it is left behind."""


async def told(work: Callable[[Sink], Awaitable[Context]]) -> AsyncGenerator[Event | Context, None]:
    """Give what `work` tells its sink, and at the end the context that it returns; raise what it raises.

    Closing the stream cancels the work. It runs in a task of its own, since a generator must not hold a
    cancel scope open while its consumer runs.
    """
    box: asyncio.Queue[Event | None] = asyncio.Queue()
    task = asyncio.ensure_future(work(box.put_nowait))
    task.add_done_callback(lambda _: box.put_nowait(None))
    try:
        while (event := await box.get()) is not None:
            yield event
        yield task.result()
    finally:
        task.cancel()
        with anyio.CancelScope(shield=True), suppress(asyncio.CancelledError):
            await asyncio.wait({task}, timeout=_PATIENCE)
