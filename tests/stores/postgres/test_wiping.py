"""After a wipe nothing of what was deleted is in the files of the tables, or an error says why it is."""

from contextlib import aclosing
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from tests.stores.postgres.test_roles import Roles, granted, roles

from refdesk.documents import Scope
from refdesk.errors import StoreError, StoreLocked
from refdesk.stores.postgres import open_postgres
from refdesk.testing.stores.samples import COLLECTION, DIMENSION, FINGERPRINT, put, sample, vector

pytestmark = pytest.mark.anyio

__all__ = ["granted", "roles"]

NOW = timedelta(0)
GONE, STAYS = "quagga meadow", "zebra steppe"


def holding(url: str, text: str) -> list[str]:
    """Return the files of a database that hold a text."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CHECKPOINT")
        found = connection.execute(
            "SELECT current_setting('data_directory'), oid FROM pg_database"
            " WHERE datname = current_database()"
        ).fetchone()
    assert found is not None
    folder = Path(found[0]) / "base" / str(found[1])
    if not folder.is_dir():
        pytest.skip("the server's files are not on this machine")
    return [path.name for path in folder.iterdir() if text.encode() in path.read_bytes()]


async def test_no_file_holds_what_was_deleted(postgres: str) -> None:
    async with aclosing(await open_postgres(postgres, indexed_from=2)) as store:
        await put(store, sample("a", GONE, metadata={"place": GONE}), sample("b", STAYS), sample("c", STAYS))
        await store.optimise()
        assert holding(postgres, GONE)
        await store.delete(COLLECTION, ["a"])
        await store.optimise(retention=NOW)
        assert holding(postgres, GONE) == []
        assert holding(postgres, "quagga") == [], "a token"
        assert holding(postgres, STAYS)
        reader = await store.reader(Scope())
        assert len(await reader.vector_search(vector("x"), top_k=9)) == 2
        assert len(await reader.keyword_search(["zebra"], top_k=9)) == 2


async def test_nor_the_chunks_of_a_remake_that_was_left(postgres: str) -> None:
    async with aclosing(await open_postgres(postgres)) as store:
        await put(store, sample("a", GONE), sample("b", STAYS))
        remake = await store.remake(COLLECTION, fingerprint=FINGERPRINT, dimension=DIMENSION, recipe="new")
        await remake.write([sample("a", GONE), sample("b", STAYS)])
        await store.delete(COLLECTION, ["a"])
        await store.optimise(retention=NOW)
        assert holding(postgres, GONE) == []
        assert await remake.switch()
        assert await (await store.reader(Scope())).count() == (1, 1)


async def test_who_does_not_own_the_tables_is_told_who_does(granted: Roles) -> None:
    async with aclosing(await open_postgres(granted.writer)) as store:
        await put(store, sample("a", GONE), sample("b", STAYS))
        await store.delete(COLLECTION, ["a"])
        with pytest.raises(StoreError, match=r"its tables belong to the role '\w+_owner'") as raised:
            await store.optimise(retention=NOW)
        assert "Let the owner run: refdesk collections wipe" in raised.value.remedy
    async with aclosing(await open_postgres(granted.owner)) as store:
        await store.optimise(retention=NOW)


async def test_a_transaction_that_still_sees_it_is_no_wipe(postgres: str) -> None:
    async with aclosing(await open_postgres(postgres)) as store:
        await put(store, sample("a", GONE), sample("b", STAYS))
        with psycopg.connect(postgres) as backup:
            backup.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            backup.execute("SELECT 1 FROM pg_class LIMIT 1")
            await store.delete(COLLECTION, ["a"])
            with pytest.raises(StoreError, match="another transaction, such as a backup, still sees them"):
                await store.optimise(retention=NOW)
        await store.optimise(retention=NOW)
        assert holding(postgres, GONE) == []


async def test_a_table_in_use_is_waited_for_so_long(postgres: str) -> None:
    async with aclosing(await open_postgres(postgres, wait=0.2)) as store:
        await put(store, sample("a", GONE))
        with psycopg.connect(postgres) as other:
            other.execute("LOCK TABLE refdesk.chunks_1 IN ACCESS SHARE MODE")
            with pytest.raises(StoreLocked, match="the table 'chunks_1' is in use"):
                await store.optimise(retention=NOW)
        await store.optimise(retention=NOW)


async def test_a_schema_whose_name_has_to_be_quoted(postgres: str) -> None:
    for schema in ("MyLib", "My%20Lib", "d%C3%A9partement"):
        async with aclosing(await open_postgres(f"{postgres}&schema={schema}")) as store:
            await put(store, sample("a", GONE))
            await store.delete(COLLECTION, ["a"])
            await store.optimise(retention=NOW)
            assert await store.size() > 0
    assert holding(postgres, GONE) == []
