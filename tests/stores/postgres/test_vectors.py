"""Search by vector: exact where few chunks match, over the index where many do, and never short of hits."""

from collections.abc import AsyncIterator, Iterator, Sequence

import anyio
import numpy as np
import pytest
from numpy.typing import NDArray
from psycopg import sql
from tests.postgres import empty
from tests.stores.postgres.written import database, indexed_anyway, made, unit_vectors

from refdesk.documents import PUBLIC, Scope
from refdesk.errors import EmbeddingMismatch
from refdesk.filters import Equals, Filter, Not
from refdesk.stores import StoredDocument
from refdesk.stores.postgres import catalogue, chunks, vectors
from refdesk.stores.postgres.connecting import Connection, Database, rows
from refdesk.stores.postgres.reader import open_reader
from refdesk.stores.postgres.selecting import Selection, selected
from refdesk.stores.postgres.view import View, open_view
from refdesk.stores.postgres.writing import delete, write

pytestmark = pytest.mark.anyio

COUNT, SMALLER, DIMENSION, FEW = 3_000, 800, 12, 100
VECTORS = unit_vectors(COUNT, DIMENSION, seed=1)
QUERIES = unit_vectors(5, DIMENSION, seed=2)
SHARES = {"half": 2, "hundredth": 100, "thousandth": 1_000}


def acl(number: int) -> tuple[str, ...]:
    """Return who may read a document: of each group's documents, another share."""
    return ("all", *(name for name, each in SHARES.items() if number % each == 0))


def documents(count: int) -> list[StoredDocument]:
    return [
        made(
            f"{number:05}",
            VECTORS[[number]],
            acl=acl(number),
            metadata={name: number % each for name, each in SHARES.items()},
        )
        for number in range(count)
    ]


async def fill(url: str, count: int) -> None:
    """Make a library with an index of vectors."""
    async with database(url) as opened:
        await indexed_anyway(opened, documents(count), DIMENSION)


@pytest.fixture(scope="module")
def filled(postgres_server: str) -> Iterator[str]:
    with empty(postgres_server) as url:
        anyio.run(fill, url, COUNT)
        yield url


@pytest.fixture
async def library(filled: str) -> AsyncIterator[Database]:
    """Return the library that the tests of this module share and do not change."""
    async with database(filled) as opened:
        yield opened


@pytest.fixture
async def changing(postgres: str) -> AsyncIterator[Database]:
    """Return a smaller library for one test alone."""
    await fill(postgres, SMALLER)
    async with database(postgres) as opened:
        yield opened


async def search(
    connection: Connection,
    view: View,
    query: NDArray[np.float32],
    *,
    filter: Filter | None = None,
    top_k: int = 10,
    few: int = FEW,
) -> list[int]:
    """Return the numbers of the documents found."""
    found = await vectors.near(connection, view, query, top_k=top_k, filter=filter, few=few)
    return [key - 1 for _, some in found for _, key in some]  # the first chunk has id 1


def nearest(query: NDArray[np.float32], among: Sequence[int], top_k: int) -> list[int]:
    scores = VECTORS[among] @ query
    return [among[place] for place in np.argsort(-scores, kind="stable")[:top_k]]


async def plan(connection: Connection, statement: vectors.Statement) -> str:
    if statement.settings:
        await connection.execute(statement.settings)
    explained = sql.SQL("EXPLAIN ") + statement.text
    return "\n".join(line for (line,) in await rows(connection, explained, statement.parameters))


async def chosen(connection: Connection, view: View, filter: Filter | None) -> Selection:
    (selection,) = await selected(connection, view, filter, few=FEW)
    return selection


@pytest.mark.parametrize("name", SHARES)
async def test_a_filter_leaves_as_many_hits_as_match(library: Database, name: str) -> None:
    matching = range(0, COUNT, SHARES[name])
    async with library.reading() as connection:
        view = await open_view(connection, Scope(principals=("all",)))
        for query in QUERIES:
            found = await search(connection, view, query, filter=Equals(name, 0))
            assert len(found) == min(10, len(matching))
            assert set(found) <= set(matching)
            if len(matching) <= FEW:
                assert found == nearest(query, matching, 10)
            else:
                assert len(set(found) & set(nearest(query, matching, 10))) >= 8


@pytest.mark.parametrize("name", SHARES)
async def test_an_acl_leaves_as_many_hits_as_may_be_read(library: Database, name: str) -> None:
    readable = range(0, COUNT, SHARES[name])
    async with library.reading() as connection:
        view = await open_view(connection, Scope(principals=(name,)))
        for query in QUERIES:
            for top_k in (10, 200):
                found = await search(connection, view, query, top_k=top_k)
                assert len(found) == min(top_k, len(readable))
                assert set(found) <= set(readable)


async def test_filter_and_acl_together(library: Database) -> None:
    async with library.reading() as connection:
        view = await open_view(connection, Scope(principals=("half",)))
        for few in (0, COUNT):
            found = await search(connection, view, QUERIES[0], filter=Equals("hundredth", 50), few=few)
            assert sorted(found) == sorted(nearest(QUERIES[0], range(50, COUNT, 100), 10))


async def test_who_may_read_nothing_finds_nothing(library: Database) -> None:
    async with library.reading() as connection:
        for few in (0, COUNT):
            view = await open_view(connection, Scope(principals=("stranger",)))
            assert await search(connection, view, QUERIES[0], few=few) == []


