"""Checks of writing: create, write, replace, delete, drop, the ledger."""

import dataclasses

import numpy as np

from refdesk.documents import Scope
from refdesk.errors import EmbeddingMismatch, InputError, NotFound
from refdesk.stores import Failure, Reader, Store
from refdesk.testing.stores.promise import Check, OpenStore, refused
from refdesk.testing.stores.samples import COLLECTION, DIMENSION, FINGERPRINT, put, sample, vector

SCOPE = Scope()


async def texts_found(reader: Reader, word: str) -> list[str]:
    """Return the texts that a keyword search finds, sorted."""
    return sorted(hit.chunk.text for hit in await reader.keyword_search([word], top_k=1000))


async def creates_a_collection_once(open_store: OpenStore) -> None:
    store = await open_store()
    await store.create("handbook", description="Rules")
    await store.create("handbook")
    assert (await store.collection("handbook")).description == "Rules"
    await store.create("handbook", description="New rules")
    assert [(each.name, each.description) for each in await store.collections()] == [
        ("handbook", "New rules")
    ]


async def names_the_nearest_collection(open_store: OpenStore) -> None:
    store = await open_store()
    await store.create("handbook")
    with refused(NotFound) as raised:
        await store.collection("hanbook")
    assert "handbook" in str(raised.error)


async def refuses_to_write_to_an_unknown_collection(open_store: OpenStore) -> None:
    store = await open_store()
    with refused(NotFound):
        await store.write(COLLECTION, [sample("a", "x")], fingerprint=FINGERPRINT, dimension=DIMENSION)


async def gives_back_what_was_written(open_store: OpenStore) -> None:
    store = await open_store()
    stored = sample(
        "a.md", "first words", "second words", metadata={"tags": ("x", "y")}, url="https://e.org/a"
    )
    await put(store, stored)
    reader = await store.reader(SCOPE)
    document_id = stored.document.document_id
    assert await reader.document(document_id) == stored.document
    assert await reader.chunks(document_id) == stored.chunks
    kept = await reader.vectors([chunk.chunk_id for chunk in stored.chunks])
    for chunk, expected in zip(stored.chunks, stored.vectors, strict=True):
        assert np.array_equal(kept[chunk.chunk_id], expected)


async def keeps_token_vectors(open_store: OpenStore) -> None:
    store = await open_store()
    late, plain = sample("late", "one two three", "", late=True), sample("plain", "one two")
    await put(store, late, plain)
    ids = [chunk.chunk_id for chunk in (*late.chunks, *plain.chunks)]
    kept = await (await store.reader(SCOPE)).token_vectors([*ids, "unknown"])
    assert set(kept) == {chunk.chunk_id for chunk in late.chunks}
    for chunk, expected in zip(late.chunks, late.token_vectors, strict=True):
        assert np.array_equal(kept[chunk.chunk_id], expected)
        assert kept[chunk.chunk_id].dtype == np.int8


async def writing_again_changes_nothing(open_store: OpenStore) -> None:
    store = await open_store()
    for _ in range(3):
        await put(store, sample("a", "same words", "more words"), sample("b", "other words"))
    reader = await store.reader(SCOPE)
    assert await reader.count() == (2, 3)
    assert await texts_found(reader, "words") == ["more words", "other words", "same words"]
    assert len(await reader.vector_search(vector("same words"), top_k=50)) == 3


async def replaces_all_chunks_of_a_document(open_store: OpenStore) -> None:
    store = await open_store()
    old = sample("a", "old one", "old two", "old three", late=True)
    await put(store, old, sample("b", "old other"))
    await put(store, sample("a", "new one"))
    reader = await store.reader(SCOPE)
    ids = [chunk.chunk_id for chunk in old.chunks]
    assert (await reader.vectors(ids), await reader.token_vectors(ids)) == ({}, {})
    assert await texts_found(reader, "old") == ["old other"]
    assert await texts_found(reader, "new") == ["new one"]
    assert await reader.count() == (2, 2)


async def writes_all_or_nothing(open_store: OpenStore) -> None:
    store = await open_store()
    broken = dataclasses.replace(sample("b", "words"), tokens=("words", "too many"))
    with refused(InputError):
        await put(store, sample("a", "words"), broken)
    twice = [sample("c", "words"), sample("c", "words")]
    with refused(InputError):
        await put(store, *twice)
    assert await (await store.reader(SCOPE)).count() == (0, 0)
    assert await store.entries(COLLECTION) == {}


