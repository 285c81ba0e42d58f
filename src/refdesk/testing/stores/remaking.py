"""Checks of making chunks anew: readers see the old or the new ones, and no change meanwhile is lost."""

import dataclasses

import numpy as np

from refdesk.documents import PUBLIC, Scope
from refdesk.errors import EmbeddingMismatch, InputError, NotFound, StoreError
from refdesk.filters import Equals
from refdesk.stores import Entry, Failure, Reader, Remake, Store, StoredDocument
from refdesk.testing.stores.keywords import assert_bm25
from refdesk.testing.stores.promise import Check, OpenStore, refused
from refdesk.testing.stores.samples import COLLECTION, DIMENSION, FINGERPRINT, put, sample, vector

SCOPE = Scope()
SPACE, WIDTH = "other@fp32/8#0", 8


def anew(stored: StoredDocument) -> StoredDocument:
    """Return a document with all its text in one chunk, and with shorter vectors."""
    document = stored.document
    made = sample(document.source_id, *([document.text] if document.text else []))
    return dataclasses.replace(
        made,
        document=dataclasses.replace(document, digest=f"{document.digest}:new"),
        vectors=_shorter(made.vectors),
    )


def _shorter(vectors: np.typing.NDArray[np.float32]) -> np.typing.NDArray[np.float32]:
    cut = vectors[:, :WIDTH]
    return np.asarray(cut / np.linalg.norm(cut, axis=1, keepdims=True), np.float32)


async def begin(store: Store, recipe: str = "new") -> Remake:
    """Begin in a space of another dimension."""
    return await store.remake(COLLECTION, fingerprint=SPACE, dimension=WIDTH, recipe=recipe)


async def assert_old(reader: Reader, *documents: StoredDocument) -> None:
    """A reader finds the chunks as they were, by vector and by keyword."""
    texts = sorted(chunk.text for stored in documents for chunk in stored.chunks)
    assert sorted(hit.chunk.text for hit in await reader.vector_search(vector("x"), top_k=99)) == texts
    await assert_bm25(reader, texts, ["words", "one"])
    assert await reader.count() == (len(documents), len(texts))


async def assert_new(reader: Reader, *documents: StoredDocument) -> None:
    """A reader finds the chunks made anew, by vector and by keyword, and no others."""
    texts = sorted(stored.document.text for stored in documents if stored.chunks)
    near = await reader.vector_search(vector("x")[:WIDTH], top_k=99)
    assert sorted(hit.chunk.text for hit in near) == texts
    await assert_bm25(reader, texts, ["words", "one"])
    assert await reader.count() == (len(documents), len(texts))
    with refused(EmbeddingMismatch):
        await reader.vector_search(vector("x"), top_k=1)


A, B = sample("a", "words one", "words two"), sample("b", "words three", "other words")
"""Two documents, as they are at first."""


async def readers_see_the_old_chunks_until_the_switch(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, A, B)
    remake = await begin(store)
    assert await remake.missing() == ("a", "b")
    await remake.write([anew(A)])
    assert await remake.missing() == ("b",)
    assert not await remake.switch()
    await assert_old(await store.reader(SCOPE), A, B)
    assert [each.name for each in await store.collections()] == [COLLECTION]
    assert (await store.collection(COLLECTION)).fingerprint == FINGERPRINT
    await remake.write([anew(B)])
    await assert_old(await store.reader(SCOPE), A, B)
    assert await remake.switch()
    await assert_new(await store.reader(SCOPE), A, B)
    assert (await store.collection(COLLECTION)).fingerprint == SPACE


async def a_reader_keeps_the_chunks_it_was_opened_on(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, A, B)
    before = await store.reader(SCOPE)
    remake = await begin(store)
    await remake.write([anew(A), anew(B)])
    assert await remake.switch()
    await store.optimise()
    await assert_old(before, A, B)
    assert [one.text for one in await before.chunks(A.document.document_id)] == ["words one", "words two"]
    await assert_new(await store.reader(SCOPE), A, B)


async def a_switch_changes_chunks_and_digests_only(open_store: OpenStore) -> None:
    store = await open_store()
    kept = sample("a", "words one", "words two", metadata={"year": 2024}, url="https://e.org/a")
    await put(store, kept, sample("empty"))
    failure = Failure(source_id="c", reason="encrypted", message="locked")
    await store.record_failures(COLLECTION, [failure])
    (before, _) = await (await store.reader(SCOPE)).documents()
    remake = await begin(store)
    await remake.write([anew(kept), anew(sample("empty"))])
    assert await remake.switch()
    reader = await store.reader(SCOPE)
    (record, _) = await reader.documents(filter=None)
    assert record == dataclasses.replace(before, digest=f"{before.digest}:new", chunks=1)
    assert await reader.document(before.document_id) == anew(kept).document
    assert await reader.chunks(before.document_id) == anew(kept).chunks
    assert await reader.count(Equals("year", 2024)) == (1, 1)
    assert await store.failures(COLLECTION) == {"c": failure}


async def a_remake_goes_on_where_it_was_left(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, A, B)
    await (await begin(store)).write([anew(A)])
    again = await begin(store)
    assert await again.missing() == ("b",)
    for _ in range(2):
        await again.write([anew(A), anew(B)])
    assert await again.switch()
    await assert_new(await store.reader(SCOPE), A, B)


async def another_recipe_begins_anew(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, A, B)
    first = await begin(store)
    await first.write([anew(A)])
    second = await begin(store, "another")
    assert await second.missing() == ("a", "b")
    for late in (lambda: first.write([anew(B)]), first.missing, first.switch, first.discard):
        with refused(StoreError) as raised:
            await late()
        assert COLLECTION in raised.error.message
    await second.write([anew(A), anew(B)])
    assert await second.switch()
    await assert_new(await store.reader(SCOPE), A, B)
    with refused(StoreError):
        await second.switch()


