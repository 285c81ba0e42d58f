"""What a reader sees while others write, and when it has become too old."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from tests.stores.postgres.written import database

from refdesk.documents import PUBLIC, Scope
from refdesk.errors import StoreError
from refdesk.filters import Equals
from refdesk.stores import Entry, Reader
from refdesk.stores.postgres import PostgresStore, open_postgres
from refdesk.stores.postgres import view as views
from refdesk.stores.postgres.view import Counted, open_view
from refdesk.testing.stores.samples import COLLECTION, put, sample, vector

pytestmark = pytest.mark.anyio


@pytest.fixture
async def store(postgres: str) -> AsyncIterator[PostgresStore]:
    opened = await open_postgres(postgres)
    yield opened
    await opened.aclose()


async def seen(reader: Reader) -> list[set[str]]:
    """Return the sources that each way of reading shows."""
    everything = Equals("language", "en")
    return [
        {each.source_id for each in await reader.documents()},
        {each.source_id for each in await reader.documents(filter=everything)},
        {hit.source_id for hit in await reader.vector_search(vector("x"), top_k=9)},
        {hit.source_id for hit in await reader.keyword_search(["words"], top_k=9)},
    ]


async def test_a_right_that_is_taken_away_is_gone_for_older_readers_too(store: PostgresStore) -> None:
    await put(store, *(sample(name, f"words {name}", acl=("staff",)) for name in "abc"))
    reader = await store.reader(Scope(principals=("staff",)))
    assert await reader.count() == (3, 3)
    entry = (await store.entries(COLLECTION))["a"]
    taken = Entry(source_id="a", digest=entry.digest, chunks=1, title="Title of a", acl=("boss",))
    await store.update(COLLECTION, [taken])
    await store.delete(COLLECTION, ["b"])
    assert await seen(reader) == [{"b", "c"}] * 4
    assert await reader.count() == (2, 2)
    await store.delete(COLLECTION, ["a"])
    assert await seen(reader) == [{"b", "c"}] * 4, "what was hidden and then deleted comes back"
    chunk = sample("a", "words a").chunks[0]
    assert await reader.vectors([chunk.chunk_id]) == {}


async def test_a_right_that_is_given_is_for_newer_readers(store: PostgresStore) -> None:
    await put(store, sample("a", "words", acl=("boss",)))
    before = await store.reader(Scope())
    entry = (await store.entries(COLLECTION))["a"]
    given = Entry(source_id="a", digest=entry.digest, chunks=1, title="Title of a", acl=(PUBLIC,))
    await store.update(COLLECTION, [given])
    assert await seen(before) == [set()] * 4
    assert await seen(await store.reader(Scope())) == [{"a"}] * 4


async def test_counts_are_those_of_the_state_that_is_read(store: PostgresStore) -> None:
    for number, language in enumerate(("en", "de", "de")):
        await put(store, sample(f"s{number}", "words", "more", language=language))
        reader = await store.reader(Scope())
        assert await reader.count() == (number + 1, 2 * (number + 1))
    assert reader.languages == ("de", "en")
    assert (await store.reader(Scope(principals=("staff",)))).languages == ("de", "en")
    await store.delete(COLLECTION, ["s1", "s2"])
    assert await reader.count() == (3, 6)
    assert (await store.reader(Scope())).languages == ("en",)


async def test_a_state_that_is_not_kept_any_more_is_refused(store: PostgresStore) -> None:
    """Half of it might be gone; an empty list would say that nothing was there."""
    await put(store, sample("a", "words"), sample("b", "words"))
    old = await store.reader(Scope())
    await put(store, sample("a", "changed"))
    await store.optimise()
    assert await seen(old) == [{"a", "b"}] * 4, "it is kept for a while"
    newest = await store.reader(Scope())
    await store.optimise(retention=timedelta(0))
    for read in (seen(old), old.count(), old.documents(), old.vectors(["x"])):
        with pytest.raises(StoreError, match="replaced long ago"):
            await read
    assert await newest.count() == (2, 2)


async def test_a_collection_that_was_dropped_long_ago_is_refused(store: PostgresStore) -> None:
    await put(store, sample("a", "words"))
    old = await store.reader(Scope())
    await store.drop(COLLECTION)
    assert await seen(old) == [{"a"}] * 4
    await store.optimise(retention=timedelta(0))
    with pytest.raises(StoreError, match="replaced long ago"):
        await old.count()


async def test_few_counts_are_remembered(postgres: str) -> None:
    async with database(postgres) as library:
        counted = Counted()
        async with library.writing("default") as connection:
            await connection.execute("INSERT INTO collections (name, description) VALUES ('default', '')")
            for number in range(views.REMEMBERED + 5):
                await open_view(connection, Scope(principals=(f"user {number}",)), counted)
        assert len(counted) == views.REMEMBERED
        assert all(f"user {number}" in str(list(counted)) for number in range(5, views.REMEMBERED + 5))
