"""Checks of reading: scope, vector search, neighbours, lists, counts, extreme documents, two spaces."""

import dataclasses

import numpy as np

from refdesk.documents import Scope
from refdesk.errors import InputError, NotFound
from refdesk.testing.stores.promise import Check, OpenStore, refused
from refdesk.testing.stores.samples import COLLECTION, DIMENSION, put, sample, vector

SCOPE = Scope()
BOTH = Scope((COLLECTION, "other"))


async def an_empty_collection_has_nothing(open_store: OpenStore) -> None:
    store = await open_store()
    await store.create(COLLECTION)
    reader = await store.reader(SCOPE)
    assert await reader.vector_search(vector("x"), top_k=3) == ()
    assert await reader.keyword_search(["x"], top_k=3) == ()
    assert await reader.documents() == ()
    assert await reader.count() == (0, 0)
    assert reader.languages == ()


async def an_unknown_collection_is_an_error(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, sample("a", "words"))
    with refused(NotFound):
        await store.reader(Scope(("unknown",)))
    with refused(NotFound):
        await store.reader(Scope((COLLECTION, "unknown")))
    assert await (await store.reader(Scope(()))).keyword_search(["words"], top_k=3) == ()


async def nothing_outside_the_scope_can_be_read(open_store: OpenStore) -> None:
    store = await open_store()
    secret = sample("secret", "secret words", collection="other", late=True)
    await put(store, sample("a", "words"))
    await put(store, secret, collection="other")
    reader = await store.reader(SCOPE)
    for read in (reader.document, reader.chunks):
        with refused(NotFound) as outside:
            await read(secret.document.document_id)
        with refused(NotFound) as unknown:
            await read("unknown")
        assert str(outside.error).replace(secret.document.document_id, "unknown") == str(unknown.error)
    with refused(NotFound):
        await reader.neighbours(secret.chunks[0])
    ids = [secret.chunks[0].chunk_id]
    assert (await reader.vectors(ids), await reader.token_vectors(ids)) == ({}, {})
    assert await reader.keyword_search(["secret"], top_k=3) == ()
    assert {hit.source_id for hit in await reader.vector_search(vector("x"), top_k=9)} == {"a"}
    assert await reader.count() == (1, 1)


async def several_collections_are_searched_together(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, sample("a", "words one", "words two"))
    await put(store, sample("b", "words three", collection="other"), collection="other")
    reader = await store.reader(BOTH)
    found = await reader.vector_search(vector("words three"), top_k=3)
    assert [hit.rank for hit in found] == [1, 2, 3]
    assert (found[0].source_id, found[0].chunk.collection) == ("b", "other")
    scores = [hit.vector_score or 0 for hit in found]
    assert scores == sorted(scores, reverse=True)
    assert len(await reader.keyword_search(["words"], top_k=9)) == 3
    assert [each.source_id for each in await reader.documents()] == ["a", "b"]


async def vector_scores_are_cosines(open_store: OpenStore) -> None:
    store = await open_store()
    texts = [f"text {number}" for number in range(50)]
    await put(store, *(sample(text, text) for text in texts))
    query = vector("text 7 or so")
    for asked in (query, 3 * query):
        found = await (await store.reader(SCOPE)).vector_search(asked, top_k=10)
        expected = sorted(texts, key=lambda text: -float(vector(text) @ query))[:10]
        assert [hit.chunk.text for hit in found] == expected
        for hit in found:
            assert abs((hit.vector_score or 0) - float(vector(hit.chunk.text) @ query)) < 1e-5
            assert -1 <= (hit.vector_score or 0) <= 1


async def a_vector_without_direction_scores_nothing(open_store: OpenStore) -> None:
    """As a stored vector, and as a query: zeros, where an embedder finds nothing in a text."""
    store = await open_store()
    texts = [f"text {number}" for number in range(8)]
    empty = dataclasses.replace(sample("empty", "nothing"), vectors=np.zeros((1, DIMENSION), np.float32))
    await put(store, empty, *(sample(text, text) for text in texts))
    reader = await store.reader(SCOPE)
    found = await reader.vector_search(vector("x"), top_k=9)
    expected = {text: float(vector(text) @ vector("x")) for text in texts} | {"nothing": 0.0}
    assert {hit.chunk.text for hit in found} == set(expected)
    for hit in found:
        assert abs((hit.vector_score or 0) - expected[hit.chunk.text]) < 1e-5
    assert [hit.chunk.text for hit in found] == sorted(expected, key=lambda text: -expected[text])
    asked = await reader.vector_search(np.zeros(DIMENSION, np.float32), top_k=5)
    assert [hit.vector_score for hit in asked] == [0.0] * 5


async def equal_scores_have_one_order(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, *(sample(name, "same words", "same words") for name in ("c", "a", "b")))
    reader = await store.reader(SCOPE)
    expected = [("a", 0), ("a", 1), ("b", 0), ("b", 1), ("c", 0)]
    for found in (
        await reader.vector_search(vector("same words"), top_k=5),
        await reader.keyword_search(["same"], top_k=5),
    ):
        assert [(hit.source_id, hit.chunk.position) for hit in found] == expected


async def refuses_impossible_searches(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, sample("a", "words"))
    reader = await store.reader(SCOPE)
    with refused(InputError):
        await reader.vector_search(vector("x"), top_k=0)
    with refused(InputError):
        await reader.keyword_search(["x"], top_k=-1)
    with refused(InputError):
        await reader.vector_search(np.full(16, np.nan, np.float32), top_k=1)


async def gives_the_neighbours_of_a_chunk(open_store: OpenStore) -> None:
    store = await open_store()
    stored = sample("a", *(f"part {number}" for number in range(6)))
    await put(store, stored, sample("b", "part 0", "part 1"))
    reader = await store.reader(SCOPE)
    assert await reader.neighbours(stored.chunks[2]) == stored.chunks[1:4]
    assert await reader.neighbours(stored.chunks[0], before=2, after=2) == stored.chunks[:3]
    assert await reader.neighbours(stored.chunks[5], before=0, after=9) == stored.chunks[5:]
    await put(store, sample("a", "changed"))
    with refused(NotFound):
        await (await store.reader(SCOPE)).neighbours(stored.chunks[0])


async def maintenance_changes_no_result(open_store: OpenStore) -> None:
    store = await open_store()
    for number in range(12):
        await put(store, sample(f"s{number % 8}", f"words number {number}", f"words {number % 3}"))
    before = await store.reader(SCOPE)
    await store.optimise()
    after = await store.reader(SCOPE)
    assert await before.keyword_search(["words", "2"], top_k=50) == await after.keyword_search(
        ["words", "2"], top_k=50
    )
    assert await before.vector_search(vector("x"), top_k=50) == await after.vector_search(
        vector("x"), top_k=50
    )


CHECKS: tuple[Check, ...] = (
    an_empty_collection_has_nothing,
    an_unknown_collection_is_an_error,
    nothing_outside_the_scope_can_be_read,
    several_collections_are_searched_together,
    vector_scores_are_cosines,
    a_vector_without_direction_scores_nothing,
    equal_scores_have_one_order,
    refuses_impossible_searches,
    gives_the_neighbours_of_a_chunk,
    maintenance_changes_no_result,
)
