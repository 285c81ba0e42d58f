"""Opening a library in Postgres: what is made, what is refused, and what messages say."""

from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path
from urllib.parse import urlsplit

import anyio
import psycopg
import pytest
from tests.postgres import database
from tests.stores.postgres.urls import with_query

from refdesk.documents import Scope
from refdesk.errors import InputError, NotFound, StoreError
from refdesk.stores.postgres import open_postgres
from refdesk.stores.postgres.address import read_address
from refdesk.stores.postgres.connecting import connected, one
from refdesk.stores.postgres.migrations import STEPS, Step, check, migrate, version_of
from refdesk.testing.stores.samples import COLLECTION, put, sample

pytestmark = pytest.mark.anyio

NEXT = STEPS[-1].version + 1
MORE = (*STEPS, Step(NEXT, "ALTER TABLE {schema}.collections ADD COLUMN owner text NOT NULL DEFAULT 'all'"))
BROKEN = (
    *MORE,
    Step(NEXT + 1, "CREATE TABLE {schema}.more (key bigint); CREATE TABLE {schema}.more (key text)"),
)


def run(url: str, *statements: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


async def test_an_empty_database_has_nothing_to_read(postgres: str) -> None:
    with pytest.raises(NotFound, match="There is no library in postgresql://"):
        await open_postgres(postgres, read_only=True)
    run(postgres, "CREATE SCHEMA refdesk")
    with pytest.raises(NotFound):
        await open_postgres(postgres, read_only=True)


async def test_many_may_make_the_tables_at_once(postgres: str) -> None:
    async def make(schema: str) -> None:
        async with aclosing(await open_postgres(with_query(postgres, f"schema={schema}"))) as store:
            assert await store.collections() == ()

    async with anyio.create_task_group() as tasks:
        for number in range(8):
            tasks.start_soon(make, f"library{number % 2}")


async def test_libraries_of_one_database_do_not_meet(postgres: str) -> None:
    async with (
        aclosing(await open_postgres(with_query(postgres, "schema=one"))) as one_store,
        aclosing(await open_postgres(with_query(postgres, "schema=My%20%22own%22"))) as own_store,
    ):
        await put(one_store, sample("a", "words"))
        assert await own_store.collections() == ()
        await put(own_store, sample("b", "words"))
        await own_store.optimise()
        for store, name in ((one_store, "a"), (own_store, "b")):
            (record,) = await (await store.reader(Scope())).documents()
            assert record.source_id == name


async def test_the_extension_may_be_in_any_schema(postgres: str) -> None:
    run(postgres, 'CREATE SCHEMA "exten""sions"', 'CREATE EXTENSION vector SCHEMA "exten""sions"')
    async with aclosing(await open_postgres(postgres, indexed_from=1)) as store:
        await put(store, sample("a", "words"))
        await store.optimise()
        assert (
            len(await (await store.reader(Scope())).vector_search(sample("a", "words").vectors[0], top_k=3))
            == 1
        )


async def test_names_in_public_are_not_taken_for_ours(postgres: str) -> None:
    run(postgres, "CREATE TABLE public.collections (name text)", "CREATE TABLE public.documents (key int)")
    async with aclosing(await open_postgres(postgres)) as store:
        await put(store, sample("a", "words"))
        assert await (await store.reader(Scope())).count() == (1, 1)


async def test_a_schema_of_others_is_refused(postgres: str) -> None:
    run(postgres, "CREATE SCHEMA app", "CREATE TABLE app.users (name text)")
    with pytest.raises(StoreError, match="holds 'users', which is not of refdesk"):
        await open_postgres(with_query(postgres, "schema=app"))


async def test_an_older_library_is_brought_up_to_date_with_what_it_holds(postgres: str) -> None:
    async with aclosing(await open_postgres(postgres)) as store:
        await put(store, sample("a", "words"))
    address = read_address(postgres)
    async with connected(address) as connection:
        with pytest.raises(
            StoreError, match=f"has the old format {NEXT - 1}; this refdesk reads format {NEXT}"
        ):
            await check(connection, address, MORE)
        await migrate(connection, address, MORE)
        assert await version_of(connection, address) == NEXT
        assert await one(connection, "SELECT name, owner FROM refdesk.collections") == (COLLECTION, "all")
        with pytest.raises(StoreError, match=f"has format {NEXT}; this refdesk reads format {NEXT - 1}"):
            await open_postgres(postgres)


async def test_a_library_of_the_first_format_is_opened_and_written(postgres: str) -> None:
    address = read_address(postgres)
    async with connected(address) as connection:
        await migrate(connection, address, STEPS[:1])
        await connection.execute("INSERT INTO refdesk.collections (name, description) VALUES ('old', 'Old')")
        with pytest.raises(StoreError, match="has the old format 1"):
            await open_postgres(postgres, read_only=True)
    async with aclosing(await open_postgres(postgres)) as store:
        assert (await store.collection("old")).description == "Old"
        await put(store, sample("a", "words", collection="old"), collection="old")
    async with aclosing(await open_postgres(postgres, read_only=True)) as store:
        assert await (await store.reader(Scope(("old",)))).count() == (1, 1)


async def test_a_library_of_the_second_format_keeps_its_chunks(postgres: str) -> None:
    address = read_address(postgres)
    async with aclosing(await open_postgres(postgres)) as store:
        await put(store, sample("a", "words"))
    async with connected(address) as connection:
        await connection.execute("ALTER TABLE refdesk.chunks_1 DROP strategy, DROP digest")
        await connection.execute("UPDATE refdesk.meta SET value = '2' WHERE key = 'version'")
    async with aclosing(await open_postgres(postgres)) as store:
        await put(store, sample("b", "more words"))
        assert (await store.vector_sets(COLLECTION))[0].strategies == {"": 2}
        assert await (await store.reader(Scope())).count() == (2, 2)


async def test_indexes_in_full_precision_go_and_are_made_in_half(postgres: str) -> None:
    address = read_address(postgres)
    async with aclosing(await open_postgres(postgres, indexed_from=2)) as store:
        await put(store, sample("a", "words"), sample("b", "words"))
    by_vector = "SELECT indexdef FROM pg_indexes WHERE indexname = 'chunks_1_by_vector'"
    async with connected(address) as connection:
        await connection.execute(
            "CREATE INDEX chunks_1_by_vector ON refdesk.chunks_1 USING hnsw (vector vector_ip_ops)"
        )
        await connection.execute("ALTER TABLE refdesk.chunks_1 DROP strategy, DROP digest")
        await connection.execute("UPDATE refdesk.meta SET value = '2' WHERE key = 'version'")
    async with aclosing(await open_postgres(postgres, indexed_from=2)) as store:
        async with connected(address) as connection:
            assert await one(connection, by_vector) is None
        await store.optimise()
        async with connected(address) as connection:
            assert "halfvec_ip_ops" in (await one(connection, by_vector) or ("",))[0]


async def test_a_migration_that_fails_changes_nothing(postgres: str) -> None:
    address = read_address(postgres)
    async with connected(address) as connection:
        await migrate(connection, address)
        with pytest.raises(psycopg.errors.DuplicateTable):
            await migrate(connection, address, BROKEN)
        assert await version_of(connection, address) == STEPS[-1].version
    async with aclosing(await open_postgres(postgres)) as store:
        await put(store, sample("a", "words"))


async def test_a_library_that_was_opened_to_read_takes_no_writes(postgres: str) -> None:
    async with aclosing(await open_postgres(postgres)) as store:
        await put(store, sample("a", "words"))
    async with aclosing(await open_postgres(postgres, read_only=True)) as store:
        assert await (await store.reader(Scope())).count() == (1, 1)
        for refused in (
            store.create("x"),
            store.drop(COLLECTION),
            store.delete(COLLECTION, ["a"]),
            store.optimise(),
            store.set_cursor(COLLECTION, "s", "1"),
            store.remake(COLLECTION, fingerprint="f", dimension=3, recipe="r"),
        ):
            with pytest.raises(StoreError, match="opened to read only"):
                await refused


async def test_a_closed_library_says_so(postgres: str) -> None:
    store = await open_postgres(postgres)
    await put(store, sample("a", "words"))
    reader = await store.reader(Scope())
    await store.aclose()
    await store.aclose()
    for read in (reader.count(), store.collections(), store.create("x")):
        with pytest.raises(StoreError, match="was closed"):
            await read


async def test_a_server_that_is_not_there(free_tcp_port: int) -> None:
    url = f"postgresql://ann:hush@127.0.0.1:{free_tcp_port}/desk"
    with pytest.raises(StoreError, match=f"ann@127.0.0.1:{free_tcp_port}/desk: .*refused") as raised:
        await open_postgres(url)
    assert "hush" not in f"{raised.value}{raised.value.__cause__}"
    assert "server runs" in raised.value.remedy


async def test_a_host_that_does_not_exist() -> None:
    with pytest.raises(StoreError, match=r"Cannot use the library postgresql://ann@nowhere\.invalid/desk"):
        await open_postgres("postgresql://ann:hush@nowhere.invalid/desk")


async def test_a_database_or_user_that_does_not_exist(postgres: str) -> None:
    with pytest.raises(StoreError, match='database "nowhere" does not exist') as raised:
        await open_postgres(database(postgres, "nowhere"))
    assert "createdb" in raised.value.remedy
    with pytest.raises(StoreError, match='role "nobody" does not exist') as raised:
        await open_postgres(with_query(postgres, "user=nobody"))
    assert "user" in raised.value.remedy


@pytest.fixture
def stranger(postgres: str) -> Iterator[str]:
    """Give the name of a role whose password the server asks for, where it can be told to."""
    name = f"stranger_{urlsplit(postgres).path[1:]}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        (path,) = connection.execute("SHOW hba_file").fetchone() or ("",)
        rules = Path(path)
        if not rules.is_file():
            pytest.skip("the server's pg_hba.conf is not on this machine")
        before = rules.read_text()
        rules.write_text(f"local all {name} scram-sha-256\n{before}")
        connection.execute(f"CREATE ROLE {name} LOGIN PASSWORD 'right'")
        connection.execute("SELECT pg_reload_conf()")
        yield name
        rules.write_text(before)
        connection.execute("SELECT pg_reload_conf()")
        connection.execute(f"DROP ROLE {name}")


async def test_a_wrong_password_is_named_but_not_shown(postgres: str, stranger: str) -> None:
    with pytest.raises(StoreError, match="password authentication failed") as raised:
        await open_postgres(with_query(postgres, f"user={stranger}&password=hush"))
    assert "Check user and password" in raised.value.remedy
    assert "hush" not in f"{raised.value}{raised.value.__cause__}"
    with pytest.raises(NotFound):  # the right one gets in, and finds nothing
        await open_postgres(with_query(postgres, f"user={stranger}&password=right"), read_only=True)


async def test_another_encoding_is_refused(postgres_server: str, postgres: str) -> None:
    name = f"{urlsplit(postgres).path[1:]}_ascii"
    run(postgres_server, f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE 'C'")
    try:
        with pytest.raises(StoreError, match="encoding SQL_ASCII; UTF8 is needed"):
            await open_postgres(database(postgres_server, name))
    finally:
        run(postgres_server, f"DROP DATABASE {name} WITH (FORCE)")


async def test_a_url_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(InputError):
        await open_postgres("postgresql://ann:hush@h:port/desk")
