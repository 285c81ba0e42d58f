"""Conversations in this process: bounded, and gone when it ends."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock

from refdesk.context import Turn
from refdesk.conversations import CONVERSATIONS, TURNS
from refdesk.errors import InputError, NotFound
from refdesk.results import Results


@dataclass(frozen=True, slots=True)
class _Kept:
    turns: tuple[Turn, ...] = ()
    results: tuple[Results, ...] = ()


@dataclass(slots=True)
class MemoryConversations:
    """Keeps the conversations that were used last, and of each the last turns. Threads may share it."""

    conversations: int = CONVERSATIONS
    """How many are kept."""
    length: int = TURNS
    """Turns that are kept of one."""
    _kept: OrderedDict[str, _Kept] = field(default_factory=OrderedDict, init=False, repr=False)
    _lock: Lock = field(default_factory=Lock, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("conversations", "length"):
            if (number := getattr(self, name)) < 1:
                raise InputError(
                    f"Conversations were limited by {name}={number!r}; at least 1 is allowed.",
                    remedy="Leave `remember` out of the pipeline where nothing is to be kept.",
                )

    async def turns(self, conversation: str, *, last: int = 20) -> tuple[Turn, ...]:
        with self._lock:
            return self._read(conversation).turns[-last:] if last > 0 else ()

    async def add(self, conversation: str, turns: Sequence[Turn]) -> None:
        said = tuple(turn for turn in turns if turn.text.strip())
        with self._lock:
            kept = self._read(conversation)
            self._write(conversation, _Kept((*kept.turns, *said)[-self.length :], kept.results))

    async def found(self, conversation: str) -> tuple[Results, ...]:
        with self._lock:
            results = self._read(conversation).results
        if results:
            return results
        raise NotFound(
            f"Nothing that was found is kept for the conversation {conversation!r}.",
            remedy="Let `remember` keep it with `retrieval: true` first.",
        )

    async def keep(self, conversation: str, results: Sequence[Results]) -> None:
        with self._lock:
            self._write(conversation, _Kept(self._read(conversation).turns, tuple(results)))

    async def forget(self, conversation: str) -> None:
        with self._lock:
            self._kept.pop(conversation, None)

    def _read(self, conversation: str) -> _Kept:
        """Return what is kept, without making room for a name that is only asked about."""
        if conversation not in self._kept:
            return _Kept()
        self._kept.move_to_end(conversation)
        return self._kept[conversation]

    def _write(self, conversation: str, kept: _Kept) -> None:
        self._kept.pop(conversation, None)
        if kept.turns or kept.results:
            self._kept[conversation] = kept
        while len(self._kept) > self.conversations:
            self._kept.popitem(last=False)
