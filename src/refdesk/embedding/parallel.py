"""Several pieces of work at once, with the results in order."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import anyio

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

    try:
        async with anyio.create_task_group() as group:
            for position, item in enumerate(items):
                group.start_soon(one, position, item)
    except BaseExceptionGroup as group_error:
        error = _first(group_error)
        raise error from error.__cause__
    return [results[position] for position in range(len(items))]


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
