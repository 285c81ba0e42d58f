"""Tables of libraries that were made before chunks said what was embedded of them."""

import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from refdesk.documents import Scope
from refdesk.stores import Store, control, rows, shelves
from refdesk.stores.engine import open_table
from refdesk.stores.lance import open_lance
from refdesk.testing.stores.embedded import A, digest, told
from refdesk.testing.stores.keywords import assert_bm25
from refdesk.testing.stores.samples import COLLECTION, FINGERPRINT, put, sample, vector

pytestmark = pytest.mark.anyio


@pytest.fixture
async def older(tmp_path: Path) -> AsyncIterator[Store]:
    """Return a library with one document, whose table lacks the later columns."""
    store = await open_lance(tmp_path)
    await put(store, sample("old", "words of old"))
    with control.writing(tmp_path) as connection:
        shelf = shelves.shelf(connection, COLLECTION)
        table = open_table(tmp_path / "chunks" / shelf.folder)
        table.drop_columns([field.name for field in rows.MADE_OF])
        shelves.publish(connection, shelf, table.version, at=time.time())
    yield store
    await store.aclose()


async def test_they_are_searched_and_counted(older: Store) -> None:
    assert not await older.embedded(COLLECTION, ["old"], fingerprint=FINGERPRINT)
    (one,) = await older.vector_sets(COLLECTION)
    assert one.strategies == {"": 1}
    reader = await older.reader(Scope())
    assert len(await reader.vector_search(vector("x"), top_k=9)) == 1


async def test_a_write_adds_the_columns(older: Store) -> None:
    before = await older.reader(Scope())
    await put(older, A)
    await put(older, told(sample("b", "words three")))
    await older.optimise()
    (one,) = await older.vector_sets(COLLECTION)
    assert one.strategies == {"": 1, "titled:1": 3}
    found = await older.embedded(COLLECTION, ["old", "a"], fingerprint=FINGERPRINT)
    assert set(found) == {digest("words one"), digest("words two")}
    assert await before.count() == (1, 1)
    texts = ["words of old", "words one", "words two", "words three"]
    await assert_bm25(await older.reader(Scope()), texts, ["words", "one"])


async def test_a_remake_gives_all_of_them_the_columns(older: Store) -> None:
    remake = await older.remake(COLLECTION, fingerprint=FINGERPRINT, dimension=len(vector("x")), recipe="new")
    await remake.write([told(sample("old", "words of old"))])
    assert await remake.switch()
    assert set(await older.embedded(COLLECTION, ["old"], fingerprint=FINGERPRINT)) == {digest("words of old")}
