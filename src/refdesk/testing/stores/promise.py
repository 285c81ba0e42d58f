"""What a check is made of."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from refdesk.errors import RefdeskError
from refdesk.stores import Store

OpenStore = Callable[[], Awaitable[Store]]
"""Opens a new, empty store."""

Check = Callable[[OpenStore], Awaitable[None]]


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
