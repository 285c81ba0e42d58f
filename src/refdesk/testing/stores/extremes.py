"""Checks of sizes: nothing at all, very long, very many."""

from refdesk.documents import Scope
from refdesk.filters import Equals
from refdesk.testing.stores.promise import Check, OpenStore, only
from refdesk.testing.stores.samples import COLLECTION, put, sample, vector
from refdesk.testing.stores.writing import texts_found

SCOPE = Scope()


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


async def keeps_empty_and_huge_chunks(open_store: OpenStore) -> None:
    store = await open_store()
    long = "x" * 100_000
    stored = sample("a", "", "needle " + "word " * 40_000, long)
    await put(store, stored)
    reader = await store.reader(SCOPE)
    assert await reader.chunks(stored.document.document_id) == stored.chunks
    for word, position in (("needle", 1), (long, 2)):
        assert only(await reader.keyword_search([word], top_k=1)).chunk.position == position


async def keeps_a_document_of_ten_megabytes(open_store: OpenStore) -> None:
    store = await open_store()
    words = [f"word{number} " * 200 for number in range(6_000)]
    stored = sample("big", *words)
    assert len(stored.document.text) > 10_000_000
    await put(store, stored)
    reader = await store.reader(SCOPE)
    assert await reader.document(stored.document.document_id) == stored.document
    assert await reader.count() == (1, 6_000)
    hit = only(await reader.keyword_search(["word5999"], top_k=2))
    assert await reader.neighbours(hit.chunk, before=1, after=0) == stored.chunks[-2:]


async def keeps_ten_thousand_chunks_of_a_document(open_store: OpenStore) -> None:
    store = await open_store()
    stored = sample("long", *(f"part{number} words" for number in range(10_000)))
    await put(store, stored, sample("short", "part0 words"))
    reader = await store.reader(SCOPE)
    assert await reader.chunks(stored.document.document_id) == stored.chunks
    assert await reader.count() == (2, 10_001)
    for position in (0, 1, 4_999, 9_999):
        around = stored.chunks[max(0, position - 2) : position + 3]
        assert await reader.neighbours(stored.chunks[position], before=2, after=2) == around
        hit = only(
            await reader.keyword_search([f"part{position}"], top_k=1, filter=Equals("source_id", "long"))
        )
        assert hit.chunk == stored.chunks[position]
    assert len(await reader.vectors([chunk.chunk_id for chunk in stored.chunks])) == 10_000
    assert len(await reader.keyword_search(["words"], top_k=20_000)) == 10_001
    receipt = await store.delete(COLLECTION, ["long"])
    assert (receipt.documents, receipt.chunks) == (1, 10_000)
    assert await (await store.reader(SCOPE)).count() == (1, 1)


async def keeps_a_chunk_of_ten_megabytes(open_store: OpenStore) -> None:
    store = await open_store()
    huge = "needle " + "straw " * 1_700_000
    stored = sample("huge", huge)
    await put(store, stored)
    reader = await store.reader(SCOPE)
    hit = only(await reader.keyword_search(["needle"], top_k=1))
    assert hit.chunk == stored.chunks[0]
    assert await reader.document(stored.document.document_id) == stored.document
    await put(store, sample("huge", "small"))
    assert await texts_found(await store.reader(SCOPE), "straw") == []


async def writes_and_deletes_thousands_at_once(open_store: OpenStore) -> None:
    store = await open_store()
    names = [f"s{number:04}" for number in range(3_000)]
    await put(store, *(sample(name, f"words {name}") for name in names))
    await put(store, *(sample(name, f"new {name}", f"newer {name}") for name in names[:1_500]))
    assert await (await store.reader(SCOPE)).count() == (3_000, 4_500)
    receipt = await store.delete(COLLECTION, names[1_000:2_000])
    assert (receipt.documents, receipt.chunks) == (1_000, 1_500)
    assert receipt.source_ids == tuple(names[1_000:2_000])
    reader = await store.reader(SCOPE)
    assert await reader.count() == (2_000, 3_000)
    assert len(await texts_found(reader, "words")) == 1_000
    assert [each.source_id for each in await reader.documents()] == names[:1_000] + names[2_000:]


async def nothing_to_do_is_no_error(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store)
    await put(store, sample("a", "words"))
    await put(store)
    await store.update(COLLECTION, [])
    await store.record_failures(COLLECTION, [])
    await store.clear_failures(COLLECTION, [])
    receipt = await store.delete(COLLECTION, [])
    assert (receipt.documents, receipt.chunks, receipt.source_ids) == (0, 0, ())
    reader = await store.reader(SCOPE)
    assert (await reader.vectors([]), await reader.token_vectors([])) == ({}, {})
    assert await reader.count() == (1, 1)
    assert await reader.documents(limit=0) == ()


async def a_text_of_blanks_is_found_by_vector_only(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, sample("blank", " \n\t ", ""), sample("a", "words"))
    reader = await store.reader(SCOPE)
    assert await texts_found(reader, "words") == ["words"]
    found = await reader.vector_search(vector(""), top_k=9)
    assert len(found) == 3
    assert (found[0].source_id, found[0].chunk.position) == ("blank", 1)


CHECKS: tuple[Check, ...] = (
    keeps_ten_thousand_chunks_of_a_document,
    keeps_a_chunk_of_ten_megabytes,
    writes_and_deletes_thousands_at_once,
    nothing_to_do_is_no_error,
    a_text_of_blanks_is_found_by_vector_only,
    keeps_a_document_without_chunks,
    keeps_empty_and_huge_chunks,
    keeps_a_document_of_ten_megabytes,
)
