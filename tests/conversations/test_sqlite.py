"""Conversations in a file: what it holds, how long, and what happens when something is wrong with it."""

import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from refdesk.context import Answer, Turn
from refdesk.conversations import Key, Tally
from refdesk.conversations.memory import MemoryConversations
from refdesk.conversations.sqlite import SQLiteConversations
from refdesk.errors import InputError, NotFound, StoreError
from refdesk.testing.conversations import KEY, check_conversations
from refdesk.testing.said import SAID, sample_answer, sample_results

pytestmark = pytest.mark.anyio
START = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.at = START

    def __call__(self) -> datetime:
        return self.at


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "library" / "conversations.sqlite"


async def test_it_passes_the_suite(path: Path) -> None:
    await check_conversations(SQLiteConversations(path))


async def test_reading_makes_no_file(path: Path) -> None:
    keeper = SQLiteConversations(path)
    assert await keeper.messages(KEY) == ()
    assert await keeper.everyones() == ()
    assert await keeper.count() == await keeper.delete(KEY) == await keeper.purge(user="x") == Tally()
    assert await keeper.add(KEY, (Turn("user", " "),)) == ()
    with pytest.raises(NotFound):
        await keeper.messages(KEY, before="x")
    with pytest.raises(NotFound):
        await keeper.found(KEY)
    assert (await keeper.forget(["x"])).hits == 0
    assert not path.parent.exists()


async def test_what_is_kept_is_there_for_the_next_one(path: Path) -> None:
    added = await SQLiteConversations(path).add(KEY, (SAID[0], sample_answer()))
    await SQLiteConversations(path).keep(KEY, (sample_results(),))
    again = SQLiteConversations(path)
    assert await again.messages(KEY) == added
    assert await again.found(KEY) == (sample_results(),)


async def test_what_was_deleted_is_in_no_file(path: Path) -> None:
    keeper = SQLiteConversations(path)
    for number in range(200):
        text = f"{number} Geheimnis {'x' * 300}"
        answer = Answer(question="q", text=text)
        await keeper.add(Key("anna", f"c{number % 3}"), (Turn("user", text), answer))
    await keeper.add(Key("bert", "c"), (Turn("user", "Bleibt"),))
    assert b"Geheimnis" in held(path)
    gone = await keeper.purge(user="anna")
    assert gone == Tally(conversations=3, messages=400)
    assert b"Geheimnis" not in held(path)
    assert b"Bleibt" in held(path)


def held(path: Path) -> bytes:
    """Return the bytes of all files that are kept."""
    return b"".join(one.read_bytes() for one in sorted(path.parent.iterdir()))


async def test_many_messages_are_kept_and_read_in_parts(path: Path) -> None:
    keeper = SQLiteConversations(path)
    await keeper.add(KEY, [Turn("user" if at % 2 == 0 else "assistant", f"turn {at}") for at in range(9_998)])
    await keeper.add(KEY, (Turn("user", "last question"), Turn("assistant", "last answer")))
    assert [one.text for one in await keeper.messages(KEY, last=2)] == ["last question", "last answer"]
    assert (await keeper.conversations(KEY.user))[0].messages == 10_000
    seen, before = 0, ""
    while page := await keeper.messages(KEY, last=3_000, before=before):
        seen, before = seen + len(page), page[0].id
    assert seen == 10_000
    assert (await keeper.delete(KEY)).messages == 10_000


async def test_old_conversations_are_not_shown_and_go_with_the_next_word(path: Path) -> None:
    clock = Clock()
    keeper = SQLiteConversations(path, days=30, clock=clock)
    for name in ("old", "young"):
        await keeper.add(Key("", name), SAID[:1])
        clock.at += timedelta(days=20)
    clock.at = START + timedelta(days=30)
    assert len(await keeper.everyones()) == 2, "30 days are not over"
    clock.at += timedelta(seconds=1)
    assert [one.name for one in await keeper.conversations("")] == ["young"]
    assert await keeper.messages(Key("", "old")) == ()
    assert (await keeper.count()).conversations == 1
    forever = SQLiteConversations(path)
    assert (await forever.count()).conversations == 2, "it is still in the file"
    await keeper.add(Key("", "young"), SAID[:1])
    assert (await forever.count()).conversations == 1
    await keeper.add(Key("", "old"), SAID[1:2])
    assert [one.text for one in await keeper.messages(Key("", "old"))] == [SAID[1].text], "it begins anew"


async def test_asking_for_nothing_to_be_kept_is_no_use(path: Path) -> None:
    clock = Clock()
    keeper = SQLiteConversations(path, clock=clock)
    await keeper.add(KEY, SAID[:1])
    clock.at += timedelta(days=1)
    await keeper.messages(KEY)
    await keeper.conversations(KEY.user)
    assert (await keeper.conversations(KEY.user))[0].used_at == START


@pytest.mark.parametrize("kind", ["file", "memory"])
async def test_a_clock_that_is_turned_back_keeps_the_order(path: Path, kind: str) -> None:
    clock = Clock()
    keeper = SQLiteConversations(path, clock=clock) if kind == "file" else MemoryConversations(clock=clock)
    await keeper.add(KEY, SAID[:1])
    clock.at -= timedelta(hours=1)
    await keeper.add(KEY, SAID[1:2])
    clock.at += timedelta(hours=3)
    await keeper.add(KEY, SAID[2:3])
    found = await keeper.messages(KEY)
    assert tuple(one.turn for one in found) == SAID[:3]
    assert [one.at - START for one in found] == [timedelta(0), timedelta(0), timedelta(hours=2)]


