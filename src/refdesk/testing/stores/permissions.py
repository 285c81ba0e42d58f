"""Checks of permissions: who sees what. An ACL hides a document in every way to read, or it hides nothing."""

import dataclasses
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from refdesk.documents import PUBLIC, Chunk, Metadata, Scope
from refdesk.errors import InputError, NotFound
from refdesk.filters import Compare, Equals, Exists, Filter
from refdesk.stores import Reader, StoredDocument
from refdesk.testing.stores.arms import assert_sees
from refdesk.testing.stores.promise import Check, OpenStore, refused
from refdesk.testing.stores.samples import COLLECTION, put, sample, vector

T = TypeVar("T")

OTHER = "other"
EVERYTHING = Scope(upkeep=True)


def asking(*principals: str) -> Scope:
    """Return the scope of someone who asks in the usual collection."""
    return Scope((COLLECTION,), principals)


def owned(
    source_id: str, *acl: str, language: str = "en", metadata: Metadata | None = None
) -> StoredDocument:
    """Return a document of two chunks with token vectors that these may read."""
    texts = (f"words of {source_id}", f"more words {source_id}")
    return sample(source_id, *texts, acl=acl, language=language, metadata=metadata, late=True)


FREE = owned("free", PUBLIC)
ANNAS = owned("annas", "user:anna", language="de")
STAFFS = owned("staffs", "group:staff", "user:anna", language="de")
MIXED = owned("mixed", "user:bert", PUBLIC)
NOBODYS = owned("nobodys", language="fr")
BARE = sample("bare", acl=("group:staff",))
"""A document without chunks."""
ALL = (FREE, ANNAS, STAFFS, MIXED, NOBODYS, BARE)


async def an_acl_says_who_sees_a_document(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, *ALL)
    for principals, expected in (
        ((), (FREE, MIXED)),
        ((PUBLIC,), (FREE, MIXED)),
        (("user:anna",), (FREE, ANNAS, STAFFS, MIXED)),
        (("group:staff",), (FREE, STAFFS, MIXED, BARE)),
        (("user:bert", "group:staff"), (FREE, STAFFS, MIXED, BARE)),
        (("user:anna", "user:anna", "group:staff"), (FREE, ANNAS, STAFFS, MIXED, BARE)),
        (("user:nobody",), (FREE, MIXED)),
    ):
        await assert_sees(await store.reader(asking(*principals)), ALL, expected)


async def an_empty_acl_is_hidden_from_everyone(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, NOBODYS, sample("empty", acl=()))
    for principals in ((), (PUBLIC,), ("user:anna", "group:staff"), ("*",), ("NULL",), ("nobodys",)):
        await assert_sees(await store.reader(asking(*principals)), [NOBODYS], [])
    assert (await store.collection(COLLECTION)).documents == 2


async def upkeep_reads_whatever_the_acls_say(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, *ALL)
    await put(store, sample("there", "words", collection=OTHER), collection=OTHER)
    await assert_sees(await store.reader(EVERYTHING), ALL, ALL)
    await assert_sees(await store.reader(Scope((COLLECTION,), ("user:anna",), upkeep=True)), ALL, ALL)
    with refused(NotFound):
        await store.reader(Scope(("unknown",), upkeep=True))


async def hidden_is_worded_as_missing(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, *ALL)
    reader = await store.reader(asking())
    chunk = NOBODYS.chunks[0]
    never = dataclasses.replace(chunk, document_id="f" * 20, chunk_id="e" * 20)
    for read in (reader.document, reader.chunks):
        assert await _refusal(read, chunk.document_id) == await _refusal(read, never.document_id)
    assert await _refusal(reader.neighbours, chunk) == await _refusal(reader.neighbours, never)


async def _refusal(read: Callable[[T], Awaitable[object]], what: T) -> tuple[str, str | None]:
    """Return what an error says, without the names that were asked for."""
    with refused(NotFound) as raised:
        await read(what)
    message = raised.error.message
    for name in (what.document_id, what.chunk_id) if isinstance(what, Chunk) else (str(what),):
        message = message.replace(name, "ID")
    return message, raised.error.remedy


async def hidden_documents_do_not_shorten_a_list(open_store: OpenStore) -> None:
    store = await open_store()
    groups = {"half": 2, "hundredth": 100, "thousandth": 1_000}
    documents = [
        sample(f"s{n:04}", f"words {n}", acl=tuple(name for name, each in groups.items() if n % each == 0))
        for n in range(2_000)
    ]
    await put(store, *documents)
    hidden = (sample(f"hidden {n}", "words", "words words", acl=("boss",)) for n in range(600))
    await put(store, *hidden)
    for name, each in groups.items():
        reader = await store.reader(asking(name))
        await _assert_full(reader, [f"words {n}" for n in range(0, 2_000, each)])


