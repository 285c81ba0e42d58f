"""Checks of the ledger: what is known of sources besides their text."""

import dataclasses

from refdesk.documents import PUBLIC, Scope
from refdesk.errors import NotFound
from refdesk.filters import Equals
from refdesk.stores import Entry, Failure
from refdesk.testing.stores.promise import Check, OpenStore, only, refused
from refdesk.testing.stores.samples import COLLECTION, put, sample
from refdesk.testing.stores.writing import texts_found

SCOPE = Scope()


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
        acl=(PUBLIC,),
    )
    await store.update(COLLECTION, [after])
    assert (await store.entries(COLLECTION))["a"] == after
    reader = await store.reader(SCOPE)
    hit = only(await reader.keyword_search(["words"], top_k=1, filter=Equals("year", 2021)))
    assert (hit.title, hit.url, hit.metadata) == ("New", "https://e.org", {"year": 2021})
    assert await reader.count(Equals("year", 2020)) == (0, 0)
    with refused(NotFound):
        await store.update(COLLECTION, [dataclasses.replace(after, source_id="unknown")])


async def the_ledger_says_what_is_stored(open_store: OpenStore) -> None:
    store = await open_store()
    stored = sample("a", "one", "two", metadata={"year": 2020}, url="https://e.org/a", acl=("anna", PUBLIC))
    await put(store, stored, sample("empty", acl=()))
    assert await store.entries(COLLECTION) == {
        "a": Entry(
            source_id="a",
            digest=stored.document.digest,
            chunks=2,
            metadata={"year": 2020},
            title="Title of a",
            url="https://e.org/a",
            acl=("anna", PUBLIC),
        ),
        "empty": Entry(
            source_id="empty",
            digest=sample("empty").document.digest,
            chunks=0,
            title="Title of empty",
        ),
    }
    for read in (store.entries, store.failures, store.cursors):
        with refused(NotFound):
            await read("unknown")


async def notes_how_far_a_source_was_read(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, sample("a", "words"))
    await store.create("other")
    assert await store.cursors(COLLECTION) == {}
    await store.set_cursor(COLLECTION, "posts", "2025-01-01 17")
    await store.set_cursor(COLLECTION, 'it\'s "quoted" 数据', '{"at": null}')
    await store.set_cursor(COLLECTION, "posts", "2025-01-02 18")
    await put(store, sample("a", "other words"))
    noted = {"posts": "2025-01-02 18", 'it\'s "quoted" 数据': '{"at": null}'}
    assert await store.cursors(COLLECTION) == noted
    assert await store.cursors("other") == {}
    await store.set_cursor(COLLECTION, "posts", "")
    assert set(await store.cursors(COLLECTION)) == set(noted) - {"posts"}
    await store.drop(COLLECTION)
    await store.create(COLLECTION)
    assert await store.cursors(COLLECTION) == {}


CHECKS: tuple[Check, ...] = (
    the_ledger_says_what_is_stored,
    notes_how_far_a_source_was_read,
    notes_failures_until_the_source_is_written_or_deleted,
    a_failure_leaves_the_stored_document,
    updates_metadata_without_the_text,
)
