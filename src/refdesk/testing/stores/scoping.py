"""Checks of scopes and collections: exactly those that are named, whatever their names look like."""

from refdesk.documents import Scope
from refdesk.errors import EmbeddingMismatch, InputError, NotFound
from refdesk.stores import Store, StoredDocument
from refdesk.testing.stores.arms import assert_sees
from refdesk.testing.stores.promise import Check, OpenStore, refused
from refdesk.testing.stores.samples import COLLECTION, put, sample, vector

NAMES = (
    *("default", "Default", "default ", " default", "default'", 'default"', "default;", "de fault"),
    *("de\nfault", "' OR '1'='1", "x'; DROP TABLE documents; --", '"; DROP SCHEMA refdesk CASCADE; --'),
    *("%", "_", "*", "$1", "%s", "{}", "\\", "a/b", "../../etc/passwd", "/", ".", "..", "~", "C:\\x"),
    *("con", "a:b", "a.b", "public", "meta", "chunks", "collections", "documents", "pg_catalog"),
    *("NULL", "0", "-1", "数据", "😀", "مرحبا", "caf\u00e9", "cafe\u0301", "x" * 300, "\u200b", "ключ"),
)
"""Names of collections that only a careless store takes for one another, or for something else."""


def _in(collection: str) -> StoredDocument:
    return sample("a", f"words of {collection}", collection=collection, late=True)


async def any_name_names_one_collection(open_store: OpenStore) -> None:
    store = await open_store()
    documents = {name: _in(name) for name in NAMES}
    for name, stored in documents.items():
        await put(store, stored, collection=name)
    assert [each.name for each in await store.collections()] == sorted(NAMES)
    for name, stored in documents.items():
        reader = await store.reader(Scope((name,)))
        assert await reader.document(stored.document.document_id) == stored.document
        assert {hit.chunk for hit in await reader.vector_search(vector("x"), top_k=99)} == {*stored.chunks}
        assert {hit.chunk for hit in await reader.keyword_search(["of"], top_k=99)} == {*stored.chunks}
        assert await reader.count() == (1, 1)
    await _drop_every_second(store, documents)


async def _drop_every_second(store: Store, documents: dict[str, StoredDocument]) -> None:
    for name in NAMES[::2]:
        receipt = await store.drop(name)
        assert (receipt.collection, receipt.documents, receipt.source_ids) == (name, 1, ("a",))
    left = NAMES[1::2]
    await assert_sees(
        await store.reader(Scope(left)), [*documents.values()], [documents[name] for name in left]
    )
    for name in NAMES[::2]:
        with refused(NotFound):
            await store.reader(Scope((name,)))


async def a_blank_name_is_refused(open_store: OpenStore) -> None:
    store = await open_store()
    for name in ("", " ", "\t\n"):
        with refused(InputError):
            await store.create(name)
    assert await store.collections() == ()


async def no_collection_shows_nothing(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, _in(COLLECTION))
    for scope in (Scope(()), Scope((), ("anna",)), Scope((), upkeep=True)):
        await assert_sees(await store.reader(scope), [_in(COLLECTION)], [])


async def a_collection_named_twice_counts_once(open_store: OpenStore) -> None:
    store = await open_store()
    here, there = _in(COLLECTION), _in("other")
    await put(store, here)
    await put(store, there, collection="other")
    reader = await store.reader(Scope((COLLECTION, "other", COLLECTION)))
    await assert_sees(reader, [here, there], [here, there])
    assert len(await reader.vector_search(vector("x"), top_k=9)) == 2
    once = await (await store.reader(Scope((COLLECTION, "other")))).keyword_search(["words"], top_k=9)
    assert await reader.keyword_search(["words"], top_k=9) == once


async def an_unknown_collection_opens_no_reader(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, _in(COLLECTION))
    for names in (
        ("DEFAULT",),
        ("default ",),
        ("",),
        ("*",),
        ("%",),
        (COLLECTION, "unknown"),
        ("unknown",) * 2,
    ):
        for upkeep in (False, True):
            with refused(NotFound):
                await store.reader(Scope(names, ("anna",), upkeep=upkeep))


async def a_query_of_another_dimension_is_refused_in_any_of_them(open_store: OpenStore) -> None:
    """One search never compares vectors of two spaces."""
    store = await open_store()
    await put(store, _in(COLLECTION))
    await store.create("other")
    narrow = sample("a", "words", collection="other")
    cut = narrow.vectors[:, :8]
    cut = cut / (cut**2).sum(axis=1, keepdims=True) ** 0.5
    fit = StoredDocument(document=narrow.document, chunks=narrow.chunks, tokens=narrow.tokens, vectors=cut)
    await store.write("other", [fit], fingerprint="another/8", dimension=8)
    reader = await store.reader(Scope((COLLECTION, "other")))
    for query in (vector("x"), vector("x")[:8]):
        with refused(EmbeddingMismatch):
            await reader.vector_search(query, top_k=3)
    assert len(await reader.keyword_search(["words"], top_k=3)) == 2


async def many_collections_stay_apart(open_store: OpenStore) -> None:
    store = await open_store()
    names = [f"collection {n:02}" for n in range(40)]
    documents = [_in(name) for name in names]
    for name, stored in zip(names, documents, strict=True):
        await put(store, stored, collection=name)
    everything = await store.collections()
    assert [(each.name, each.documents, each.chunks) for each in everything] == [
        (name, 1, 1) for name in names
    ]
    await assert_sees(await store.reader(Scope((*names,))), documents, documents)
    await assert_sees(await store.reader(Scope((names[7], names[31]))), documents, documents[7:32:24])
    hits = await (await store.reader(Scope((*names,)))).vector_search(vector("x"), top_k=5)
    assert len({hit.chunk.collection for hit in hits}) == 5


CHECKS: tuple[Check, ...] = (
    any_name_names_one_collection,
    a_blank_name_is_refused,
    no_collection_shows_nothing,
    a_collection_named_twice_counts_once,
    an_unknown_collection_opens_no_reader,
    a_query_of_another_dimension_is_refused_in_any_of_them,
    many_collections_stay_apart,
)
