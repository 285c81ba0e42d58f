"""The checks that every keeper of conversations has to pass."""

from functools import partial

import anyio

from refdesk.context import Turn
from refdesk.conversations import Conversations
from refdesk.errors import NotFound
from refdesk.results import Results
from refdesk.testing.rerankers import sample_hits

SAID = (
    Turn("user", "How many days of leave are granted?"),
    Turn("assistant", "Thirty days [1].\n\n```\nleave = 30\n```"),
    Turn("user", "图书馆几点开门? \U0001f4da e\u0301"),
    Turn("assistant", " At nine. "),
)


async def check_conversations(kept: Conversations) -> None:
    """Check what refdesk relies on in an empty keeper; raise `AssertionError` with a sentence if it fails."""
    await check_turns(kept)
    await check_results(kept)
    await check_apart(kept)
    await check_together(kept)


async def check_turns(kept: Conversations) -> None:
    """Check that turns come back as they were, the last ones, oldest first."""
    assert await kept.turns("never used") == (), "A conversation that was never used has turns."
    await kept.add("turns", SAID[:2])
    await kept.add("turns", (Turn("user", "  \n"), *SAID[2:]))
    found = await kept.turns("turns")
    assert isinstance(found, tuple), f"Turns are {type(found).__name__}, not a tuple."
    assert found == SAID, f"Turns came back as {found!r:.200}."
    assert await kept.turns("turns", last=3) == SAID[1:], "The last turns are not those that were asked for."
    assert await kept.turns("turns", last=0) == (), "No turns were asked for, and some came."
    assert await kept.turns("turns", last=10_000) == SAID, "More turns were asked for than there are."
    await kept.forget("turns")
    assert await kept.turns("turns") == (), "A conversation that was forgotten has turns."
    await kept.forget("never used")


async def check_results(kept: Conversations) -> None:
    """Check that results come back equal, replace those before, and are an error where there are none."""
    first = Results(question="leave", hits=sample_hits(), collection="handbook")
    second = Results(question="days", hits=(), collection="rules")
    await kept.add("results", SAID)
    assert await _nothing(kept, "results"), "Results that were never kept are no `NotFound`."
    await kept.keep("results", (first, second))
    assert await kept.found("results") == (first, second), "Results came back changed."
    await kept.keep("results", (second,))
    assert await kept.found("results") == (second,), "New results do not take the place of the old."
    await kept.keep("results", ())
    assert await _nothing(kept, "results"), "Results that were cleared are still there."
    assert await kept.turns("results") == SAID, "Keeping results changed what was said."
    await kept.keep("results", (first,))
    await kept.forget("results")
    assert await _nothing(kept, "results"), "Results outlived their conversation."


async def check_apart(kept: Conversations) -> None:
    """Check that conversations are told apart by their whole names, also when one is deleted."""
    names = ("a", "A", "a ", "a/b", "a%", "../a", "ä", "a\u0308", "x" * 500)
    for name in names:
        await kept.add(name, (Turn("user", f"I am {name!r}."),))
    for name in names:
        found = [turn.text for turn in await kept.turns(name)]
        assert found == [f"I am {name!r}."], f"The conversation {name!r:.40} has {found!r:.200}."
    await kept.forget("a")
    left = [name for name in names if await kept.turns(name)]
    assert left == list(names[1:]), "Forgetting one conversation changed another."
    for name in names:
        await kept.forget(name)


async def check_together(kept: Conversations) -> None:
    """Check that turns added at once are all kept, and that a question stays beside its answer."""

    async def say(number: int) -> None:
        await kept.add("together", (Turn("user", f"Q{number}"), Turn("assistant", f"A{number}")))

    async with anyio.create_task_group() as tasks:
        for number in range(20):
            tasks.start_soon(partial(say, number))
    found = [turn.text for turn in await kept.turns("together", last=100)]
    assert len(found) == 40, f"Of 40 turns that were added at once {len(found)} are kept."
    pairs = zip(found[::2], found[1::2], strict=True)
    assert all(question[1:] == answer[1:] for question, answer in pairs), (
        "Questions and answers were mixed up."
    )
    await kept.forget("together")


async def _nothing(kept: Conversations, name: str) -> bool:
    try:
        await kept.found(name)
    except NotFound:
        return True
    return False
