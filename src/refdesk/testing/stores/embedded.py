"""Checks of what vectors were made of: each by its text, in its space, counted by strategy."""

import dataclasses
import hashlib
from collections.abc import Mapping
from datetime import timedelta

import numpy as np

from refdesk.documents import Scope
from refdesk.errors import InputError, NotFound
from refdesk.stores import DIGEST_BYTES, Embedded, Store, StoredDocument, VectorSet
from refdesk.testing.stores.promise import Check, OpenStore, refused
from refdesk.testing.stores.remaking import SPACE, anew, begin
from refdesk.testing.stores.samples import COLLECTION, FINGERPRINT, late_vectors, put, sample, vector


def digest(text: str) -> bytes:
    """Return a digest of a text."""
    return hashlib.sha256(text.encode()).digest()[:DIGEST_BYTES]


def told(stored: StoredDocument, strategy: str = "titled:1") -> StoredDocument:
    """Return a document that says what its vectors were made of."""
    digests = tuple(digest(chunk.text) for chunk in stored.chunks)
    return dataclasses.replace(stored, strategy=strategy, digests=digests)


A, B = told(sample("a", "words one", "words two", late=True)), told(sample("b", "words three"), "post:2")


async def asked(store: Store, *source_ids: str, fingerprint: str = FINGERPRINT) -> Mapping[bytes, Embedded]:
    return await store.embedded(COLLECTION, source_ids, fingerprint=fingerprint)


async def what_was_made_of_a_text_comes_back(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, A, B)
    found = await asked(store, "a", "b")
    assert set(found) == {digest(text) for text in ("words one", "words two", "words three")}
    for text in ("words one", "words two"):
        one = found[digest(text)]
        np.testing.assert_array_equal(one.vector, vector(text))
        assert one.token_vectors is not None
        np.testing.assert_array_equal(one.token_vectors, late_vectors(text))
    assert found[digest("words three")].token_vectors is None
    assert set(await asked(store, "b")) == {digest("words three")}


async def nothing_was_made_in_another_space_or_of_what_is_not_there(open_store: OpenStore) -> None:
    store = await open_store()
    with refused(NotFound):
        await asked(store, "a")
    await store.create(COLLECTION)
    assert not await asked(store, "a")
    await put(store, A)
    assert not await asked(store, "a", fingerprint=SPACE)
    assert not await asked(store, "b")
    assert not await asked(store)


async def what_was_replaced_or_deleted_gives_no_vector(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, A, B)
    await put(store, told(sample("a", "words two", "words four")))
    assert set(await asked(store, "a")) == {digest("words two"), digest("words four")}
    await store.delete(COLLECTION, ["b"])
    assert not await asked(store, "b")


async def chunks_need_not_say_what_they_were_made_of(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, sample("a", "words one"), B)
    assert set(await asked(store, "a", "b")) == {digest("words three")}
    (one,) = await store.vector_sets(COLLECTION)
    assert one.strategies == {"": 1, "post:2": 1}


async def vectors_are_counted_by_strategy(open_store: OpenStore) -> None:
    store = await open_store()
    with refused(NotFound):
        await store.vector_sets("nowhere")
    await store.create(COLLECTION)
    assert await store.vector_sets(COLLECTION) == ()
    await put(store, A, B)
    now = VectorSet(fingerprint=FINGERPRINT, current=True, strategies={"titled:1": 2, "post:2": 1})
    assert await store.vector_sets(COLLECTION) == (now,)
    await put(store, told(sample("b", "words five"), "titled:1"))
    assert (await store.vector_sets(COLLECTION))[0].strategies == {"titled:1": 3}
    await store.delete(COLLECTION, ["a"])
    assert (await store.vector_sets(COLLECTION))[0].strategies == {"titled:1": 1}


async def a_remake_is_counted_beside_what_is_searched(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, A, B)
    remake = await begin(store)
    await remake.write([told(anew(A), "titled:2")])
    found = await store.vector_sets(COLLECTION)
    assert [(each.current, each.fingerprint, each.missing) for each in found] == [
        (True, FINGERPRINT, 0),
        (False, SPACE, 1),
    ]
    assert found[1].strategies == {"titled:2": 1}
    assert not await asked(store, "a", fingerprint=SPACE), "it is not searched yet"
    await remake.write([told(anew(B), "titled:2")])
    assert await remake.switch()
    made = {"titled:2": 2}
    assert await store.vector_sets(COLLECTION) == (
        VectorSet(fingerprint=SPACE, current=True, strategies=made),
    )
    assert set(await asked(store, "b", fingerprint=SPACE)) == {digest("words three")}
    await (await begin(store, "again")).discard()
    assert len(await store.vector_sets(COLLECTION)) == 1


async def what_was_deleted_goes_from_a_remake_too(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, A, B)
    remake = await begin(store)
    await remake.write([told(anew(A)), told(anew(B))])
    await store.delete(COLLECTION, ["a"])
    found = await store.vector_sets(COLLECTION)
    assert [(dict(each.strategies), each.missing) for each in found] == [
        ({"post:2": 1}, 0),
        ({"titled:1": 1}, 0),
    ]
    await store.optimise(retention=timedelta(0))
    await put(store, told(sample("b", "words five")))
    await store.optimise(retention=timedelta(0))
    found = await store.vector_sets(COLLECTION)
    assert [(dict(each.strategies), each.missing) for each in found] == [({"titled:1": 1}, 0), ({}, 1)]
    await remake.write([told(anew(sample("b", "words five")))])
    assert await remake.switch()
    reader = await store.reader(Scope())
    assert [hit.chunk.text for hit in await reader.keyword_search(["words"], top_k=9)] == ["words five"]


async def digests_that_do_not_fit_are_refused(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, A)
    for digests in ((digest("one"),), (b"short", b"short"), (*A.digests, *A.digests)):
        with refused(InputError) as raised:
            await put(store, dataclasses.replace(A, digests=digests))
        assert "digest" in raised.error.message
    assert set(await asked(store, "a")) == set(A.digests)
    assert await (await store.reader(Scope())).count() == (1, 2)


CHECKS: tuple[Check, ...] = (
    what_was_made_of_a_text_comes_back,
    nothing_was_made_in_another_space_or_of_what_is_not_there,
    what_was_replaced_or_deleted_gives_no_vector,
    chunks_need_not_say_what_they_were_made_of,
    vectors_are_counted_by_strategy,
    a_remake_is_counted_beside_what_is_searched,
    what_was_deleted_goes_from_a_remake_too,
    digests_that_do_not_fit_are_refused,
)
