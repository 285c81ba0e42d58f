"""Conversations in the database of a library."""

import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import anyio
import psycopg
import pytest
from tests.stores.postgres.written import database

import refdesk
from refdesk.context import Turn
from refdesk.conversations import Key
from refdesk.errors import NotFound
from refdesk.steps import Answer, Recall, Remember, Search
from refdesk.stores.postgres.connecting import Database
from refdesk.stores.postgres.conversing import PostgresConversations
from refdesk.testing import HashingEmbedder
from refdesk.testing.conversations import check_conversations
from refdesk.testing.said import SAID

pytestmark = pytest.mark.anyio

TALK = Recall() | Search() | Answer() | Remember(retrieval=True)
ADDING = """
import sys
import anyio
from refdesk.context import Answer, Turn
from refdesk.conversations import Key
from refdesk.stores.postgres import open_postgres
from refdesk.stores.postgres.conversing import PostgresConversations

async def main(url, who, rounds):
    store = await open_postgres(url)
    async def database():
        return store.database
    keeper = PostgresConversations(database)
    for number in range(int(rounds)):
        name = f"{who}.{number}"
        await keeper.add(Key("", "shared"), (Turn("user", name), Answer(question=name, text=name)))
        print(name, flush=True)
    await store.aclose()

anyio.run(main, *sys.argv[1:])
"""


@pytest.fixture
async def library(postgres: str) -> AsyncIterator[Database]:
    async with database(postgres) as opened:
        yield opened


def keeper_of(library: Database, **options: object) -> PostgresConversations:
    async def opened() -> Database:
        return library

    return PostgresConversations(opened, **options)  # type: ignore[arg-type]


async def test_it_passes_the_suite(library: Database) -> None:
    await check_conversations(keeper_of(library))


async def test_a_desk_keeps_conversations_in_the_database(postgres: str) -> None:
    async with refdesk.aopen(postgres, embedder=HashingEmbedder()) as desk:
        await desk.ingest_text("Employees get 30 days of leave per year.", source_id="leave")
        context = await desk.run(TALK, "How many days of leave?", conversation="c", user="anna")
        assert context.warnings == ()
    async with refdesk.aopen(postgres, embedder=HashingEmbedder()) as desk:
        [one] = await desk.conversations.list(user="anna")
        assert (one.messages, one.hits) == (2, 1)
        again = await desk.run(Recall(retrieval=True) | Answer(), "And?", conversation="c", user="anna")
        assert again.hits == context.hits
        assert (await desk.delete("leave")).kept_hits == 1
        with pytest.raises(NotFound):
            await desk.services.conversations.found(Key("anna", "c"))
    with psycopg.connect(postgres) as connection:
        [(count,)] = connection.execute("SELECT count(*) FROM refdesk.conversation_messages").fetchall()
        assert count == 2


async def test_long_names_fit_into_the_index(library: Database) -> None:
    keeper = keeper_of(library)
    names = [Key("\U0001f4da" * 500, "\U0001f4da" * 499 + last) for last in "ab"]
    for key in names:
        await keeper.add(key, (Turn("user", key.conversation[-1]),))
    assert [[one.text for one in await keeper.messages(key)] for key in names] == [["a"], ["b"]]
    assert len(await keeper.conversations(names[0].user)) == 2


async def test_old_conversations_go(library: Database) -> None:
    at = datetime(2026, 3, 1, tzinfo=UTC)
    await keeper_of(library, clock=lambda: at).add(Key("", "old"), SAID[:1])
    later = keeper_of(library, days=30, clock=lambda: at + timedelta(days=31))
    assert await later.messages(Key("", "old")) == ()
    assert (await later.count()).conversations == 0
    assert (await keeper_of(library).count()).conversations == 1
    await later.add(Key("", "new"), SAID[:1])
    assert [one.name for one in await keeper_of(library).everyones()] == ["new"]


async def test_adding_purging_and_forgetting_at_once(library: Database) -> None:
    keeper = keeper_of(library, days=365)

    async def add(number: int) -> None:
        await keeper.add(Key("stays", f"c{number % 3}"), (Turn("user", f"{number}"),))

    async with anyio.create_task_group() as tasks:
        for number in range(30):
            tasks.start_soon(add, number)
            tasks.start_soon(lambda: keeper.purge(user="goes"))
            tasks.start_soon(lambda: keeper.forget(["document"], answers=True))
    assert (await keeper.count()).messages == 30


def adding(url: str, who: str) -> "subprocess.Popen[str]":
    words = [sys.executable, "-c", ADDING, url, who, "100000"]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


async def test_what_was_acknowledged_outlives_its_process(postgres: str, library: Database) -> None:
    running = [adding(postgres, f"p{who}") for who in range(2)]
    acknowledged = []
    for one in running:
        assert one.stdout
        acknowledged += [one.stdout.readline().strip() for _ in range(5)]
    for one in running:
        one.kill()
        rest, _ = one.communicate()
        acknowledged += rest.split("\n")[:-1]
    said = [one.text for one in await keeper_of(library).messages(Key("", "shared"))]
    assert said[::2] == said[1::2], "each question has its answer after it"
    assert set(acknowledged) <= set(said[::2])
    assert set(Counter(said).values()) == {2}
