"""Conversations in this process, and the suite that every keeper has to pass."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from refdesk.context import Turn
from refdesk.conversations.memory import MemoryConversations
from refdesk.errors import InputError
from refdesk.results import Results
from refdesk.testing.conversations import check_conversations

pytestmark = pytest.mark.anyio


def turn(text: str) -> Turn:
    return Turn("user", text)


async def texts(kept: MemoryConversations, name: str) -> list[str]:
    return [one.text for one in await kept.turns(name, last=1000)]


async def test_it_passes_the_suite() -> None:
    await check_conversations(MemoryConversations())


async def test_the_conversations_that_were_used_last_are_kept() -> None:
    kept = MemoryConversations(conversations=2)
    for name in ("a", "b"):
        await kept.add(name, [turn(name)])
    await kept.turns("a")
    await kept.turns("never used")
    await kept.keep("c", (Results(question="c", hits=()),))
    assert [await texts(kept, name) for name in ("a", "b", "c")] == [["a"], [], []]
    assert len(await kept.found("c")) == 1


async def test_asking_for_results_is_a_use() -> None:
    kept = MemoryConversations(conversations=2)
    await kept.keep("a", (Results(question="a", hits=()),))
    await kept.add("b", [turn("b")])
    await kept.found("a")
    await kept.add("c", [turn("c")])
    assert len(await kept.found("a")) == 1
    assert await texts(kept, "b") == []


async def test_the_last_turns_are_kept() -> None:
    kept = MemoryConversations(length=3)
    for number in range(5):
        await kept.add("a", [turn(str(number))])
    assert await texts(kept, "a") == ["2", "3", "4"]
    await kept.add("a", [turn(str(number)) for number in range(10)])
    assert await texts(kept, "a") == ["7", "8", "9"]


async def test_nothing_takes_no_room() -> None:
    kept = MemoryConversations(conversations=1)
    await kept.add("a", [turn("a")])
    await kept.add("b", [turn(" ")])
    await kept.keep("c", ())
    assert await texts(kept, "a") == ["a"]


async def test_what_came_back_does_not_change() -> None:
    kept = MemoryConversations()
    await kept.add("a", [turn("1")])
    before = await kept.turns("a")
    await kept.add("a", [turn("2")])
    assert [one.text for one in before] == ["1"]


@pytest.mark.parametrize("options", [{"conversations": 0}, {"length": 0}, {"conversations": -1}])
def test_keeping_nothing_is_no_way_to_keep(options: dict[str, int]) -> None:
    with pytest.raises(InputError, match="at least 1"):
        MemoryConversations(**options)


def test_threads_may_share_it() -> None:
    kept = MemoryConversations(conversations=50, length=1000)

    def say(number: int) -> None:
        for place in range(100):
            asyncio.run(kept.add(f"c{place % 5}", [turn(f"{number}.{place}")]))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(say, range(8)))
    found = [asyncio.run(texts(kept, f"c{number}")) for number in range(5)]
    assert [len(one) for one in found] == [160] * 5
    for number in range(8):
        own = [text for text in found[0] if text.startswith(f"{number}.")]
        assert own == [f"{number}.{place}" for place in range(0, 100, 5)]


class Reversing(MemoryConversations):
    async def turns(self, conversation: str, *, last: int = 20) -> tuple[Turn, ...]:
        return (await super().turns(conversation, last=last))[::-1]


class Folding(MemoryConversations):
    async def add(self, conversation: str, turns: Sequence[Turn]) -> None:
        await super().add(conversation.casefold(), turns)

    async def turns(self, conversation: str, *, last: int = 20) -> tuple[Turn, ...]:
        return await super().turns(conversation.casefold(), last=last)


class Piling(MemoryConversations):
    async def keep(self, conversation: str, results: Sequence[Results]) -> None:
        old = self._kept[conversation].results if conversation in self._kept else ()
        await super().keep(conversation, (*old, *results))


class Hoarding(MemoryConversations):
    async def forget(self, conversation: str) -> None:
        return None


class Losing(MemoryConversations):
    async def add(self, conversation: str, turns: Sequence[Turn]) -> None:
        before = await self.turns(conversation, last=1000)
        await asyncio.sleep(0)
        await self.forget(conversation)
        await super().add(conversation, (*before, *turns))


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (Reversing, "came back as"),
        (Folding, "has"),
        (Piling, "take the place"),
        (Hoarding, "forgotten"),
        (Losing, "added at once"),
    ],
)
async def test_the_suite_finds_what_is_wrong(kind: type[MemoryConversations], said: str) -> None:
    with pytest.raises(AssertionError, match=said):
        await check_conversations(kind())
