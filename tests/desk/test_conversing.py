"""Conversations through the desk: across processes and settings, whose they are, how they are deleted."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import refdesk
from refdesk.conversations import Key, Tally
from refdesk.conversations.memory import MemoryConversations
from refdesk.desk.conversing import age
from refdesk.errors import InputError, NotFound, SettingsError
from refdesk.events import Done
from refdesk.steps import Answer, Recall, Remember, Search
from refdesk.testing import HashingEmbedder

pytestmark = pytest.mark.anyio

QUESTION = "How many days of leave do employees get?"
TALK = Recall() | Search() | Answer() | Remember(retrieval=True)


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[refdesk.Desk]:
    async with refdesk.aopen(tmp_path / "library", embedder=HashingEmbedder()) as desk:
        await desk.ingest_text("Employees get 30 days of leave per year.", source_id="leave")
        await desk.ingest_text("The kitchen closes at six.", source_id="kitchen")
        yield desk


async def ask(desk: refdesk.Desk, **options: Any) -> refdesk.Context:
    return await desk.run(TALK, QUESTION, **options)


async def test_what_is_kept_is_there_when_the_library_is_opened_again(desk: refdesk.Desk) -> None:
    context = await ask(desk, conversation="c", user="anna")
    async with refdesk.aopen(desk.settings.library, embedder=HashingEmbedder()) as again:
        [one] = await again.conversations.list(user="anna")
        assert (one.name, one.title, one.messages, one.hits) == ("c", QUESTION, 2, len(context.hits))
        question, answer = await again.conversations.show("c", user="anna")
        assert context.answer is not None
        assert (question.text, answer.text) == (QUESTION, context.answer.text)
        assert answer.answer is not None
        assert answer.answer.citations == context.answer.citations
        later = await again.run(Recall(retrieval=True) | Answer(), "And?", conversation="c", user="anna")
        assert (len(later.history), later.hits) == (2, context.hits)


async def test_every_verb_that_asks_knows_user_and_conversation(desk: refdesk.Desk) -> None:
    await desk.ask(QUESTION, pipeline=TALK, conversation="asked", user="anna")
    events = [e async for e in desk.stream(QUESTION, pipeline=TALK, conversation="streamed", user="anna")]
    assert isinstance(events[-1], Done)
    context = await desk.start(QUESTION, conversation="started", user="anna")
    await desk.run(TALK, context)
    names = [one.name for one in await desk.conversations.list(user="anna")]
    assert names == ["started", "streamed", "asked"]
    assert await desk.conversations.list() == ()


async def test_nobody_sees_or_changes_what_is_anothers(desk: refdesk.Desk) -> None:
    await ask(desk, conversation="c", user="anna")
    for other in ("", "bert", "Anna"):
        assert await desk.conversations.list(user=other) == ()
        assert await desk.conversations.count(user=other) == Tally()
        with pytest.raises(NotFound) as shown:
            await desk.conversations.show("c", user=other)
        with pytest.raises(NotFound) as deleted:
            await desk.conversations.delete("c", user=other)
        with pytest.raises(NotFound) as missing:
            await desk.conversations.show("c", user="nobody")
        assert str(shown.value) == str(missing.value) == str(deleted.value)
        assert (await ask(desk, conversation="c", user=other)).history == ()
        await desk.conversations.purge(user=other)
    assert len(await desk.conversations.show("c", user="anna")) == 2
    assert [one.user for one in await desk.conversations.list(everyone=True)] == ["anna"]


async def test_what_was_hidden_since_is_not_recalled(desk: refdesk.Desk) -> None:
    who: dict[str, Any] = {"conversation": "c", "user": "anna", "principals": ("anna", "staff")}
    text = "Salaries of zebras are paid in March."
    await desk.ingest_text(text, source_id="salaries", acl=("staff",))
    first = await desk.run(TALK, "When are salaries of zebras paid?", **who)
    assert "salaries" in {hit.source_id for hit in first.hits}
    again = Recall(retrieval=True) | Answer()
    assert "salaries" in {hit.source_id for hit in (await desk.run(again, "And?", **who)).hits}
    left = await desk.run(again, "And?", **{**who, "principals": ("anna",)})
    assert "salaries" not in {hit.source_id for hit in left.hits}
    assert "1 of 3 kept passages are left out" in left.warnings[0]
    await desk.ingest_text(text, source_id="salaries", acl=("board",))
    revoked = await desk.run(again, "And?", **who)
    assert "salaries" not in {hit.source_id for hit in revoked.hits}
    assert text not in repr(revoked.results)


async def test_who_asks_by_name_has_conversations_of_their_own(desk: refdesk.Desk) -> None:
    """Else the next one who names the conversation would read what was answered from hidden documents."""
    with pytest.raises(InputError, match="of nobody, and is asked as anna, staff"):
        await ask(desk, conversation="c", principals=("anna", "staff"))
    by_hand = refdesk.Context(question=QUESTION, conversation="c", principals=("anna",))
    passed = await desk.run(TALK, by_hand)
    assert [one.split(":")[0] for one in passed.warnings] == ["recall", "remember"]
    assert await desk.conversations.list(everyone=True) == ()
    assert (await ask(desk, conversation="c", user="anna", principals=("anna", "staff"))).warnings == ()


async def test_deleting_and_purging(desk: refdesk.Desk) -> None:
    for name in ("a", "b", "c"):
        await ask(desk, conversation=name, user="anna")
    hits = (await desk.conversations.list(user="anna"))[0].hits
    assert await desk.conversations.delete("a", user="anna") == Tally(conversations=1, messages=2, hits=hits)
    with pytest.raises(NotFound):
        await desk.conversations.delete("a", user="anna")
    assert await desk.conversations.purge(older_than="1h") == Tally()
    assert (await desk.conversations.purge(user="bert", older_than="0d")).conversations == 0
    assert (await desk.conversations.purge(user="anna", older_than=timedelta(0))).conversations == 2
    with pytest.raises(InputError, match="Nothing says"):
        await desk.conversations.purge()


async def test_a_page_of_messages(desk: refdesk.Desk) -> None:
    for _ in range(3):
        await ask(desk, conversation="c")
    whole = await desk.conversations.show("c")
    assert await desk.conversations.show("c", last=2) == whole[-2:]
    assert await desk.conversations.show("c", last=2, before=whole[-2].id) == whole[2:4]
    assert await desk.conversations.show("c", before=whole[0].id) == ()
    with pytest.raises(NotFound, match="no message"):
        await desk.conversations.show("c", before="unknown")


@pytest.mark.parametrize(
    ("given", "days"),
    [
        ("30d", 30),
        ("12H", 0.5),
        (" 2 w ", 14),
        ("6m", 180),
        ("1y", 365),
        ("0d", 0),
        (timedelta(1), 1),
        ("1.5d", 1.5),
    ],
)
def test_ages(given: Any, days: float) -> None:
    assert age(given) == timedelta(days=days)


@pytest.mark.parametrize(
    "given", ["", "30", "d", "-1d", "30 days", "9" * 400 + "d", timedelta(-1), 30, None, "٣d x"]
)
def test_what_is_no_age(given: Any) -> None:
    with pytest.raises(InputError, match="The age is"):
        age(given)


@pytest.mark.parametrize(
    "bad", [{"conversation": " "}, {"conversation": 7}, {"user": None}, {"user": "x" * 501}]
)
async def test_names_are_refused_before_anything_runs(desk: refdesk.Desk, bad: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"conversation|user"):
        await ask(desk, **{"conversation": "c", **bad})
    with pytest.raises(InputError):
        await desk.conversations.list(user=None)  # type: ignore[arg-type]
    with pytest.raises(InputError):
        await desk.conversations.purge(user=7)  # type: ignore[arg-type]
    assert await desk.conversations.list(everyone=True) == ()


async def test_where_conversations_are_kept_is_a_setting(desk: refdesk.Desk) -> None:
    library = desk.settings.library
    file = Path(library) / "conversations.sqlite"
    for where, kept in (("memory", 1), ("none", 0)):
        async with refdesk.aopen(library, embedder=HashingEmbedder(), conversations=where) as other:
            context = await ask(other, conversation="c")
            assert context.warnings == ()
            assert len(await other.conversations.list()) == kept
            assert (await other.conversations.count()).conversations == kept
            assert not file.exists()
    own = MemoryConversations()
    async with refdesk.aopen(library, embedder=HashingEmbedder(), conversations=own) as other:
        await ask(other, conversation="c")
        assert len(await own.messages(Key("", "c"))) == 2
    with pytest.raises(SettingsError, match="one of auto, memory, none"):
        async with refdesk.aopen(library, conversations="disk"):
            pass


async def test_old_conversations_go_as_the_settings_say(desk: refdesk.Desk) -> None:
    await ask(desk, conversation="c")
    library = desk.settings.library
    second = 1 / 86_400
    async with refdesk.aopen(library, embedder=HashingEmbedder(), conversation_days=second / 1e4) as other:
        assert await other.conversations.list() == ()
        await ask(other, conversation="d")
    assert [one.name for one in await desk.conversations.list()] == ["d"]
    with pytest.raises(SettingsError, match="conversation_days"):
        async with refdesk.aopen(library, conversation_days=-1):
            pass


def test_the_blocking_desk_has_the_same(tmp_path: Path) -> None:
    with refdesk.open(tmp_path / "library", embedder=HashingEmbedder()) as desk:
        desk.ingest_text("Employees get 30 days of leave per year.", source_id="leave")
        desk.ask(QUESTION, pipeline=TALK, conversation="c", user="anna")
        [one] = desk.conversations.list(user="anna")
        assert len(desk.conversations.show(one.name, user="anna")) == 2
        assert desk.conversations.count(user="anna").messages == 2
        assert desk.conversations.purge(user="anna").conversations == 1
        with pytest.raises(NotFound):
            desk.conversations.delete("c", user="anna")
        kept = desk.conversations
    with pytest.raises(InputError, match="closed"):
        kept.list()
