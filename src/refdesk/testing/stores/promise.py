"""What a check is made of."""

from collections.abc import Awaitable, Callable, Collection, Iterator
from contextlib import contextmanager
from typing import TypeVar

from refdesk.errors import RefdeskError
from refdesk.stores import Store

T = TypeVar("T")

OpenStore = Callable[[], Awaitable[Store]]
"""Opens a new, empty store."""

Check = Callable[[OpenStore], Awaitable[None]]

Reopen = Callable[[], Awaitable[Store]]
"""Opens one and the same store, empty at first; can be pickled, since other processes call it too."""

SharedCheck = Callable[[Reopen], Awaitable[None]]


def only(found: Collection[T]) -> T:
    """Return what a sequence holds, which is one."""
    assert len(found) == 1, found
    return next(iter(found))


class Raised:
    """Holds the error that a block raised."""

    error: RefdeskError


@contextmanager
def refused(kind: type[RefdeskError]) -> Iterator[Raised]:
    """Expect a block to raise this error."""
    raised = Raised()
    try:
        yield raised
    except kind as error:
        raised.error = error
    else:
        raise AssertionError(f"expected {kind.__name__}, nothing was raised")