async def test_the_index_is_used_where_many_match(library: Database) -> None:
    async with library.reading() as connection:
        view = await open_view(connection, Scope(principals=("all",)))
        index = f"chunks_{view.parts[0].chunk_set}_by_vector"
        for filter in (None, Equals("half", 0), Not(Equals("hundredth", 1))):
            selection = await chosen(connection, view, filter)
            assert selection.keys is None
            assert index in await plan(connection, vectors.indexed(selection, QUERIES[0], 10))
            await connection.execute(vectors.RESET)
            assert index not in await plan(connection, vectors.exact(selection, QUERIES[0], 10))
        few = await chosen(connection, view, Equals("hundredth", 1))
        assert few.keys is not None
        assert "by_vector" not in await plan(connection, vectors.exact(few, QUERIES[0], 10))


async def test_the_index_finds_nearly_what_is_nearest(library: Database) -> None:
    async with library.reading() as connection:
        view = await open_view(connection, Scope(principals=("all",)))
        for query in QUERIES:
            found = await search(connection, view, query, top_k=25)
            assert len(set(found) & set(nearest(query, range(COUNT), 25))) >= 23


async def test_after_many_deletes_all_hits_still_come(changing: Database) -> None:
    left = range(0, SMALLER, 20)
    gone = sorted(set(range(SMALLER)) - set(left))
    await delete(changing, "default", [f"{number:05}" for number in gone])
    async with changing.reading() as connection:
        view = await open_view(connection, Scope(principals=("all",)))
        for query in QUERIES:
            for few in (0, COUNT):
                for top_k in (30, 60):
                    found = await search(connection, view, query, top_k=top_k, few=few)
                    assert len(found) == min(top_k, len(left))
                    assert set(found) <= set(left)


async def test_what_died_is_seen_by_older_readers_alone(changing: Database) -> None:
    before = await open_reader(changing, Scope(principals=("all",)))
    await delete(changing, "default", [f"{number:05}" for number in range(1, SMALLER)])
    after = await open_reader(changing, Scope(principals=("all",)))
    assert len(await before.vector_search(QUERIES[0], top_k=30)) == 30
    assert [hit.source_id for hit in await after.vector_search(QUERIES[0], top_k=30)] == ["00000"]


@pytest.mark.parametrize("alike", [4, 400])
async def test_equal_scores_have_one_order(postgres: str, alike: int) -> None:
    """By source and position; the index does so with as many as it keeps in one place."""
    drawn = np.repeat(unit_vectors(400 // alike, DIMENSION, seed=3), alike, axis=0)
    order = np.random.default_rng(0).permutation(len(drawn))
    stored = [made(f"{number:03}", drawn[[number, number]], acl=(PUBLIC,)) for number in order]
    async with database(postgres) as library:
        await indexed_anyway(library, stored, DIMENSION)
        async with library.reading() as connection:
            view = await open_view(connection, Scope())
            for few in (0, 1_000) if alike == 4 else (1_000,):
                ((part, found),) = await vectors.near(
                    connection, view, drawn[0], top_k=7, filter=None, few=few
                )
                assert len({score for score, _ in found}) == 1
                scored = await chunks.hits(connection, part, found)
                named = [(hit.source_id, hit.chunk.position) for _, hit in scored]
                assert named == [(f"{place // 2:03}", place % 2) for place in range(7)]


async def test_wide_vectors_are_found_in_half_precision_and_scored_in_full(postgres: str) -> None:
    dimension = 2_100
    drawn = unit_vectors(150, dimension, seed=4)
    async with database(postgres) as library:
        stored = [made(f"{number:03}", drawn[[number]], acl=(PUBLIC,)) for number in range(len(drawn))]
        await indexed_anyway(library, stored, dimension)
        query = unit_vectors(1, dimension, seed=5)[0]
        async with library.reading() as connection:
            view = await open_view(connection, Scope())
            (selection,) = await selected(connection, view, None, few=0)
            statement = vectors.indexed(selection, query, 10)
            assert f"chunks_{view.parts[0].chunk_set}_by_vector" in await plan(connection, statement)
            found = await vectors.run(connection, statement)
        scores = drawn @ query
        assert [key - 1 for _, key in found] == np.argsort(-scores)[:10].tolist()
        np.testing.assert_allclose([score for score, _ in found], np.sort(scores)[::-1][:10], atol=1e-6)


async def test_a_query_of_another_width_is_refused(library: Database) -> None:
    reader = await open_reader(library, Scope(principals=("all",)))
    with pytest.raises(EmbeddingMismatch, match="reembed"):
        await reader.vector_search(unit_vectors(1, 7)[0], top_k=3)


async def test_other_collections_do_not_take_hits_away(changing: Database) -> None:
    async with changing.writing("other") as connection:
        await catalogue.create(connection, "other", "")
    near = [made("near", QUERIES[[0]], acl=("all",), collection="other")]
    await write(changing, "other", near, fingerprint="f", dimension=DIMENSION)
    reader = await open_reader(changing, Scope(("default", "other"), ("all",)))
    found = await reader.vector_search(QUERIES[0], top_k=20)
    assert len(found) == 20
    assert (found[0].source_id, found[0].rank) == ("near", 1)
