"""Several pieces of work at once, with the results in order."""

import os
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import anyio

from refdesk.errors import plain_errors

Item = TypeVar("Item")
Result = TypeVar("Result")


async def in_order(
    work: Callable[[Item], Awaitable[Result]], items: Sequence[Item], limiter: anyio.CapacityLimiter
) -> list[Result]:
    """Do the work on every item, as many at once as the limiter allows; the first error is raised alone."""
    results: dict[int, Result] = {}

    async def one(position: int, item: Item) -> None:
        async with limiter:
            results[position] = await work(item)

    with plain_errors():
        async with anyio.create_task_group() as group:
            for position, item in enumerate(items):
                group.start_soon(one, position, item)
    return [results[position] for position in range(len(items))]


def processors() -> int:
    """Count the processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
