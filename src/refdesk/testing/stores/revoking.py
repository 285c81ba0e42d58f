"""Checks of permissions that change: each change holds for every reader opened from then on."""

import dataclasses

import anyio

from refdesk.documents import PUBLIC
from refdesk.errors import NotFound
from refdesk.stores import Entry, Reader, Store, StoredDocument
from refdesk.testing.stores.arms import assert_sees
from refdesk.testing.stores.permissions import EVERYTHING, asking, owned
from refdesk.testing.stores.promise import Check, OpenStore
from refdesk.testing.stores.remaking import anew, begin
from refdesk.testing.stores.samples import COLLECTION, put, sample, vector

ANNA = asking("anna")
A, B = owned("a", "anna"), owned("b", PUBLIC)


def with_acl(stored: StoredDocument, *acl: str) -> StoredDocument:
    """Return a document with another ACL."""
    return dataclasses.replace(stored, document=dataclasses.replace(stored.document, acl=acl))


async def set_acl(store: Store, source_id: str, *acl: str) -> None:
    """Change the ACL of a stored document, and nothing else."""
    entry = (await store.entries(COLLECTION))[source_id]
    await store.update(COLLECTION, [dataclasses.replace(entry, acl=acl)])


CHANGES = ((), ("bert",), ("bert", "anna"), (PUBLIC,), ("Anna",), ("anna",), ())
"""ACLs that a document has one after the other."""


async def an_acl_changes_through_update(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, A, B)
    for acl in CHANGES:
        await set_acl(store, "a", *acl)
        await _assert_holds(store, with_acl(A, *acl))


async def an_acl_changes_through_write(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, A, B)
    for acl in CHANGES:
        changed = with_acl(A, *acl)
        await put(store, changed)
        await _assert_holds(store, changed)


async def _assert_holds(store: Store, changed: StoredDocument) -> None:
    """Those whom the ACL names see the document, the others do not; no other document has changed."""
    everything, acl = (changed, B), changed.document.acl
    for scope in (asking(), ANNA, asking("bert"), asking("anna", "bert")):
        expected = everything if scope.readers & {*acl} else (B,)
        await assert_sees(await store.reader(scope), everything, expected)
    await assert_sees(await store.reader(EVERYTHING), everything, everything)
    entries = await store.entries(COLLECTION)
    assert (entries["a"].acl, entries["b"].acl) == (acl, B.document.acl)


async def an_update_of_something_else_keeps_the_acl(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, A, B)
    entry: Entry = (await store.entries(COLLECTION))["a"]
    await store.update(COLLECTION, [dataclasses.replace(entry, title="New", metadata={"year": 2025})])
    changed = dataclasses.replace(A.document, title="New", metadata={"year": 2025})
    everything = (dataclasses.replace(A, document=changed), B)
    await assert_sees(await store.reader(ANNA), everything, everything)
    await assert_sees(await store.reader(asking()), everything, [B])


async def what_is_deleted_and_written_again_has_its_new_acl(open_store: OpenStore) -> None:
    store = await open_store()
    for acl in (("anna",), (), (PUBLIC,), ("bert",)):
        await put(store, with_acl(A, *acl), B)
        await _assert_holds(store, with_acl(A, *acl))
        receipt = await store.delete(COLLECTION, ["a"])
        assert (receipt.documents, receipt.chunks) == (1, 2)
        await assert_sees(await store.reader(EVERYTHING), [A, B], [B])
    await store.drop(COLLECTION)
    await put(store, with_acl(A), B)
    await _assert_holds(store, with_acl(A))


async def maintenance_keeps_acls(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, A, B)
    for acl in CHANGES:
        await set_acl(store, "a", *acl)
        await store.optimise()
        await _assert_holds(store, with_acl(A, *acl))


async def a_grant_does_not_reach_an_open_reader(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, A, B)
    before = await store.reader(asking("bert"))
    await set_acl(store, "a", "bert", "anna")
    await assert_sees(before, [A, B], [B])