async def _assert_full(reader: Reader, texts: Sequence[str]) -> None:
    query = vector("words")
    nearest = sorted(texts, key=lambda text: -float(vector(text) @ query))
    for top_k in (1, 10, 30, 1_500):
        near = await reader.vector_search(query, top_k=top_k)
        assert [hit.chunk.text for hit in near] == nearest[:top_k]
        worded = await reader.keyword_search(["words"], top_k=top_k)
        assert len({hit.chunk.text for hit in worded}) == min(top_k, len(texts))
        assert {hit.chunk.text for hit in worded} <= set(texts)
        filtered = await reader.vector_search(query, top_k=top_k, filter=Exists("title"))
        assert filtered == near
        assert [hit.rank for hit in near] == list(range(1, len(near) + 1))


async def scores_do_not_depend_on_who_asks(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, *ALL, *(sample(f"hidden {n}", f"words rare {n}", acl=("boss",)) for n in range(30)))
    scores = []
    for scope in (asking(), asking("user:anna"), asking("boss"), EVERYTHING):
        found = await (await store.reader(scope)).keyword_search(["words", "free"], top_k=99)
        scores.append({hit.chunk.chunk_id: round(hit.keyword_score or 0, 5) for hit in found})
    for each in scores:
        assert each.items() >= scores[0].items()


async def the_same_source_has_an_acl_in_each_collection(open_store: OpenStore) -> None:
    store = await open_store()
    here = sample("a", "words here", acl=("user:anna",), late=True)
    there = sample("a", "words there", collection=OTHER, acl=("user:bert",), late=True)
    await put(store, here)
    await put(store, there, collection=OTHER)
    both = (COLLECTION, OTHER)
    for principals, expected in (
        ((), []),
        (("user:anna",), [here]),
        (("user:bert",), [there]),
        (("user:bert", "user:anna"), [here, there]),
    ):
        await assert_sees(await store.reader(Scope(both, principals)), [here, there], expected)
    await assert_sees(await store.reader(Scope((OTHER,), ("user:anna",))), [here, there], [])


async def filters_select_among_what_is_seen(open_store: OpenStore) -> None:
    store = await open_store()
    documents = [
        owned(f"s{n:02}", ("user:anna", PUBLIC, "user:bert")[n % 3], metadata={"n": n, "odd": n % 2})
        for n in range(30)
    ]
    await put(store, *documents)
    reader = await store.reader(asking("user:anna"))
    for filter, expected in (
        (Equals("odd", 1), [n for n in range(30) if n % 3 < 2 and n % 2]),
        (Compare("n", ">=", 20), [n for n in range(20, 30) if n % 3 < 2]),
        (Equals("source_id", "s02"), []),
        (Equals("acl", "user:anna"), []),
        (Exists("acl"), []),
    ):
        await _assert_selected(reader, filter, [f"s{n:02}" for n in expected])


async def _assert_selected(reader: Reader, filter: Filter, names: Sequence[str]) -> None:
    assert [each.source_id for each in await reader.documents(filter=filter)] == names
    near = await reader.vector_search(vector("x"), top_k=99, filter=filter)
    worded = await reader.keyword_search(["words"], top_k=99, filter=filter)
    assert sorted(hit.source_id for hit in near) == sorted(2 * names)
    assert sorted(hit.source_id for hit in worded) == sorted(2 * names)
    assert await reader.count(filter) == (len(names), 2 * len(names))


async def a_clash_of_kinds_tells_nothing_of_hidden_documents(open_store: OpenStore) -> None:
    """An error about what a hidden document has under a key would say that it is there."""
    store = await open_store()
    await put(store, FREE, owned("secret", "boss", metadata={"salary": 9_000}))
    reader = await store.reader(asking())
    assert await reader.count(Compare("salary", ">", "a text")) == (0, 0)
    assert await reader.vector_search(vector("x"), top_k=3, filter=Compare("salary", ">", "a text")) == ()
    with refused(InputError):
        await (await store.reader(asking("boss"))).count(Compare("salary", ">", "a text"))


async def pages_hold_only_what_is_seen(open_store: OpenStore) -> None:
    store = await open_store()
    names = [f"s{n:02}" for n in range(60)]
    await put(store, *(sample(each, "words", acl=("ab"[n % 3 == 0],)) for n, each in enumerate(names)))
    reader = await store.reader(asking("b"))
    pages = [await reader.documents(offset=offset, limit=7) for offset in range(0, 28, 7)]
    assert [each.source_id for page in pages for each in page] == names[::3]
    assert [len(page) for page in pages] == [7, 7, 6, 0]


CHECKS: tuple[Check, ...] = (
    an_acl_says_who_sees_a_document,
    an_empty_acl_is_hidden_from_everyone,
    upkeep_reads_whatever_the_acls_say,
    hidden_is_worded_as_missing,
    hidden_documents_do_not_shorten_a_list,
    scores_do_not_depend_on_who_asks,
    the_same_source_has_an_acl_in_each_collection,
    filters_select_among_what_is_seen,
    a_clash_of_kinds_tells_nothing_of_hidden_documents,
    pages_hold_only_what_is_seen,
)