async def refuses_another_embedding_space(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, sample("a", "words"))
    with refused(EmbeddingMismatch) as raised:
        await store.write(COLLECTION, [sample("b", "words")], fingerprint="other", dimension=DIMENSION)
    assert FINGERPRINT in raised.error.message
    assert "other" in raised.error.message
    assert raised.error.remedy
    assert (await store.collection(COLLECTION)).fingerprint == FINGERPRINT
    with refused(EmbeddingMismatch):
        await (await store.reader(SCOPE)).vector_search(np.ones(3, np.float32), top_k=1)


async def keeps_equal_paragraphs_of_two_sources(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, sample("a/paper.pdf", "same words"), sample("b/paper.pdf", "same words"))
    found = await (await store.reader(SCOPE)).keyword_search(["same"], top_k=5)
    assert [hit.source_id for hit in found] == ["a/paper.pdf", "b/paper.pdf"]
    assert len({hit.chunk.chunk_id for hit in found}) == 2


async def a_delete_says_what_went_and_it_is_gone(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, sample("a", "gone one", "gone two"), sample("b", "stays words"))
    receipt = await store.delete(COLLECTION, ["a"])
    assert (receipt.collection, receipt.documents, receipt.source_ids) == (COLLECTION, 1, ("a",))
    assert (receipt.chunks, receipt.vectors, receipt.full_text, receipt.ledger) == (2, 2, 2, 1)
    reader = await store.reader(SCOPE)
    assert await texts_found(reader, "gone") == []
    assert [hit.source_id for hit in await reader.vector_search(vector("gone one"), top_k=9)] == ["b"]
    with refused(NotFound):
        await reader.document(sample("a").document.document_id)
    assert set(await store.entries(COLLECTION)) == {"b"}


async def a_receipt_counts_each_kind_by_itself(open_store: OpenStore) -> None:
    """Documents without chunks, chunks without words, sources that only failed."""
    store = await open_store()
    for delete in (True, False):
        await put(
            store, sample("bare"), sample("blank", "", "words"), sample("b", "words"), sample("a", "words")
        )
        failures = [Failure(source_id=each, reason="timeout", message="slow") for each in ("a", "gone")]
        await store.record_failures(COLLECTION, failures)
        some = ["gone", "blank", "bare", "a", "b"]
        receipt = await (store.delete(COLLECTION, some) if delete else store.drop(COLLECTION))
        assert sorted(receipt.source_ids) == sorted(some if delete else set(some) - {"gone"})
        assert (receipt.documents, receipt.ledger, receipt.failures) == (4, 4, 2)
        assert (receipt.chunks, receipt.vectors, receipt.full_text) == (4, 4, 3)


async def a_source_named_twice_is_deleted_once(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, sample("a", "words", "more"), sample("b", "words"))
    receipt = await store.delete(COLLECTION, ["a", "b", "a"])
    assert (receipt.documents, receipt.chunks, receipt.source_ids) == (2, 3, ("a", "b"))
    assert await (await store.reader(SCOPE)).count() == (0, 0)


async def a_delete_of_something_unknown_deletes_nothing(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, sample("a", "words"))
    with refused(NotFound):
        await store.delete(COLLECTION, ["a", "b"])
    assert await (await store.reader(SCOPE)).count() == (1, 1)


async def drops_a_collection(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, sample("a", "words", "more words"))
    await put(store, sample("b", "words", collection="other"), collection="other")
    receipt = await store.drop(COLLECTION)
    assert (receipt.collection, receipt.documents, receipt.source_ids) == (COLLECTION, 1, ("a",))
    assert (receipt.chunks, receipt.vectors, receipt.full_text, receipt.ledger) == (2, 2, 2, 1)
    with refused(NotFound):
        await store.reader(SCOPE)
    with refused(NotFound):
        await store.drop(COLLECTION)
    await _assert_fresh(store)
    assert [each.name for each in await store.collections()] == [COLLECTION, "other"]


async def _assert_fresh(store: Store) -> None:
    """A collection made again under the name of a dropped one is empty, and takes any space."""
    await store.create(COLLECTION)
    assert (await store.collection(COLLECTION)).fingerprint == ""
    await store.write(COLLECTION, [sample("a")], fingerprint="another", dimension=3)
    assert await (await store.reader(SCOPE)).count() == (1, 0)


CHECKS: tuple[Check, ...] = (
    creates_a_collection_once,
    names_the_nearest_collection,
    refuses_to_write_to_an_unknown_collection,
    gives_back_what_was_written,
    keeps_token_vectors,
    writing_again_changes_nothing,
    replaces_all_chunks_of_a_document,
    writes_all_or_nothing,
    refuses_another_embedding_space,
    keeps_equal_paragraphs_of_two_sources,
    a_delete_says_what_went_and_it_is_gone,
    a_receipt_counts_each_kind_by_itself,
    a_source_named_twice_is_deleted_once,
    a_delete_of_something_unknown_deletes_nothing,
    drops_a_collection,
)
