"""The checks that every keeper of conversations has to pass."""

from collections.abc import Awaitable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial

import anyio

from refdesk.context import Turn
from refdesk.conversations import Conversations, KeptResults, Key, StoredMessage, Tally
from refdesk.conversations.kept import LONGEST_NAME
from refdesk.errors import InputError, NotFound
from refdesk.testing.said import SAID, sample_answer, sample_results

NAMES = (
    "a",
    "A",
    "a ",
    "a/b",
    "a%",
    "a_",
    "../a",
    "ä",
    "a\u0308",
    "'; DROP TABLE messages; --",
    "x" * LONGEST_NAME,
)
KEY = Key("anna", "work")


async def check_conversations(keeper: Conversations) -> None:
    """Check what refdesk relies on in an empty keeper; raise `AssertionError` with a sentence if it fails."""
    await check_messages(keeper)
    await check_answers(keeper)
    await check_results(keeper)
    await check_apart(keeper)
    await check_users(keeper)
    await check_lists(keeper)
    await check_purging(keeper)
    await check_forgetting(keeper)
    await check_together(keeper)
    assert await keeper.count() == Tally(), f"All was deleted, and {await keeper.count()} is left."


async def check_messages(keeper: Conversations) -> None:
    """Check that messages come back as they were, the last ones, oldest first."""
    assert await keeper.messages(KEY) == (), "A conversation that was never used has messages."
    before = datetime.now(UTC) - timedelta(minutes=5)
    first = await keeper.add(KEY, SAID[:2])
    more = await keeper.add(KEY, (Turn("user", "  \n"), *SAID[2:]))
    assert await keeper.add(KEY, (Turn("user", ""),)) == (), "A blank text was kept."
    found = await keeper.messages(KEY)
    assert isinstance(found, tuple), f"Messages are {type(found).__name__}, not a tuple."
    assert tuple(one.turn for one in found) == SAID, f"Messages came back as {found!r:.300}."
    assert found == (*first, *more), "What `add` returned is not what is kept."
    assert len({one.id for one in found}) == 4, "Messages share an id."
    times = [one.at for one in found]
    assert times == sorted(times), "A message is older than the one before it."
    assert times[0] > before, f"A message was added at {times[0]}."
    assert times[0].utcoffset() == timedelta(0), "Times are not in UTC."
    await _check_parts(keeper, found)
    await keeper.delete(KEY)
    assert await keeper.messages(KEY) == (), "A conversation that was deleted has messages."
    assert await keeper.delete(KEY) == Tally(), "A conversation was deleted twice."


async def _check_parts(keeper: Conversations, found: tuple[StoredMessage, ...]) -> None:
    assert await keeper.messages(KEY, last=3) == found[1:], "The last messages are not those asked for."
    assert await keeper.messages(KEY, last=0) == (), "No messages were asked for, and some came."
    assert await keeper.messages(KEY, last=10_000) == found, "More were asked for than there are."
    earlier = await keeper.messages(KEY, last=1, before=found[2].id)
    assert earlier == found[1:2], "Messages before another are not those before it."
    assert await keeper.messages(KEY, before=found[0].id) == (), "Something comes before the first message."
    for key, name in ((KEY, "never"), (Key("bert", "work"), found[0].id), (Key("anna", "b"), found[0].id)):
        assert await _missing(keeper.messages(key, before=name)), (
            "A message of another conversation is known."
        )


async def check_answers(keeper: Conversations) -> None:
    """Check that an answer comes back whole, but for what it was written from and how long that took."""
    answer = sample_answer()
    await keeper.add(KEY, (SAID[0], answer))
    question, message = await keeper.messages(KEY)
    assert question.answer is None, "A question has an answer in it."
    assert (message.role, message.text) == ("assistant", answer.text), "An answer's text is not its message."
    want = replace(answer, evidence=(), timings={})
    assert message.answer == want, f"An answer came back as {message.answer!r:.300}."
    assert repr(message.answer) == repr(want), "An answer came back in other types."
    await keeper.delete(KEY)


