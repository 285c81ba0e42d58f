"""One writer of a collection at a time, and what a second one is told."""

from contextlib import aclosing

import psycopg
import pytest

from refdesk.documents import Scope
from refdesk.errors import StoreLocked
from refdesk.stores.postgres import open_postgres
from refdesk.stores.postgres.connecting import lock_number
from refdesk.testing.stores.samples import COLLECTION, put, sample

pytestmark = pytest.mark.anyio


async def test_a_second_writer_waits_and_says_who_writes(postgres: str) -> None:
    async with aclosing(await open_postgres(postgres, wait=0.1)) as store:
        await put(store, sample("a", "words"))
        with psycopg.connect(postgres, application_name="nightly") as other:
            other.execute("SELECT pg_advisory_xact_lock(%s)", (lock_number("refdesk", COLLECTION),))
            with pytest.raises(
                StoreLocked, match=r"nightly on [^ ]+(?: server)? \(process \d+ there\) is writing"
            ) as raised:
                await put(store, sample("b", "words"))
            assert "pg_terminate_backend" in raised.value.remedy
            assert await (await store.reader(Scope())).count() == (1, 1)
            await put(store, sample("c", "words", collection="other"), collection="other")
        await put(store, sample("b", "words"))
        assert await (await store.reader(Scope())).count() == (2, 2)


async def test_a_table_that_others_hold_is_waited_for_only_so_long(postgres: str) -> None:
    async with aclosing(await open_postgres(postgres, wait=0.1)) as store:
        await put(store, sample("a", "words"))
        with psycopg.connect(postgres) as other:
            other.execute("LOCK TABLE refdesk.texts IN SHARE MODE")
            with pytest.raises(StoreLocked, match="lock timeout"):
                await put(store, sample("b", "words"))


def test_numbers_of_locks_stay() -> None:
    """Processes of different versions must agree on them."""
    assert lock_number("refdesk", "default") == lock_number("refdesk", "default")
    assert lock_number("refdesk", "default") != lock_number("refdeskdefault")
    assert lock_number("refdesk", "default") == 2596633189153939540
