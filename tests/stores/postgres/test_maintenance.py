"""What `optimise` removes, merges and indexes, and that nobody who reads notices."""

import dataclasses
from collections.abc import Mapping
from contextlib import aclosing
from datetime import timedelta

import numpy as np
import psycopg
import pytest
from psycopg import sql

from refdesk.documents import Scope
from refdesk.errors import NotFound
from refdesk.stores import Store, StoredDocument
from refdesk.stores.postgres import open_postgres
from refdesk.stores.postgres.maintaining import EACH
from refdesk.testing.stores.samples import COLLECTION, DIMENSION, FINGERPRINT, put, sample, vector

pytestmark = pytest.mark.anyio

NOW, BRIEF = timedelta(0), timedelta(microseconds=1)
KEPT = ("records", "texts", "documents", "facts", "chunk_sets", "collections")


def rows(url: str) -> Mapping[str, int]:
    """Return how many rows each table has."""
    with psycopg.connect(url) as connection:
        names = connection.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'refdesk'::regnamespace AND relkind = 'r'"
        ).fetchall()
        return {name: _count(connection, name) for (name,) in names}


def _count(connection: psycopg.Connection, name: str) -> int:
    statement = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier("refdesk", name))
    (count,) = connection.execute(statement).fetchone() or (0,)
    return int(count)


async def seen(store: Store) -> object:
    """Return all that searches give."""
    reader = await store.reader(Scope())
    return (
        await reader.keyword_search(["words", "rare3", "rare3", "nowhere"], top_k=50),
        await reader.vector_search(vector("words 3"), top_k=50),
        await reader.documents(),
    )


async def test_what_was_replaced_and_deleted_goes(postgres: str) -> None:
    async with aclosing(await open_postgres(postgres)) as store:
        for edition in range(3):
            for number in range(6):
                text = f"words rare{number} {edition}"
                await put(store, sample(f"s{number}", text, f"more {text}", metadata={"edition": edition}))
        await store.delete(COLLECTION, ["s0", "s1"])
        before = await seen(store)
        await store.optimise()
        assert rows(postgres)["chunks_1"] == 36, "readers may hold it for an hour"
        await store.optimise(retention=NOW)
        assert await seen(store) == before
        found = rows(postgres)
        assert [found[name] for name in KEPT] == [4, 4, 4, 4, 1, 1]
        assert found["chunks_1"] == 8
        await put(store, sample("s0", "words again"))
        assert len(await (await store.reader(Scope())).keyword_search(["again"], top_k=3)) == 1


async def test_scores_are_those_of_a_library_that_was_written_at_once(postgres: str) -> None:
    documents = [sample(*_text(number)) for number in range(12)]
    async with aclosing(await open_postgres(postgres)) as store:
        for _ in range(2):
            for document in documents:
                await put(store, document)
        await store.optimise(retention=NOW)
        again = [_text(number) for number in range(12)]
        await put(store, *(sample(*each, collection="whole") for each in again), collection="whole")
        scores = await _scores(store, COLLECTION)
        assert len(scores) == 12
        assert scores == await _scores(store, "whole")


def _text(number: int) -> tuple[str, str]:
    return f"s{number}", f"words rare{number} " + "words " * number


async def _scores(store: Store, collection: str) -> list[tuple[str, float | None]]:
    reader = await store.reader(Scope((collection,)))
    hits = await reader.keyword_search(["words", "rare3"], top_k=50)
    return [(hit.source_id, hit.keyword_score) for hit in hits]


async def test_postings_of_many_small_writes_are_merged(postgres: str) -> None:
    async with aclosing(await open_postgres(postgres)) as store:
        for number in range(12):
            await put(store, sample(f"s{number}", f"words rare{number}"))
        before = await seen(store)
        assert rows(postgres)["postings_1"] == 24
        await store.optimise()
        assert await seen(store) == before
        assert rows(postgres)["postings_1"] == 13
        await store.optimise()
        assert rows(postgres)["postings_1"] == 13


async def test_writes_clean_up_now_and_then(postgres: str) -> None:
    async with aclosing(await open_postgres(postgres)) as store:
        await put(store, sample("a", "words"))
        for _ in range(2):
            await put(store, sample("a", "words"))
        with psycopg.connect(postgres, autocommit=True) as connection:
            connection.execute("UPDATE refdesk.publications SET at = at - interval '2 hours'")
            connection.execute("UPDATE refdesk.collections SET generation = %s", (EACH - 1,))
        await put(store, sample("a", "words"))
        assert rows(postgres)["chunks_1"] == 2  # what is current, and what the last reader may hold
        assert await (await store.reader(Scope())).count() == (1, 1)


