"""Parts of a desk, each built once, when it is first needed."""

import time
from collections.abc import Awaitable, Callable
from copy import copy
from dataclasses import dataclass, field
from typing import TypeVar

import anyio

from refdesk.errors import RemoteError

T = TypeVar("T")
LEFT_ALONE = 15.0
"""Seconds for which a server is not asked again that could not be reached."""


@dataclass
class Building:
    """Builds parts into a mapping; one that is slow to build keeps up no other."""

    built: dict[str, object]
    clock: Callable[[], float] = time.monotonic
    locks: dict[str, anyio.Lock] = field(default_factory=dict)
    unreached: dict[str, tuple[float, RemoteError]] = field(default_factory=dict)
    """Parts whose server could not be reached: when, and why."""

    async def once(self, name: str, build: Callable[[], Awaitable[T]]) -> T:
        """Return a part, built where it is not there. Errors: those of `build`.

        A `RemoteError` that may pass is raised again for a while, before the server is asked anew.
        """
        if name not in self.built:
            async with self.locks.setdefault(name, anyio.Lock()):
                if name not in self.built:
                    self.built[name] = await self._made(name, build)
        return self.built[name]  # type: ignore[return-value]

    async def _made(self, name: str, build: Callable[[], Awaitable[T]]) -> T:
        when, error = self.unreached.get(name, (0.0, None))
        if error is not None and self.clock() - when < LEFT_ALONE:
            raise copy(error) from error
        try:
            return await build()
        except RemoteError as failure:
            if failure.retryable:
                self.unreached[name] = (self.clock(), failure)
            raise
