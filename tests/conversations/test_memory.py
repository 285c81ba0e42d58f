"""Conversations in this process, and the suite that every keeper has to pass."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any

import pytest

from refdesk.context import Turn
from refdesk.conversations import Conversation, KeptResults, Key, Said, StoredMessage, Tally
from refdesk.conversations.memory import MemoryConversations
from refdesk.errors import InputError
from refdesk.testing.conversations import check_conversations

pytestmark = pytest.mark.anyio
FOUND = (KeptResults(question="a"),)


def turn(text: str) -> Turn:
    return Turn("user", text)


def key(name: str) -> Key:
    return Key("", name)


async def texts(keeper: MemoryConversations, name: str) -> list[str]:
    return [one.text for one in await keeper.messages(key(name))]


async def test_it_passes_the_suite() -> None:
    await check_conversations(MemoryConversations())


async def test_the_conversations_that_were_used_last_are_kept() -> None:
    keeper = MemoryConversations(max_conversations=2)
    for name in ("a", "b"):
        await keeper.add(key(name), [turn(name)])
    await keeper.messages(key("a"))
    await keeper.messages(key("never used"))
    await keeper.keep(key("c"), FOUND)
    assert [await texts(keeper, name) for name in ("a", "b", "c")] == [["a"], [], []]
    assert len(await keeper.found(key("c"))) == 1


async def test_asking_for_results_is_a_use() -> None:
    keeper = MemoryConversations(max_conversations=2)
    await keeper.keep(key("a"), FOUND)
    await keeper.add(key("b"), [turn("b")])
    await keeper.found(key("a"))
    await keeper.add(key("c"), [turn("c")])
    assert len(await keeper.found(key("a"))) == 1
    assert await texts(keeper, "b") == []


async def test_the_last_messages_are_kept() -> None:
    keeper = MemoryConversations(length=3)
    for number in range(5):
        await keeper.add(key("a"), [turn(str(number))])
    assert await texts(keeper, "a") == ["2", "3", "4"]
    await keeper.add(key("a"), [turn(str(number)) for number in range(10)])
    assert await texts(keeper, "a") == ["7", "8", "9"]


async def test_nothing_takes_no_room() -> None:
    keeper = MemoryConversations(max_conversations=1)
    await keeper.add(key("a"), [turn("a")])
    await keeper.add(key("b"), [turn(" ")])
    await keeper.keep(key("c"), ())
    assert await texts(keeper, "a") == ["a"]


async def test_what_came_back_does_not_change() -> None:
    keeper = MemoryConversations()
    await keeper.add(key("a"), [turn("1")])
    before = await keeper.messages(key("a"))
    await keeper.add(key("a"), [turn("2")])
    assert [one.text for one in before] == ["1"]


@pytest.mark.parametrize(
    "options", [{"max_conversations": 0}, {"length": 0}, {"days": -1}, {"days": float("nan")}]
)
def test_keeping_nothing_is_no_way_to_keep(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"at least 1|0 to 36500"):
        MemoryConversations(**options)


def test_threads_may_share_it() -> None:
    keeper = MemoryConversations(max_conversations=50, length=1000)

    def say(number: int) -> None:
        for place in range(100):
            asyncio.run(keeper.add(key(f"c{place % 5}"), [turn(f"{number}.{place}")]))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(say, range(8)))
    found = [asyncio.run(texts(keeper, f"c{number}")) for number in range(5)]
    assert [len(one) for one in found] == [160] * 5
    for number in range(8):
        own = [text for text in found[0] if text.startswith(f"{number}.")]
        assert own == [f"{number}.{place}" for place in range(0, 100, 5)]


class Reversing(MemoryConversations):
    async def messages(
        self, key: Key, *, last: int | None = None, before: str = ""
    ) -> tuple[StoredMessage, ...]:
        return (await super().messages(key, last=last, before=before))[::-1]


class Folding(MemoryConversations):
    """Takes names for the same that differ in case."""

    def _read(self, key: Key) -> Any:
        return super()._read(Key(key.user, key.conversation.casefold()))

    def _write(self, key: Key, kept: Any) -> None:
        super()._write(Key(key.user, key.conversation.casefold()), kept)


class Sharing(MemoryConversations):
    """Knows no users."""

    def _read(self, key: Key) -> Any:
        return super()._read(Key("", key.conversation))

    def _write(self, key: Key, kept: Any) -> None:
        super()._write(Key("", key.conversation), kept)

    async def delete(self, key: Key) -> Tally:
        return await super().delete(Key("", key.conversation))


class Showing(MemoryConversations):
    """Lists what others have."""

    async def conversations(
        self, user: str, *, offset: int = 0, limit: int = 100
    ) -> tuple[Conversation, ...]:
        return await self.everyones(offset=offset, limit=limit)


class Piling(MemoryConversations):
    async def keep(self, key: Key, results: Sequence[KeptResults]) -> None:
        old = self._kept[key].results if key in self._kept else ()
        await super().keep(key, (*old, *results))


class Hoarding(MemoryConversations):
    async def delete(self, key: Key) -> Tally:
        return Tally()


class Emptying(MemoryConversations):
    async def purge(self, *, user: str | None = None, before: datetime | None = None) -> Tally:
        return await super().purge(
            user=user, before=before or datetime.max.replace(tzinfo=self.clock().tzinfo)
        )


class Losing(MemoryConversations):
    async def add(self, key: Key, said: Sequence[Said]) -> tuple[StoredMessage, ...]:
        before = await self.messages(key)
        await asyncio.sleep(0)
        await self.delete(key)
        return (await super().add(key, (*(one.answer or one.turn for one in before), *said)))[len(before) :]


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (Reversing, "came back as"),
        (Folding, "has"),
        (Sharing, "of another conversation|reads"),
        (Showing, "is shown"),
        (Piling, "take the place"),
        (Hoarding, "deleted"),
        (Emptying, "deleted something"),
        (Losing, "is not what is kept|added at once"),
    ],
)
async def test_the_suite_finds_what_is_wrong(kind: type[MemoryConversations], said: str) -> None:
    with pytest.raises(AssertionError, match=said):
        await check_conversations(kind())
