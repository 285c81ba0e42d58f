"""What was said before, and what was found for it.

`Conversations` is the contract. Implementations: `memory` (in this process, bounded).
"""

from collections.abc import Sequence
from typing import Protocol

from refdesk.context import Turn
from refdesk.results import Results

CONVERSATIONS = 1000
"""How many an implementation keeps that has to be bounded."""
TURNS = 100
"""How many turns of each."""


class Conversations(Protocol):
    """Keep conversations by name. A name that was never used is an empty conversation."""

    async def turns(self, conversation: str, *, last: int = 20) -> tuple[Turn, ...]:
        """Return the last turns, oldest first."""
        ...

    async def add(self, conversation: str, turns: Sequence[Turn]) -> None:
        """Add turns at the end; blank ones are left out."""
        ...

    async def found(self, conversation: str) -> tuple[Results, ...]:
        """Return the results that were kept last. Errors: `NotFound` where there are none."""
        ...

    async def keep(self, conversation: str, results: Sequence[Results]) -> None:
        """Keep results in place of those kept before; none clears them."""
        ...

    async def forget(self, conversation: str) -> None:
        """Delete all that is kept of a conversation."""
        ...