async def test_a_clock_far_from_now(path: Path) -> None:
    clock = Clock()
    keeper = SQLiteConversations(path, clock=clock)
    for year in (1, 1969, 9999):
        clock.at = datetime(year, 12, 31, tzinfo=UTC)
        await keeper.add(Key("", str(year)), SAID[:1])
    assert [one.used_at.year for one in await keeper.everyones()] == [9999, 1969, 1]


TEXT = st.text(st.characters(exclude_categories=()), max_size=20)
"""Halves of pairs included."""
NAME = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(said=st.lists(st.tuples(NAME, NAME.filter(str.strip), TEXT), max_size=8))
def test_whatever_is_said_comes_back(tmp_path: Path, said: list[tuple[str, str, str]]) -> None:
    """Whatever the names and texts, the file says what a dictionary says."""
    path = tmp_path / "any.sqlite"
    path.unlink(missing_ok=True)
    want: dict[Key, list[str]] = {}

    async def check() -> None:
        keeper = SQLiteConversations(path)
        for user, name, text in said:
            await keeper.add(Key(user, name), (Turn("user", text),))
            if text.strip():
                want.setdefault(Key(user, name), []).append(text)
        for key in {Key(user, name) for user, name, _ in said}:
            assert [one.text for one in await keeper.messages(key)] == want.get(key, [])
        assert await keeper.count() == Tally(
            conversations=len(want), messages=sum(len(one) for one in want.values())
        )
        for key in want:
            await keeper.purge(user=key.user)
        assert await keeper.count() == Tally()

    anyio.run(check)


@pytest.mark.parametrize("name", ["", " ", "\n", "x" * 501, "a\0b", "a\ud83d", None, 7, b"a"])
def test_names_that_cannot_be_used(name: object) -> None:
    with pytest.raises(InputError, match="conversation"):
        Key("", name)  # type: ignore[arg-type]
    if name not in ("", " ", "\n"):
        with pytest.raises(InputError, match="name of the user"):
            Key(name, "c")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"no database " * 100, "damaged|not a database"),
        (None, "no file of conversations"),
        ("new", "format 2"),
    ],
)
def test_a_file_of_something_else_is_left_alone(path: Path, content: object, said: str) -> None:
    path.parent.mkdir()
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        with sqlite3.connect(path) as other:
            other.execute("CREATE TABLE mine (x)")
            if content == "new":
                other.execute(f"PRAGMA application_id = {0x72646376}")
                other.execute("PRAGMA user_version = 2")
        other.close()
    before = path.read_bytes()
    keeper = SQLiteConversations(path)
    for call in (lambda: keeper.messages(KEY), lambda: keeper.add(KEY, SAID)):
        with pytest.raises(StoreError, match=said):
            anyio.run(call)
    assert path.read_bytes()[100:] == before[100:]


def test_an_empty_file_is_filled(path: Path) -> None:
    path.parent.mkdir()
    path.touch()
    keeper = SQLiteConversations(path)

    async def fill() -> None:
        assert await keeper.messages(KEY) == ()
        await keeper.add(KEY, SAID)
        assert len(await keeper.messages(KEY)) == 4

    anyio.run(fill)


async def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(StoreError, match="Cannot use the conversations"):
        await SQLiteConversations(tmp_path / "taken" / "conversations.sqlite").add(KEY, SAID)


async def test_a_damaged_row_is_an_error_that_says_so(path: Path) -> None:
    keeper = SQLiteConversations(path)
    await keeper.add(KEY, (SAID[0], sample_answer()))
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE messages SET answer = '{\"text\": 5}' WHERE answer IS NOT NULL")
    connection.close()
    with pytest.raises(StoreError, match="cannot be read"):
        await keeper.messages(KEY)
    assert (await keeper.delete(KEY)).messages == 2, "it can still be deleted"


async def test_a_full_disk_loses_nothing(path: Path) -> None:
    keeper = SQLiteConversations(path)
    await keeper.add(KEY, SAID)
    before = await keeper.messages(KEY)
    with sqlite3.connect(path) as connection:  # as when the file may not grow: a trigger that fails
        connection.execute(
            "CREATE TRIGGER full BEFORE INSERT ON messages WHEN NEW.role = 'assistant'"
            " BEGIN SELECT RAISE(ABORT, 'disk'); END"
        )
    connection.close()
    with pytest.raises(StoreError):
        await keeper.add(KEY, (Turn("user", "kept?"), Turn("assistant", "no")))
    assert await keeper.messages(KEY) == before, "all of what is added, or nothing"


async def test_readers_do_not_wait_for_a_writer(path: Path) -> None:
    keeper = SQLiteConversations(path)
    await keeper.add(KEY, SAID)
    writer = sqlite3.connect(path, isolation_level=None)
    try:
        writer.execute("BEGIN IMMEDIATE")
        assert len(await keeper.messages(KEY)) == 4
        writer.execute("ROLLBACK")
    finally:
        writer.close()
