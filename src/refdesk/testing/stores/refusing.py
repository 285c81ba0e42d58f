"""Checks of what a store refuses, and that it keeps everything of what it takes."""

import dataclasses
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from refdesk.documents import Document, Heading, Page, Scope
from refdesk.errors import InputError
from refdesk.filters import Compare, Equals, Exists, Filter
from refdesk.stores import Entry, Failure, StoredDocument
from refdesk.testing.stores.promise import Check, OpenStore, only, refused
from refdesk.testing.stores.samples import COLLECTION, DIMENSION, FINGERPRINT, put, sample, vector

SCOPE = Scope()
BOTH = Scope((COLLECTION, "another"))
HALF = "half \ud800 a character"
"""A lone surrogate, as file names and JSON may hold; it cannot be written as UTF-8."""


async def keeps_all_that_a_document_has(open_store: OpenStore) -> None:
    store = await open_store()
    stored = sample("a", "first words", "second words", language="de", metadata={"year": 2020})
    document = dataclasses.replace(
        stored.document,
        media_type="application/pdf",
        pages=(Page(1, 0, 11), Page(7, 13, 25)),
        headings=(Heading(1, "Ä 'quoted' \x00 数据", 0), Heading(6, "", 13)),
        warnings=("page 2 had no text", "Zeichen „�“ ersetzt"),
    )
    await put(store, dataclasses.replace(stored, document=document))
    reader = await store.reader(SCOPE)
    assert await reader.document(document.document_id) == document
    record = only(await reader.documents())
    assert (record.warnings, record.pages, record.language) == (document.warnings, 2, "de")
    entry = (await store.entries(COLLECTION))["a"]
    await store.update(COLLECTION, [dataclasses.replace(entry, title="New")])
    after = await (await store.reader(SCOPE)).document(document.document_id)
    assert after == dataclasses.replace(document, title="New")


def _halves() -> Sequence[StoredDocument]:
    """Return documents with a lone surrogate, each in another place."""
    stored = sample("a", "words")
    broken: Sequence[Document] = (
        dataclasses.replace(stored.document, title=HALF),
        dataclasses.replace(stored.document, url=HALF),
        dataclasses.replace(stored.document, language=HALF),
        dataclasses.replace(stored.document, media_type=HALF),
        dataclasses.replace(stored.document, headings=(Heading(1, HALF, 0),)),
        dataclasses.replace(stored.document, warnings=(HALF,)),
        dataclasses.replace(stored.document, acl=("fine", HALF)),
        dataclasses.replace(stored.document, metadata={HALF: 1}),
        dataclasses.replace(stored.document, metadata={"list": ("fine", HALF)}),
    )
    chunk = dataclasses.replace(stored.chunks[0], heading_path=(HALF,))
    return (
        *(dataclasses.replace(stored, document=document) for document in broken),
        dataclasses.replace(stored, tokens=(HALF,)),
        dataclasses.replace(stored, chunks=(chunk,)),
        dataclasses.replace(stored, document=dataclasses.replace(stored.document, source_id=HALF)),
    )


async def refuses_half_characters_in_documents(open_store: OpenStore) -> None:
    store = await open_store()
    await store.create(COLLECTION)
    for stored in _halves():
        with refused(InputError):
            await store.write(COLLECTION, [stored], fingerprint=FINGERPRINT, dimension=DIMENSION)
    await put(store, sample("a", "words"))
    for entry in (
        Entry(source_id="a", digest="", chunks=1, title=HALF),
        Entry(source_id="a", digest="", chunks=1, metadata={"key": HALF}),
        Entry(source_id="a", digest="", chunks=1, acl=(HALF,)),
        Entry(source_id=HALF, digest="", chunks=1),
    ):
        with refused(InputError):
            await store.update(COLLECTION, [entry])
    assert (await store.entries(COLLECTION))["a"].title == "Title of a"


async def refuses_half_characters_in_questions(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, sample("a", "words"))
    reader = await store.reader(SCOPE)
    keys: Sequence[Filter] = (Exists(HALF), Equals(HALF, 1), Compare(HALF, ">", 1), Equals("title", HALF))
    asked: Sequence[Callable[[], Awaitable[object]]] = (
        *(partial(reader.count, filter) for filter in keys),
        lambda: reader.keyword_search([HALF], top_k=3),
        lambda: reader.document(HALF),
        lambda: reader.vectors([HALF]),
        lambda: store.create(HALF),
        lambda: store.collection(HALF),
        lambda: store.reader(Scope((HALF,))),
        lambda: store.reader(Scope(principals=(HALF,))),
        lambda: store.delete(COLLECTION, [HALF]),
        lambda: store.record_failures(COLLECTION, [Failure(source_id="b", reason="timeout", message=HALF)]),
    )
    for each in asked:
        with refused(InputError):
            await each()
    assert await store.failures(COLLECTION) == {}


async def judges_a_filter_by_the_whole_scope(open_store: OpenStore) -> None:
    """A key that is text in one collection and a number in another is compared where it is a number."""
    store = await open_store()
    await put(store, sample("a", "words", metadata={"year": "unknown"}))
    other = sample("b", "words", metadata={"year": 2021}, collection="another")
    await put(store, other, collection="another")
    await store.create("empty")
    newer = Compare("year", ">=", 2020)
    reader = await store.reader(BOTH)
    assert [each.source_id for each in await reader.documents(filter=newer)] == ["b"]
    assert [hit.source_id for hit in await reader.vector_search(vector("x"), top_k=3, filter=newer)] == ["b"]
    assert [hit.source_id for hit in await reader.keyword_search(["words"], top_k=3, filter=newer)] == ["b"]
    assert await reader.count(newer) == (1, 1)
    for scope in (SCOPE, Scope((COLLECTION, "empty"))):
        with refused(InputError):
            await (await store.reader(scope)).vector_search(vector("x"), top_k=3, filter=newer)


CHECKS: tuple[Check, ...] = (
    keeps_all_that_a_document_has,
    refuses_half_characters_in_documents,
    refuses_half_characters_in_questions,
    judges_a_filter_by_the_whole_scope,
)
