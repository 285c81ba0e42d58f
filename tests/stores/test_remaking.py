"""Making chunks anew in the embedded store: what is left on disk, and what an interruption leaves."""

import dataclasses
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from tests.stores.test_crashes import remembered, turn_back

from refdesk.documents import Scope
from refdesk.errors import StoreError
from refdesk.stores import StoredDocument, control
from refdesk.stores.indexes import Limits
from refdesk.stores.lance import LanceStore, open_lance
from refdesk.testing.stores.remaking import A, B, anew, assert_new, assert_old, begin
from refdesk.testing.stores.samples import COLLECTION, put, sample, vector

pytestmark = pytest.mark.anyio

NOW = timedelta(0)
SMALL = Limits(exact_below=600, rebuild_below=900, tail=100, parts=3)


def folders(store: LanceStore) -> list[Path]:
    return sorted((store.folder / "chunks").iterdir())


def numbered(first: int, last: int, word: str = "one") -> list[StoredDocument]:
    return [sample(f"s{n:04}", f"words {n} {word}", f"words {n} w{n % 7}") for n in range(first, last)]


async def made_anew(store: LanceStore, documents: Sequence[StoredDocument]) -> None:
    """Write one by one, so that there are several versions, and switch."""
    remake = await begin(store)
    for stored in documents:
        await remake.write([anew(stored)])
    assert await remake.switch()


async def test_old_chunks_leave_the_disk_when_nobody_can_hold_them(tmp_path: Path) -> None:
    store = await open_lance(tmp_path)
    await put(store, A, B)
    before = await store.reader(Scope())
    (old,) = folders(store)
    await made_anew(store, [A, B])
    (new,) = {*folders(store)} - {old}
    assert len(list((new / "_versions").glob("*.manifest"))) == 1
    await store.optimise()
    await assert_old(before, A, B)
    assert old in folders(store)
    await store.optimise(retention=NOW)
    assert folders(store) == [new]
    await assert_new(await store.reader(Scope()), A, B)


@pytest.mark.parametrize("ending", ["discarded", "begun otherwise", "dropped"])
async def test_what_was_given_up_leaves_the_disk(tmp_path: Path, ending: str) -> None:
    store = await open_lance(tmp_path)
    await put(store, A, B)
    kept = folders(store)
    remake = await begin(store)
    await remake.write([anew(A)])
    assert len(folders(store)) == 2
    if ending == "discarded":
        await remake.discard()
    elif ending == "begun otherwise":
        await begin(store, "another")
    else:
        await store.drop(COLLECTION)
        kept = []
    await store.optimise(retention=NOW)
    assert folders(store) == kept


async def test_maintenance_leaves_an_unfinished_remake(tmp_path: Path) -> None:
    store = await open_lance(tmp_path)
    await put(store, A, B)
    remake = await begin(store)
    await remake.write([anew(A)])
    await store.optimise(retention=NOW)
    assert await remake.missing() == ("b",)
    await remake.write([anew(B)])
    assert await remake.switch()
    await assert_new(await store.reader(Scope()), A, B)


async def test_chunks_that_were_never_published_are_undone(tmp_path: Path) -> None:
    """As if the process had died between writing the chunks and noting them."""
    store = await open_lance(tmp_path)
    await put(store, A, B)
    for number, stored in enumerate((A, B)):
        remake = await begin(store)
        before = remembered(tmp_path)
        await remake.write([anew(stored)])
        turn_back(tmp_path, before)
        store = await open_lance(tmp_path)
        remake = await begin(store)
        assert await remake.missing() == ("a", "b")[number:]
        await remake.write([anew(stored)])
    assert await remake.switch()
    await assert_new(await store.reader(Scope()), A, B)


async def test_a_switch_that_was_never_published_is_made_again(tmp_path: Path) -> None:
    store = await open_lance(tmp_path)
    await put(store, A, B)
    remake = await begin(store)
    await remake.write([anew(A), anew(B)])
    await put(store, sample("b", "words now"))
    before = remembered(tmp_path)
    assert not await remake.switch()
    turn_back(tmp_path, before)
    store = await open_lance(tmp_path)
    remake = await begin(store)
    assert await remake.missing() == ("b",)
    await remake.write([anew(sample("b", "words now"))])
    assert await remake.switch()
    await assert_new(await store.reader(Scope()), A, sample("b", "words now"))


async def test_new_chunks_that_are_lost_are_an_error_and_the_old_ones_stay(tmp_path: Path) -> None:
    store = await open_lance(tmp_path)
    await put(store, A, B)
    (old,) = folders(store)
    remake = await begin(store)
    await remake.write([anew(A), anew(B)])
    (new,) = {*folders(store)} - {old}
    new.rename(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match="chunks"):
        await remake.switch()
    await assert_old(await store.reader(Scope()), A, B)


async def test_a_large_collection_switches_with_its_indexes(tmp_path: Path) -> None:
    store = await open_lance(tmp_path, limits=SMALL)
    await put(store, *numbered(0, 700))
    remake = await begin(store)
    for first in range(0, 700, 100):
        await remake.write([anew(stored) for stored in numbered(first, first + 100)])
    await put(store, *numbered(50, 250, "two"))
    assert len(await remake.missing()) == 200
    await remake.write([anew(stored) for stored in numbered(50, 250, "two")])
    assert await remake.switch()
    now = [*numbered(0, 50), *numbered(50, 250, "two"), *numbered(250, 700)]
    reader = await store.reader(Scope())
    near = await reader.vector_search(vector("x")[:8], top_k=999)
    assert sorted(hit.chunk.text for hit in near) == sorted(stored.document.text for stored in now)
    worded = await reader.keyword_search(["two"], top_k=999)
    assert sorted(hit.source_id for hit in worded) == [f"s{n:04}" for n in range(50, 250)]
    assert len({round(hit.keyword_score or 0, 5) for hit in worded}) == 1


async def test_a_read_only_library_begins_nothing(tmp_path: Path) -> None:
    await put(await open_lance(tmp_path), A)
    store = await open_lance(tmp_path, read_only=True)
    with pytest.raises(StoreError, match="read only"):
        await begin(store)


async def test_a_miscounted_document_is_made_again(tmp_path: Path) -> None:
    """A document that has other chunks than were noted counts as missing."""
    store = await open_lance(tmp_path)
    await put(store, A, B)
    remake = await begin(store)
    short = dataclasses.replace(anew(A), chunks=(), tokens=(), vectors=anew(A).vectors[:0])
    await remake.write([short, anew(B)])
    with control.writing(tmp_path) as connection:
        connection.execute("UPDATE remade SET chunks = 1 WHERE chunks = 0")
    assert not await remake.switch()
    assert await remake.missing() == ("a",)
    await remake.write([anew(A)])
    assert await remake.switch()
    await assert_new(await store.reader(Scope()), A, B)