async def check_results(keeper: Conversations) -> None:
    """Check that results come back equal, replace those before, and are an error where there are none."""
    first, second = sample_results(), KeptResults(question="days", collection="rules")
    await keeper.add(KEY, SAID)
    assert await _missing(keeper.found(KEY)), "Results that were never kept are no `NotFound`."
    await keeper.keep(KEY, (first, second))
    assert await keeper.found(KEY) == (first, second), "Results came back changed."
    await keeper.keep(KEY, (second,))
    assert await keeper.found(KEY) == (second,), "New results do not take the place of the old."
    await keeper.keep(KEY, ())
    assert await _missing(keeper.found(KEY)), "Results that were cleared are still there."
    said = tuple(one.turn for one in await keeper.messages(KEY))
    assert said == SAID, "Keeping results changed what was said."
    await keeper.keep(KEY, (first,))
    gone = await keeper.delete(KEY)
    assert gone == Tally(conversations=1, messages=4, hits=len(first.hits)), (
        f"It says to have deleted {gone}."
    )
    assert await _missing(keeper.found(KEY)), "Results outlived their conversation."
    await keeper.keep(KEY, ())
    assert await keeper.conversations("anna") == (), "Keeping nothing made a conversation."


async def check_apart(keeper: Conversations) -> None:
    """Check that conversations are told apart by their whole names, also when one is deleted."""
    for name in NAMES:
        await keeper.add(Key("", name), (Turn("user", f"I am {name!r}."),))
    for name in NAMES:
        found = [one.text for one in await keeper.messages(Key("", name))]
        assert found == [f"I am {name!r}."], f"The conversation {name!r:.40} has {found!r:.200}."
    await keeper.delete(Key("", "a"))
    left = [name for name in NAMES if await keeper.messages(Key("", name))]
    assert left == list(NAMES[1:]), "Deleting one conversation changed another."
    for name in NAMES:
        await keeper.delete(Key("", name))


async def check_users(keeper: Conversations) -> None:
    """Check that nobody reads or changes what belongs to another user."""
    keys = [Key(user, "work") for user in ("", *NAMES)]
    for key in keys:
        await keeper.add(key, (Turn("user", f"I am {key.user!r}."),))
        await keeper.keep(key, (KeptResults(question=key.user),))
    for key in keys:
        said = [one.text for one in await keeper.messages(key)]
        assert said == [f"I am {key.user!r}."], f"The user {key.user!r:.40} reads {said!r:.200}."
        assert [one.question for one in await keeper.found(key)] == [key.user], (
            "Results of another were found."
        )
        listed = [(one.user, one.name) for one in await keeper.conversations(key.user)]
        assert listed == [(key.user, "work")], f"The user {key.user!r:.40} is shown {listed!r:.200}."
        assert (await keeper.count(key.user)).conversations == 1, "What others have is counted as one's own."
    await keeper.keep(keys[1], ())
    await keeper.purge(user=keys[0].user)
    await keeper.delete(keys[2])
    left = [key for key in keys if await keeper.messages(key)]
    assert left == [keys[1], *keys[3:]], "Deleting what one user has changed what another has."
    assert len(await keeper.found(keys[3])) == 1, "Clearing the results of one user cleared those of another."
    for key in keys:
        await keeper.purge(user=key.user)


async def check_lists(keeper: Conversations) -> None:
    """Check that conversations are listed in pages, the one used last first, with what is in them."""
    for number in range(5):
        await keeper.add(Key("anna", f"c{number}"), (Turn("user", f"  Question\n {number} {'x' * 200}"),))
    await keeper.add(Key("anna", "c1"), SAID)
    await keeper.keep(Key("anna", "c1"), (sample_results(),))
    await keeper.add(Key("bert", "c1"), SAID[:1])
    listed = await keeper.conversations("anna")
    assert [one.name for one in listed] == ["c1", "c4", "c3", "c2", "c0"], "The one used last is not first."
    first = listed[0]
    assert (first.user, first.messages, first.hits) == ("anna", 5, len(sample_results().hits)), (
        f"A list shows {first}."
    )
    assert first.title.startswith("Question 1 x"), f"A title is {first.title!r}."
    assert len(first.title) <= 80, "A title is no beginning."
    assert first.created_at <= first.used_at, "A conversation was used before it was begun."
    pages = [await keeper.conversations("anna", offset=at, limit=2) for at in (0, 2, 4, 6)]
    assert [one for page in pages for one in page] == list(listed), "Pages leave something out, or repeat it."
    assert [one.user for one in await keeper.everyones(limit=1)] == ["bert"], "The list of all is not of all."
    assert await keeper.count() == Tally(conversations=6, messages=10, hits=first.hits), "Counts are wrong."
    await keeper.purge(user="anna")
    assert [one.user for one in await keeper.everyones()] == ["bert"], "A purge of one user went too far."
    await keeper.purge(user="bert")


