"""Conversations in this process: bounded, and gone when it ends."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

from refdesk.context import Turn
from refdesk.errors import NotFound
from refdesk.results import Results


@dataclass(slots=True)
class _Kept:
    turns: list[Turn] = field(default_factory=list)
    results: tuple[Results, ...] = ()


@dataclass(slots=True)
class MemoryConversations:
    """Keeps the conversations that were used last, and of each the last turns."""

    conversations: int = 1000
    """How many are kept."""
    length: int = 100
    """Turns that are kept of one."""
    _kept: OrderedDict[str, _Kept] = field(default_factory=OrderedDict)

    async def turns(self, conversation: str, *, last: int = 20) -> tuple[Turn, ...]:
        return tuple(self._of(conversation).turns[-last:] if last > 0 else ())

    async def add(self, conversation: str, turns: Sequence[Turn]) -> None:
        kept = self._used(conversation)
        kept.turns = [*kept.turns, *(turn for turn in turns if turn.text.strip())][-self.length :]

    async def found(self, conversation: str) -> tuple[Results, ...]:
        if results := self._of(conversation).results:
            return results
        raise NotFound(
            f"Nothing that was found is kept for the conversation {conversation!r}.",
            remedy="Let `remember` keep it with `retrieval: true` first.",
        )

    async def keep(self, conversation: str, results: Sequence[Results]) -> None:
        self._used(conversation).results = tuple(results)

    async def forget(self, conversation: str) -> None:
        self._kept.pop(conversation, None)

    def _of(self, conversation: str) -> _Kept:
        """Return what is kept, without making room for a name that is only asked about."""
        return self._used(conversation) if conversation in self._kept else _Kept()

    def _used(self, conversation: str) -> _Kept:
        kept = self._kept.setdefault(conversation, _Kept())
        self._kept.move_to_end(conversation)
        while len(self._kept) > self.conversations:
            self._kept.popitem(last=False)
        return kept