@pytest.mark.parametrize(("dimension", "indexed"), [(16, True), (2100, True), (4100, False)])
async def test_a_large_collection_gets_an_index(postgres: str, dimension: int, indexed: bool) -> None:
    wide = [_widened(number, dimension) for number in range(6)]
    async with aclosing(await open_postgres(postgres, indexed_from=6)) as store:
        await store.create(COLLECTION)
        await store.write(COLLECTION, wide[:5], fingerprint="wide", dimension=dimension)
        await store.optimise()
        assert _index(postgres) is None
        await store.write(COLLECTION, wide[5:], fingerprint="wide", dimension=dimension)
        await store.optimise()
        await store.optimise()
        assert ("halfvec_ip_ops" in (_index(postgres) or "")) is indexed
        hits = await (await store.reader(Scope())).vector_search(wide[3].vectors[0], top_k=2)
        assert hits[0].source_id == "s3"
        assert hits[0].vector_score == pytest.approx(1.0, abs=1e-6)


async def test_an_index_from_which_much_was_removed_is_made_anew(postgres: str) -> None:
    async with aclosing(await open_postgres(postgres, indexed_from=5)) as store:
        await put(store, *(sample(f"s{number}", f"words {number}") for number in range(30)))
        await store.optimise()
        made = _identity(postgres)
        assert made is not None
        await store.delete(COLLECTION, ["s0"])
        await store.optimise()
        assert _identity(postgres) == made, "nothing was removed yet"
        await store.optimise(retention=BRIEF)
        assert _identity(postgres) == made, "little was"
        await store.delete(COLLECTION, [f"s{number}" for number in range(1, 10)])
        await store.optimise(retention=BRIEF)
        assert (renewed := _identity(postgres)) not in (None, made)
        await store.optimise(retention=NOW)
        assert _identity(postgres) not in (None, renewed), "of what was removed nothing is left"
        await store.delete(COLLECTION, [f"s{number}" for number in range(10, 28)])
        await store.optimise(retention=BRIEF)
        assert _identity(postgres) is None, "what is left is scanned"
        assert len(await (await store.reader(Scope())).vector_search(vector("x"), top_k=9)) == 2


def _identity(url: str) -> int | None:
    """Return what tells an index from one of the same name: its file."""
    with psycopg.connect(url) as connection:
        found = connection.execute(
            "SELECT pg_relation_filenode(to_regclass('refdesk.chunks_1_by_vector'))"
        ).fetchone()
        names = connection.execute("SELECT relname FROM pg_class WHERE relname LIKE '%_old'").fetchall()
        assert names == []
        return found[0] if found else None


def _widened(number: int, dimension: int) -> StoredDocument:
    stored = sample(f"s{number}", f"words {number}")
    drawn = np.random.default_rng(number).normal(size=(1, dimension))
    return dataclasses.replace(stored, vectors=(drawn / np.linalg.norm(drawn)).astype(np.float32))


def _index(url: str) -> str | None:
    with psycopg.connect(url) as connection:
        found = connection.execute(
            "SELECT indexdef FROM pg_indexes"
            " WHERE schemaname = 'refdesk' AND indexname = 'chunks_1_by_vector'"
        ).fetchone()
        return str(found[0]) if found else None


async def test_sets_that_were_replaced_or_given_up_go(postgres: str) -> None:
    async with aclosing(await open_postgres(postgres)) as store:
        await put(store, sample("a", "words"))
        for recipe in ("one", "two"):
            remake = await store.remake(
                COLLECTION, fingerprint=FINGERPRINT, dimension=DIMENSION, recipe=recipe
            )
            await remake.write([sample("a", "words")])
        assert await remake.switch()
        held = await store.reader(Scope())
        assert {name for name in rows(postgres) if name.startswith("chunks_")} == {"chunks_1", "chunks_3"}
        await store.optimise(retention=NOW)
        assert {name for name in rows(postgres) if name.startswith("chunks_")} == {"chunks_3"}
        assert len(await held.keyword_search(["words"], top_k=3)) == 1


async def test_a_dropped_collection_leaves_no_table(postgres: str) -> None:
    async with aclosing(await open_postgres(postgres)) as store:
        await put(store, sample("a", "words", metadata={"year": 2020}))
        remake = await store.remake(COLLECTION, fingerprint=FINGERPRINT, dimension=DIMENSION, recipe="new")
        await remake.write([sample("a", "words")])
        await store.drop(COLLECTION)
        await store.optimise(retention=NOW)
        found = rows(postgres)
        assert {name for name, count in found.items() if count} == {"meta"}
        assert not any(name.startswith(("chunks_", "postings_")) for name in found)
        with pytest.raises(NotFound):
            await store.reader(Scope())


async def test_the_size_grows_with_what_is_kept(postgres: str) -> None:
    async with aclosing(await open_postgres(postgres)) as store:
        before = await store.size()
        await put(store, sample("a", *(f"words {number}" for number in range(200))))
        assert await store.size() > before
