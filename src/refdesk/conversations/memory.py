"""Conversations in this process: bounded, and gone when it ends."""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from threading import Lock

from refdesk.conversations.kept import (
    Conversation,
    Forgotten,
    KeptResults,
    Key,
    Said,
    StoredMessage,
    Tally,
    title_of,
)
from refdesk.conversations.limits import (
    Clock,
    check_days,
    check_page,
    check_purge,
    cut,
    nothing_found,
    now,
    oldest,
)
from refdesk.conversations.records import cited, hits_of, messages_of, without
from refdesk.errors import InputError

CONVERSATIONS = 1000
MESSAGES = 100


@dataclass(frozen=True, slots=True)
class _Kept:
    created: datetime
    used: datetime
    messages: tuple[StoredMessage, ...] = ()
    results: tuple[KeptResults, ...] = ()

    @property
    def hits(self) -> int:
        return sum(len(one.hits) for one in self.results)


@dataclass(slots=True)
class MemoryConversations:
    """Keeps the conversations that were used last, and of each the last messages. Threads may share it."""

    max_conversations: int = CONVERSATIONS
    """How many are kept."""
    length: int = MESSAGES
    """Messages that are kept of one."""
    days: float = 0.0
    """How long one is kept that nobody adds to; 0 for ever."""
    clock: Clock = now
    _kept: OrderedDict[Key, _Kept] = field(default_factory=OrderedDict, init=False, repr=False)
    _lock: Lock = field(default_factory=Lock, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_days(self.days)
        for name in ("max_conversations", "length"):
            if (number := getattr(self, name)) < 1:
                raise InputError(
                    f"Conversations were limited by {name}={number!r}; at least 1 is allowed.",
                    remedy="Set `conversations` to `none` where nothing is to be kept.",
                )

    async def messages(
        self, key: Key, *, last: int | None = None, before: str = ""
    ) -> tuple[StoredMessage, ...]:
        with self._lock:
            known = self._read(key).messages
        if before:
            known = known[: cut([one.id for one in known], before, key.conversation)]
        return known if last is None else known[len(known) - min(max(last, 0), len(known)) :]

    async def add(self, key: Key, said: Sequence[Said]) -> tuple[StoredMessage, ...]:
        with self._lock:
            kept = self._read(key)
            at = max(self.clock(), kept.used)
            added = messages_of(said, at)
            if added:
                self._write(key, replace(kept, messages=(*kept.messages, *added)[-self.length :], used=at))
        return added

    async def found(self, key: Key) -> tuple[KeptResults, ...]:
        with self._lock:
            results = self._read(key).results
        if not results:
            raise nothing_found(key.conversation)
        return results

    async def keep(self, key: Key, results: Sequence[KeptResults]) -> None:
        with self._lock:
            kept = self._read(key)
            at = max(self.clock(), kept.used)
            self._write(key, replace(kept, results=tuple(results), used=at))

    async def conversations(
        self, user: str, *, offset: int = 0, limit: int = 100
    ) -> tuple[Conversation, ...]:
        return self._page(user, offset, limit)

    async def everyones(self, *, offset: int = 0, limit: int = 100) -> tuple[Conversation, ...]:
        return self._page(None, offset, limit)

    async def count(self, user: str | None = None) -> Tally:
        with self._lock:
            return _tally([kept for _, kept in self._of(user)])

    async def delete(self, key: Key) -> Tally:
        with self._lock:
            gone = self._kept.pop(key, None)
        return _tally([gone] if gone else [])

    async def purge(self, *, user: str | None = None, before: datetime | None = None) -> Tally:
        check_purge(user, before)
        with self._lock:
            of = [key for key, kept in self._of(user) if before is None or kept.used < before]
            return _tally([self._kept.pop(key) for key in of])

    async def forget(self, documents: Sequence[str], *, answers: bool = False) -> Forgotten:
        names, hits, found = frozenset(documents), 0, 0
        with self._lock:
            for key, kept in tuple(self._kept.items()):
                counted = hits_of(kept.results)
                hits += sum(counted[name] for name in counted.keys() & names)
                citing = {one.id for one in kept.messages if not names.isdisjoint(cited(one))}
                found += len(citing)
                left = tuple(one for one in kept.messages if not (answers and one.id in citing))
                if citing or counted.keys() & names:
                    self._write(key, replace(kept, messages=left, results=without(kept.results, names)))
        return Forgotten(hits=hits, answers=found)

    async def aclose(self) -> None:
        return None

    def _page(self, user: str | None, offset: int, limit: int) -> tuple[Conversation, ...]:
        check_page(offset, limit)
        with self._lock:
            known = [_conversation(key, kept) for key, kept in self._of(user)]
        known.sort(key=lambda one: one.used_at)
        return tuple(known[::-1][offset : offset + limit])

    def _of(self, user: str | None) -> Iterator[tuple[Key, _Kept]]:
        self._drop_old()
        return ((key, kept) for key, kept in self._kept.items() if user is None or key.user == user)

    def _read(self, key: Key) -> _Kept:
        """Return what is kept, without making room for a name that is only asked about."""
        self._drop_old()
        if key not in self._kept:
            at = self.clock()
            return _Kept(at, at)
        self._kept.move_to_end(key)
        return self._kept[key]

    def _write(self, key: Key, kept: _Kept) -> None:
        """Keep what has changed; a conversation with nothing in it is none."""
        self._kept.pop(key, None)
        if kept.messages or kept.results:
            self._kept[key] = kept
        while len(self._kept) > self.max_conversations:
            self._kept.popitem(last=False)

    def _drop_old(self) -> None:
        if since := oldest(self.days, self.clock):
            for key in [key for key, kept in self._kept.items() if kept.used < since]:
                del self._kept[key]


def _tally(gone: Sequence[_Kept]) -> Tally:
    return Tally(
        conversations=len(gone),
        messages=sum(len(one.messages) for one in gone),
        hits=sum(one.hits for one in gone),
    )


def _conversation(key: Key, kept: _Kept) -> Conversation:
    return Conversation(
        user=key.user,
        name=key.conversation,
        title=title_of(kept.messages),
        messages=len(kept.messages),
        hits=kept.hits,
        created_at=kept.created,
        used_at=kept.used,
    )
