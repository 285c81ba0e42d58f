"""Checks of writing: create, write, replace, delete, drop, the ledger."""

import dataclasses

import anyio
import numpy as np

from refdesk.documents import Scope
from refdesk.errors import EmbeddingMismatch, InputError, NotFound
from refdesk.filters import Equals
from refdesk.stores import Entry, Failure, Reader, Store, StoredDocument
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
    await put(store, sample("a", "old one", "old two", "old three"), sample("b", "old other"))
    await put(store, sample("a", "new one"))
    reader = await store.reader(SCOPE)
    assert await texts_found(reader, "old") == ["old other"]
    assert await texts_found(reader, "new") == ["new one"]
    assert await reader.count() == (2, 2)


async def a_reader_keeps_the_state_it_was_opened_in(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, sample("a", "old words"))
    before = await store.reader(SCOPE)
    await put(store, sample("a", "new words"), sample("b", "more words"))
    await store.delete(COLLECTION, ["b"])
    await store.optimise()
    assert await texts_found(before, "words") == ["old words"]
    assert [hit.chunk.text for hit in await before.vector_search(vector("x"), top_k=9)] == ["old words"]
    assert (await before.document(sample("a").document.document_id)).text == "old words"
    assert await before.count() == (1, 1)
    assert await texts_found(await store.reader(SCOPE), "words") == ["new words"]


async def readers_never_see_half_a_write(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, *_edition(0))
    done = anyio.Event()

    async def write() -> None:
        for number in range(1, 8):
            await put(store, *_edition(number))
        done.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(write)
        while not done.is_set():
            await _assert_one_edition(await store.reader(SCOPE))


def _edition(number: int) -> list[StoredDocument]:
    return [sample(f"s{each}", f"words {number} a", f"words {number} b") for each in range(4)]


async def _assert_one_edition(reader: Reader) -> None:
    by_keyword = await texts_found(reader, "words")
    near = await reader.vector_search(vector("words"), top_k=100)
    by_vector = sorted(hit.chunk.text for hit in near)
    assert by_keyword == by_vector
    assert len(by_keyword) == 8
    assert len({text.split()[1] for text in by_keyword}) == 1


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


async def keeps_a_document_without_chunks(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, sample("empty"))
    reader = await store.reader(SCOPE)
    assert await reader.count() == (1, 0)
    assert await reader.chunks(sample("empty").document.document_id) == ()
    assert await reader.keyword_search(["words"], top_k=3) == ()
    await put(store, sample("empty", "words now"))
    await put(store, sample("empty"))
    assert await texts_found(await store.reader(SCOPE), "words") == []
    receipt = await store.delete(COLLECTION, ["empty"])
    assert (receipt.documents, receipt.chunks) == (1, 0)


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
    assert (receipt.documents, receipt.chunks, receipt.source_ids) == (1, 2, ("a",))
    reader = await store.reader(SCOPE)
    assert await texts_found(reader, "gone") == []
    assert [hit.source_id for hit in await reader.vector_search(vector("gone one"), top_k=9)] == ["b"]
    with refused(NotFound):
        await reader.document(sample("a").document.document_id)
    assert set(await store.entries(COLLECTION)) == {"b"}


async def a_delete_of_something_unknown_deletes_nothing(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, sample("a", "words"))
    with refused(NotFound):
        await store.delete(COLLECTION, ["a", "b"])
    assert await (await store.reader(SCOPE)).count() == (1, 1)


async def notes_failures_until_the_source_is_written_or_deleted(open_store: OpenStore) -> None:
    store = await open_store()
    await store.create(COLLECTION)
    failures = [Failure(source_id=each, reason="encrypted", message="locked") for each in ("a", "b")]
    await store.record_failures(COLLECTION, failures)
    assert await store.failures(COLLECTION) == {each.source_id: each for each in failures}
    await put(store, sample("a", "words"))
    receipt = await store.delete(COLLECTION, ["b"])
    assert (receipt.documents, receipt.chunks) == (0, 0)
    assert await store.failures(COLLECTION) == {}


async def a_failure_leaves_the_stored_document(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, sample("a", "words"))
    await store.record_failures(COLLECTION, [Failure(source_id="a", reason="timeout", message="slow")])
    assert set(await store.entries(COLLECTION)) == {"a"}
    assert await texts_found(await store.reader(SCOPE), "words") == ["words"]
    await store.clear_failures(COLLECTION, ["a", "unknown"])
    assert await store.failures(COLLECTION) == {}


async def updates_metadata_without_the_text(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, sample("a", "words", metadata={"year": 2020}))
    before = (await store.entries(COLLECTION))["a"]
    after = Entry(
        source_id="a",
        digest=before.digest,
        chunks=1,
        metadata={"year": 2021},
        title="New",
        url="https://e.org",
    )
    await store.update(COLLECTION, [after])
    assert (await store.entries(COLLECTION))["a"] == after
    reader = await store.reader(SCOPE)
    (hit,) = await reader.keyword_search(["words"], top_k=1, filter=Equals("year", 2021))
    assert (hit.title, hit.url, hit.metadata) == ("New", "https://e.org", {"year": 2021})
    assert await reader.count(Equals("year", 2020)) == (0, 0)
    with refused(NotFound):
        await store.update(COLLECTION, [dataclasses.replace(after, source_id="unknown")])


async def drops_a_collection(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, sample("a", "words", "more words"))
    await put(store, sample("b", "words", collection="other"), collection="other")
    receipt = await store.drop(COLLECTION)
    assert (receipt.documents, receipt.chunks) == (1, 2)
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
    a_reader_keeps_the_state_it_was_opened_in,
    readers_never_see_half_a_write,
    writes_all_or_nothing,
    refuses_another_embedding_space,
    keeps_a_document_without_chunks,
    keeps_equal_paragraphs_of_two_sources,
    a_delete_says_what_went_and_it_is_gone,
    a_delete_of_something_unknown_deletes_nothing,
    notes_failures_until_the_source_is_written_or_deleted,
    a_failure_leaves_the_stored_document,
    updates_metadata_without_the_text,
    drops_a_collection,
)