async def check_purging(keeper: Conversations) -> None:
    """Check that a purge needs to be told of what, and deletes by age what was not used since."""
    for user in ("anna", "bert"):
        await keeper.add(Key(user, "old"), SAID)
    await anyio.sleep(0.01)
    between = datetime.now(UTC)
    await anyio.sleep(0.01)
    await keeper.add(Key("anna", "new"), SAID[:2])
    try:
        await keeper.purge()
        raise AssertionError("A purge of nothing in particular deleted something.")
    except InputError:
        pass
    gone = await keeper.purge(user="anna", before=between)
    assert gone == Tally(conversations=1, messages=4), f"It says to have purged {gone}."
    assert await keeper.purge(user="nobody") == Tally(), "A user without conversations had some."
    assert [one.user for one in await keeper.everyones()] == ["anna", "bert"], "A purge went too far."
    assert (await keeper.purge(before=between)).conversations == 1, "What is old was not purged."
    assert [one.name for one in await keeper.everyones()] == ["new"], "A purge by age took what is new."
    await keeper.purge(before=datetime.now(UTC) + timedelta(days=1))


async def check_forgetting(keeper: Conversations) -> None:
    """Check that documents can be let go of, in the conversations of all users."""
    results, answer = sample_results(), sample_answer()
    name = results.hits[0].document_id
    of = sum(hit.document_id == name for hit in results.hits)
    for user in ("anna", "bert"):
        await keeper.add(Key(user, "work"), (SAID[0], answer))
        await keeper.keep(Key(user, "work"), (results,))
    assert (await keeper.forget(["unknown"])).hits == 0, "A document that nobody found was found."
    gone = await keeper.forget([name, "unknown"])
    assert (gone.hits, gone.answers) == (2 * of, 2), f"It says to have forgotten {gone}."
    left = [hit.document_id for one in await _found(keeper, KEY) for hit in one.hits]
    assert left == [hit.document_id for hit in results.hits if hit.document_id != name], (
        "A hit was not let go."
    )
    assert len(await keeper.messages(KEY)) == 2, "An answer went that was to stay."
    assert (await keeper.forget([name], answers=True)).answers == 2, "Answers that cite it are not counted."
    assert [one.role for one in await keeper.messages(KEY)] == ["user"], "An answer was to go, and stayed."
    await keeper.forget([hit.document_id for hit in results.hits])
    assert await _missing(keeper.found(KEY)), "Results without any hit are left."
    for user in ("anna", "bert"):
        await keeper.purge(user=user)


async def check_together(keeper: Conversations) -> None:
    """Check that messages added at once are all kept, and that a question stays beside its answer."""

    async def say(number: int) -> None:
        await keeper.add(KEY, (Turn("user", f"Q{number}"), Turn("assistant", f"A{number}")))

    async with anyio.create_task_group() as tasks:
        for number in range(20):
            tasks.start_soon(partial(say, number))
    found = [one.text for one in await keeper.messages(KEY)]
    assert len(found) == 40, f"Of 40 messages that were added at once {len(found)} are kept."
    pairs = zip(found[::2], found[1::2], strict=True)
    assert all(question[1:] == answer[1:] for question, answer in pairs), (
        "Questions and answers were mixed up."
    )
    await keeper.delete(KEY)


async def _found(keeper: Conversations, key: Key) -> tuple[KeptResults, ...]:
    try:
        return await keeper.found(key)
    except NotFound:
        return ()


async def _missing(asked: Awaitable[object]) -> bool:
    try:
        await asked
    except NotFound:
        return True
    return False
