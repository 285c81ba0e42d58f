"""The roles of docs/stores-postgres.md may do what the page says, and nothing else."""

import re
from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg import sql
from tests.stores.postgres.test_conversing import keeper_of
from tests.stores.postgres.urls import with_query

from refdesk.context import Turn
from refdesk.conversations import Key
from refdesk.documents import Scope
from refdesk.errors import NotFound, StoreError
from refdesk.stores.postgres import open_postgres
from refdesk.testing.stores.samples import COLLECTION, DIMENSION, FINGERPRINT, put, sample, vector

pytestmark = pytest.mark.anyio

PAGE = Path(__file__).parents[3] / "docs" / "stores-postgres.md"
ROLES = ("owner", "writer", "reader")


@dataclass(frozen=True)
class Roles:
    """URLs of one library for each of the roles."""

    owner: str
    writer: str
    reader: str


def blocks(prefix: str) -> list[str]:
    """Return the SQL of the page, with names of roles that only this test has."""
    found = re.findall(r"^```sql\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    return [re.sub(r"refdesk_(owner|writer|reader)", rf"{prefix}_\1", block) for block in found]


@pytest.fixture
def roles(postgres: str) -> Iterator[Roles]:
    """Give a database as the page's administrator prepares it."""
    prefix = urlsplit(postgres).path[1:]
    with psycopg.connect(postgres, autocommit=True) as administrator:
        administrator.execute(blocks(prefix)[0])
        yield Roles(*(with_query(postgres, f"user={prefix}_{role}") for role in ROLES))
        for role in ROLES:
            named = sql.Identifier(f"{prefix}_{role}")
            administrator.execute(sql.SQL("DROP OWNED BY {0} CASCADE; DROP ROLE {0}").format(named))


@pytest.fixture
async def granted(roles: Roles, postgres: str) -> Roles:
    """Give a library that its owner has made, with the grants of the page."""
    async with aclosing(await open_postgres(roles.owner)) as store:
        await store.create(COLLECTION)
    with psycopg.connect(roles.owner, autocommit=True) as owner:
        owner.execute(blocks(urlsplit(postgres).path[1:])[1])
    return roles


async def test_a_writer_does_all_that_a_store_does(granted: Roles) -> None:
    async with aclosing(await open_postgres(granted.writer, indexed_from=1)) as store:
        await put(store, sample("a", "words"), sample("b", "words"))
        await store.delete(COLLECTION, ["b"])
        await store.optimise()
        remake = await store.remake(COLLECTION, fingerprint=FINGERPRINT, dimension=DIMENSION, recipe="new")
        await remake.write([sample("a", "words")])
        assert await remake.switch()
        await put(store, sample("c", "words", collection="other"), collection="other")
        await store.drop("other")
        await store.optimise()
        assert await (await store.reader(Scope())).count() == (1, 1)


async def test_what_people_said_is_not_for_readers(granted: Roles) -> None:
    key = Key("anna", "c")
    async with aclosing(await open_postgres(granted.writer)) as store:
        await keeper_of(store.database).add(key, (Turn("user", "Between us"),))
        assert len(await keeper_of(store.database).messages(key)) == 1
    async with aclosing(await open_postgres(granted.reader)) as store:
        for call in (keeper_of(store.database).messages(key), keeper_of(store.database).everyones()):
            with pytest.raises(StoreError, match="permission denied"):
                await call


async def test_a_writer_creates_and_drops_nothing_by_itself(granted: Roles) -> None:
    with psycopg.connect(granted.writer, autocommit=True) as writer:
        for statement in (
            "CREATE TABLE refdesk.mine (key bigint)",
            "CREATE SCHEMA mine",
            "DROP TABLE refdesk.documents",
            "ALTER TABLE refdesk.meta ADD COLUMN more text",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                writer.execute(statement)


async def test_a_reader_reads_also_tables_that_were_made_since(granted: Roles) -> None:
    async with aclosing(await open_postgres(granted.writer)) as store:
        await put(store, sample("a", "words"))
    async with aclosing(await open_postgres(granted.reader, read_only=True)) as store:
        reader = await store.reader(Scope())
        assert len(await reader.keyword_search(["words"], top_k=3)) == 1
        assert len(await reader.vector_search(vector("words"), top_k=3)) == 1
        assert (await store.collection(COLLECTION)).documents == 1
        assert await store.size() > 0


async def test_a_reader_that_writes_is_told_what_it_lacks(granted: Roles) -> None:
    async with aclosing(await open_postgres(granted.reader)) as store:
        with pytest.raises(StoreError, match="permission denied") as raised:
            await store.create("more")
        assert "docs/stores-postgres.md" in raised.value.remedy
        with pytest.raises(StoreError, match="permission denied"):
            await store.optimise()


async def test_a_writer_cannot_make_a_library(roles: Roles) -> None:
    with pytest.raises(StoreError, match="permission denied") as raised:
        await open_postgres(roles.writer)
    assert "docs/stores-postgres.md" in raised.value.remedy
    with pytest.raises(StoreError, match="permission denied"):
        await open_postgres(with_query(roles.writer, "schema=another"))


async def test_a_reader_finds_nothing_before_the_owner_has_been_there(roles: Roles) -> None:
    with pytest.raises(NotFound):
        await open_postgres(roles.reader, read_only=True)


async def test_who_may_not_make_the_extension_is_told_who_may(roles: Roles, postgres: str) -> None:
    with psycopg.connect(postgres, autocommit=True) as administrator:
        administrator.execute("DROP EXTENSION vector CASCADE")
    with pytest.raises(StoreError, match="lacks the extension 'vector'") as raised:
        await open_postgres(roles.owner)
    assert "CREATE EXTENSION vector" in raised.value.remedy


async def test_functions_that_run_as_the_owner_are_not_for_everyone(granted: Roles) -> None:
    with psycopg.connect(granted.reader, autocommit=True) as reader:
        for call in ("make_chunks(1, 3)", "tend_chunks(1, 3, true)", "drop_chunks(1)"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                reader.execute(sql.SQL("SELECT refdesk." + call))
