"""What was acknowledged survives the death of the writer, and nothing else is seen."""

import random
from contextlib import aclosing

import anyio
import psycopg
import pytest
from tests.stores import editions
from tests.stores.killing import kill_after, possible_states, start, stored_texts

from refdesk.documents import Scope
from refdesk.errors import StoreError
from refdesk.stores.postgres import open_postgres
from refdesk.testing.stores.samples import COLLECTION, put, sample

pytestmark = pytest.mark.anyio

ROUNDS = 4


async def test_kill_9_of_a_client_loses_nothing_that_was_acknowledged(postgres: str) -> None:
    chance, last, begun = random.Random(), 0, 1
    for _ in range(ROUNDS):
        writer, enough = start(postgres, begun), 1 + chance.randrange(2)
        last = begun - 1 + enough
        last += await anyio.to_thread.run_sync(kill_after, writer, enough, chance.random() * 0.3)
        async with aclosing(await open_postgres(postgres)) as store:
            await store.create(COLLECTION)
            assert await stored_texts(store) in possible_states(last)
            await editions.publish(store, last + 1, "s")
            assert await stored_texts(store) in possible_states(last + 1)
        begun = last + 2


async def test_two_processes_write_at_once(postgres: str) -> None:
    async with aclosing(await open_postgres(postgres)) as store:
        await store.create(COLLECTION)
        writers = {prefix: start(postgres, 1, prefix) for prefix in ("a", "b")}
        last = {
            prefix: 6 + await anyio.to_thread.run_sync(kill_after, writer, 6, 0.0)
            for prefix, writer in writers.items()
        }
        for prefix, number in last.items():
            await editions.publish(store, number + 1, prefix)
        both = {
            name: texts
            for prefix, number in last.items()
            for name, texts in editions.texts_after(number + 1, prefix).items()
        }
        assert await stored_texts(store) == both


def end_sessions(url: str, *, but: str = "") -> None:
    """Let the server end all sessions of refdesk, as when it is restarted."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


async def test_a_store_outlives_the_sessions_that_the_server_ends(postgres: str) -> None:
    async with aclosing(await open_postgres(postgres)) as store:
        await put(store, sample("a", "words"))
        reader = await store.reader(Scope())
        end_sessions(postgres)
        assert await reader.count() == (1, 1)
        end_sessions(postgres)
        await put(store, sample("b", "words"))
        assert await (await store.reader(Scope())).count() == (2, 2)


async def test_a_server_that_goes_in_the_middle_of_a_write_is_an_error_and_nothing_was_written(
    postgres: str,
) -> None:
    async with aclosing(await open_postgres(postgres)) as store:
        await put(store, sample("a", "words"))
        ended = anyio.Event()
        with psycopg.connect(postgres) as blocking:  # holds the write until its session is ended
            blocking.execute("LOCK TABLE refdesk.texts IN SHARE MODE")

            async def write() -> None:
                with pytest.raises(StoreError, match="terminating connection") as raised:
                    await put(store, sample("a", "new words"), sample("b", "words"))
                assert raised.value.remedy
                ended.set()

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(write)
                await anyio.to_thread.run_sync(end_waiting, postgres)
            assert ended.is_set()
        assert await stored_texts(store) == {"a": ["words"]}


def end_waiting(url: str) -> None:
    """End the session that waits for a table, when there is one."""
    with psycopg.connect(url, autocommit=True) as connection:
        while not connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND wait_event_type = 'Lock'"
        ).fetchall():
            pass