async def what_changes_meanwhile_is_missing_again(open_store: OpenStore) -> None:
    store = await open_store()
    gone = sample("gone", "words gone")
    await put(store, A, B, gone)
    remake = await begin(store)
    await remake.write([anew(A), anew(B), anew(gone)])
    changed, added = sample("a", "words changed", "one"), sample("added", "words added")
    await put(store, changed, added)
    await store.delete(COLLECTION, ["gone"])
    assert await remake.missing() == ("a", "added")
    assert not await remake.switch()
    await assert_old(await store.reader(SCOPE), changed, B, added)
    await remake.write([anew(changed), anew(added)])
    assert await remake.switch()
    await assert_new(await store.reader(SCOPE), changed, B, added)


async def chunks_of_a_state_that_has_passed_are_not_taken(open_store: OpenStore) -> None:
    """A document changes, or goes, between being read and being written."""
    store = await open_store()
    await put(store, A, B)
    remake = await begin(store)
    changed = sample("a", "words changed")
    await put(store, changed)
    await store.delete(COLLECTION, ["b"])
    await remake.write([anew(A), anew(B)])
    assert await remake.missing() == ("a",)
    await remake.write([anew(changed)])
    assert await remake.switch()
    await assert_new(await store.reader(SCOPE), changed)


async def metadata_that_changes_meanwhile_stays_changed(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, A)
    remake = await begin(store)
    await remake.write([anew(A)])
    entry = Entry(
        source_id="a",
        digest=A.document.digest,
        chunks=2,
        metadata={"year": 2025},
        title="New",
        acl=(PUBLIC,),
    )
    await store.update(COLLECTION, [entry])
    assert await remake.switch()
    digest = anew(A).document.digest
    assert await store.entries(COLLECTION) == {"a": dataclasses.replace(entry, digest=digest, chunks=1)}
    assert await (await store.reader(SCOPE)).count(Equals("year", 2025)) == (1, 1)


async def writes_after_a_switch_are_in_the_new_space(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, A, B)
    remake = await begin(store)
    with refused(EmbeddingMismatch):
        await store.write(COLLECTION, [anew(A)], fingerprint=SPACE, dimension=WIDTH)
    await remake.write([anew(A), anew(B)])
    assert await remake.switch()
    with refused(EmbeddingMismatch):
        await put(store, sample("c", "words"))
    more = [anew(sample("a", "words now", "one")), anew(sample("c", "words new"))]
    await store.write(COLLECTION, more, fingerprint=SPACE, dimension=WIDTH)
    await store.delete(COLLECTION, ["b"])
    await assert_new(await store.reader(SCOPE), *more)
    await store.optimise()
    await assert_new(await store.reader(SCOPE), *more)


async def a_remake_refuses_what_does_not_fit(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, A, B)
    remake = await begin(store)
    for unfit in ([A], [anew(B), A], [anew(A), anew(A)]):
        with refused(InputError):
            await remake.write(unfit)
    assert await remake.missing() == ("a", "b")
    with refused(NotFound):
        await store.remake("unknown", fingerprint=SPACE, dimension=WIDTH, recipe="new")


async def a_discarded_remake_leaves_no_trace(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, A, B)
    remake = await begin(store)
    await remake.write([anew(A)])
    await remake.discard()
    with refused(StoreError):
        await remake.missing()
    await assert_old(await store.reader(SCOPE), A, B)
    assert await (await begin(store)).missing() == ("a", "b")


async def a_remake_ends_with_its_collection(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, A)
    remake = await begin(store)
    await remake.write([anew(A)])
    await store.drop(COLLECTION)
    with refused(NotFound):
        await remake.missing()
    await put(store, A)
    with refused(StoreError):
        await remake.switch()
    await assert_old(await store.reader(SCOPE), A)


async def an_empty_collection_changes_its_space(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, A)
    await store.delete(COLLECTION, ["a"])
    assert await (await begin(store)).switch()
    await store.write(COLLECTION, [anew(B)], fingerprint=SPACE, dimension=WIDTH)
    await assert_new(await store.reader(SCOPE), B)


async def other_collections_are_left_alone(open_store: OpenStore) -> None:
    store = await open_store()
    there = sample("a", "words there", collection="other")
    await put(store, A, B)
    await put(store, there, collection="other")
    remake = await begin(store)
    assert await remake.missing() == ("a", "b")
    await remake.write([anew(A), anew(B)])
    assert await remake.switch()
    await assert_new(await store.reader(SCOPE), A, B)
    await assert_old(await store.reader(Scope(("other",))), there)
    back = await store.remake("other", fingerprint=FINGERPRINT, dimension=DIMENSION, recipe="same")
    await back.write([there])
    assert await back.switch()
    await assert_old(await store.reader(Scope(("other",))), there)


CHECKS: tuple[Check, ...] = (
    readers_see_the_old_chunks_until_the_switch,
    a_reader_keeps_the_chunks_it_was_opened_on,
    a_switch_changes_chunks_and_digests_only,
    a_remake_goes_on_where_it_was_left,
    another_recipe_begins_anew,
    what_changes_meanwhile_is_missing_again,
    chunks_of_a_state_that_has_passed_are_not_taken,
    metadata_that_changes_meanwhile_stays_changed,
    writes_after_a_switch_are_in_the_new_space,
    a_remake_refuses_what_does_not_fit,
    a_discarded_remake_leaves_no_trace,
    a_remake_ends_with_its_collection,
    an_empty_collection_changes_its_space,
    other_collections_are_left_alone,
)