async def a_revocation_reaches_an_open_reader_whole_or_not(open_store: OpenStore) -> None:
    """Such a reader sees its own state, or at once the new permission: one of both in every way to read."""
    store = await open_store()
    await put(store, A, B)
    for how in ("update", "write"):
        before = await store.reader(ANNA)
        if how == "update":
            await set_acl(store, "a", "bert")
        else:
            await put(store, with_acl(A, "bert"))
        await assert_sees(before, [A, B], [A, B] if await _shows(before, A) else [B])
        await assert_sees(await store.reader(ANNA), [A, B], [B])
        await put(store, A)


async def _shows(reader: Reader, stored: StoredDocument) -> bool:
    try:
        await reader.document(stored.document.document_id)
    except NotFound:
        return False
    return True


async def new_text_for_others_never_reaches_an_open_reader(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, A, B)
    before = await store.reader(ANNA)
    await put(store, sample("a", "secret words", acl=("bert",)))
    await put(store, sample("c", "secret words", acl=("anna",)))
    for hits in (
        await before.vector_search(vector("secret words"), top_k=99),
        await before.keyword_search(["secret", "words"], top_k=99),
    ):
        assert {hit.source_id for hit in hits} in ({"a", "b"}, {"b"})
        assert not any("secret" in hit.chunk.text for hit in hits)


async def a_remake_keeps_acls(open_store: OpenStore) -> None:
    store = await open_store()
    documents = [sample(name, f"words {name}", f"one {name}", acl=acl) for name, acl in _ACLS.items()]
    await put(store, *documents)
    remake = await begin(store)
    assert await remake.missing() == tuple(_ACLS)
    await remake.write([anew(stored) for stored in documents])
    await set_acl(store, "annas", "bert")
    await set_acl(store, "nobodys", PUBLIC)
    assert await remake.switch()
    for principals, expected in (((), ["nobodys", "open"]), (("anna",), ["nobodys", "open"])):
        await _assert_named(await store.reader(asking(*principals)), expected)
    await _assert_named(await store.reader(asking("bert")), ["annas", "nobodys", "open"])
    assert {name: each.acl for name, each in (await store.entries(COLLECTION)).items()} == {
        "annas": ("bert",),
        "nobodys": (PUBLIC,),
        "open": (PUBLIC,),
    }


_ACLS: dict[str, tuple[str, ...]] = {"annas": ("anna",), "nobodys": (), "open": (PUBLIC,)}


async def _assert_named(reader: Reader, names: list[str]) -> None:
    assert [each.source_id for each in await reader.documents()] == names
    assert [hit.source_id for hit in await reader.keyword_search(["words"], top_k=99)] == names
    assert await reader.count() == (len(names), len(names))


async def readers_never_see_half_a_change(open_store: OpenStore) -> None:
    """ACLs that change in one update change together, while others read."""
    store = await open_store()
    documents = [sample(f"s{n}", f"words {n}", acl=("anna",)) for n in range(6)]
    await put(store, *documents)
    done = anyio.Event()

    async def update() -> None:
        for turn in range(12):
            acl = ("bert",) if turn % 2 == 0 else ("anna",)
            entries = (await store.entries(COLLECTION)).values()
            await store.update(COLLECTION, [dataclasses.replace(each, acl=acl) for each in entries])
        done.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(update)
        while not done.is_set():
            await _assert_all_or_none(await store.reader(ANNA))


async def _assert_all_or_none(reader: Reader) -> None:
    """A reader that a revocation reaches at once may lose all documents from one search to the next."""
    numbers = (
        len(await reader.documents()),
        (await reader.count())[0],
        len(await reader.vector_search(vector("x"), top_k=99)),
        len(await reader.keyword_search(["words"], top_k=99)),
    )
    assert set(numbers) <= {0, 6}


CHECKS: tuple[Check, ...] = (
    an_acl_changes_through_update,
    an_acl_changes_through_write,
    an_update_of_something_else_keeps_the_acl,
    what_is_deleted_and_written_again_has_its_new_acl,
    maintenance_keeps_acls,
    a_grant_does_not_reach_an_open_reader,
    a_revocation_reaches_an_open_reader_whole_or_not,
    new_text_for_others_never_reaches_an_open_reader,
    a_remake_keeps_acls,
    readers_never_see_half_a_change,
)
