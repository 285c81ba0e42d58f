"""Checks of lists, pages and counts."""

from collections.abc import Mapping

from refdesk.documents import Scope
from refdesk.errors import InputError
from refdesk.filters import Compare, Equals, Not
from refdesk.stores import Store
from refdesk.testing.stores.promise import Check, OpenStore, refused
from refdesk.testing.stores.samples import COLLECTION, put, sample, vector

SCOPE = Scope()
BOTH = Scope((COLLECTION, "another"))


async def lists_documents_in_pages(open_store: OpenStore) -> None:
    store = await open_store()
    names = [f"s{number:02}" for number in range(25)]
    await put(store, *(sample(name, "words", "more", metadata={"odd": int(name[1:]) % 2}) for name in names))
    reader = await store.reader(SCOPE)
    pages = [await reader.documents(offset=offset, limit=10) for offset in (0, 10, 20, 30)]
    assert [each.source_id for page in pages for each in page] == names
    assert [len(page) for page in pages] == [10, 10, 5, 0]
    odd = await reader.documents(filter=Equals("odd", 1), offset=2, limit=2)
    assert [each.source_id for each in odd] == ["s05", "s07"]
    record = pages[0][0]
    assert (record.chunks, record.characters, record.pages, record.title) == (2, 11, 1, "Title of s00")
    assert record.updated_at.tzinfo is not None


async def lists_several_collections_in_pages(open_store: OpenStore) -> None:
    store = await open_store()
    for name, odd in ((COLLECTION, 1), ("another", 0)):
        documents = [sample(f"s{n}", "words", collection=name, metadata={"n": n % 2}) for n in range(6)]
        await put(store, *documents[odd:], collection=name)
    reader = await store.reader(BOTH)
    everything = await reader.documents()
    named = [(each.collection, each.source_id) for each in everything]
    assert named == sorted(named)
    assert len(named) == 11
    for filter in (None, Equals("n", 1)):
        whole = await reader.documents(filter=filter)
        assert len(whole) == (11 if filter is None else 6)
        for offset in range(13):
            for limit in (0, 1, 4, None):
                page = await reader.documents(filter=filter, offset=offset, limit=limit)
                assert page == whole[offset : None if limit is None else offset + limit]
    for offset, limit in ((-1, None), (0, -1)):
        with refused(InputError):
            await reader.documents(offset=offset, limit=limit)


async def counts_in_the_store(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, sample("a", "one", "two", metadata={"kind": "x"}), sample("b", "one"))
    reader = await store.reader(SCOPE)
    assert await reader.count() == (2, 3)
    assert await reader.count(Equals("kind", "x")) == (1, 2)
    assert await reader.count(Not(Equals("kind", "x"))) == (1, 1)
    described = await store.collection(COLLECTION)
    assert (described.documents, described.chunks) == (2, 3)


async def names_languages_by_frequency(open_store: OpenStore) -> None:
    store = await open_store()
    spoken = ["de", "en", "de", "und", "und", "und"]
    await put(store, *(sample(f"s{n}", "words", language=each) for n, each in enumerate(spoken)))
    assert (await store.reader(SCOPE)).languages == ("de", "en")
    assert (await store.collection(COLLECTION)).languages == ("de", "en")


ORDERED = (
    *("", "\x00", "\x00\x00", "\x01", "\x01\x01", "\x02", " ", "!", "-", "0", "10", "9", "A", "B", "Z"),
    *("\\", "\\\\", "_", "a", "a\x00", "a\x00\x00", "a\x00b", "a\x01", "a\x02", "a b", "a!", "a-", "aB"),
    *("ab", "a\u0301", "b", "z", "~", "\u00c4", "\u00df", "\u00e4", "\u0391", "\u0416", "\u05d0"),
    *("\u6570", "\ue000", "\uffff", "\U0001f600"),
)
"""Names by their code points, as no language would order them."""


async def lists_documents_by_code_points(open_store: OpenStore) -> None:
    """The order is the same in every country, so that pages fit together."""
    store = await open_store()
    for collection in ("b", "B", "\u00e4"):
        documents = [sample(f"s{name}", "words", collection=collection) for name in reversed(ORDERED)]
        await put(store, *documents, collection=collection)
    reader = await store.reader(Scope(("b", "\u00e4", "B")))
    expected = [(collection, f"s{name}") for collection in ("B", "b", "\u00e4") for name in ORDERED]
    assert [(each.collection, each.source_id) for each in await reader.documents()] == expected
    paged = [await reader.documents(offset=offset, limit=4) for offset in range(0, len(expected), 4)]
    assert [(each.collection, each.source_id) for page in paged for each in page] == expected
    assert [each.name for each in await store.collections()] == ["B", "b", "\u00e4"]
    reader = await store.reader(Scope(("b",)))
    near = await reader.vector_search(vector("words"), top_k=99)
    assert [hit.source_id for hit in near] == [f"s{name}" for name in ORDERED]
    for number, name in enumerate(ORDERED):
        after = await reader.documents(filter=Compare("source_id", ">", f"s{name}"))
        assert [each.source_id for each in after] == [f"s{name}" for name in ORDERED[number + 1 :]]


async def counts_follow_every_change(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, *(sample(f"s{n}", *["words"] * n, metadata={"n": n}) for n in range(6)))
    await _assert_counts(store, {n: n for n in range(6)})
    await put(store, sample("s5", "one", metadata={"n": 5}), sample("s1", metadata={"n": 1}))
    await _assert_counts(store, {0: 0, 1: 0, 2: 2, 3: 3, 4: 4, 5: 1})
    await store.delete(COLLECTION, ["s3", "s0"])
    await _assert_counts(store, {1: 0, 2: 2, 4: 4, 5: 1})
    await store.optimise()
    await _assert_counts(store, {1: 0, 2: 2, 4: 4, 5: 1})


async def _assert_counts(store: Store, chunks: Mapping[int, int]) -> None:
    reader, described = await store.reader(SCOPE), await store.collection(COLLECTION)
    assert await reader.count() == (len(chunks), sum(chunks.values()))
    assert (described.documents, described.chunks) == await reader.count()
    assert await store.collections() == (described,)
    assert {each.metadata["n"]: each.chunks for each in await reader.documents()} == chunks
    entries = await store.entries(COLLECTION)
    assert {name: each.chunks for name, each in entries.items()} == {
        f"s{n}": each for n, each in chunks.items()
    }
    for n in range(6):
        assert await reader.count(Equals("n", n)) == (int(n in chunks), chunks.get(n, 0))


CHECKS: tuple[Check, ...] = (
    lists_documents_by_code_points,
    counts_follow_every_change,
    lists_documents_in_pages,
    lists_several_collections_in_pages,
    counts_in_the_store,
    names_languages_by_frequency,
)
