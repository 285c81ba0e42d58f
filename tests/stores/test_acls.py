"""ACLs in the embedded store: shared sets, revocation at once, and libraries of the format before them."""

import re
import shutil
import sqlite3
from pathlib import Path

import pytest

from refdesk.documents import PUBLIC, Document, Scope
from refdesk.errors import InputError, NotFound, StoreError, StoreLocked
from refdesk.filters import Compare
from refdesk.stores import control, lock
from refdesk.stores.lance import LanceStore, open_lance
from refdesk.stores.upgrading import upgrade
from refdesk.testing.stores.samples import COLLECTION, put, sample, vector

pytestmark = pytest.mark.anyio

ANNA = Scope(principals=("anna",))


@pytest.fixture
async def store(tmp_path: Path) -> LanceStore:
    return await open_lance(tmp_path / "library")


async def test_documents_share_sets_and_unused_ones_go(store: LanceStore) -> None:
    await put(store, *(sample(f"{n}", "words", acl=("anna", "staff")) for n in range(20)))
    await put(store, sample("x", "words", acl=("bert",)))
    assert sets(store) == ['["anna", "staff"]', '["bert"]']
    await store.delete(COLLECTION, ["x"])
    await store.optimise()
    assert sets(store) == ['["anna", "staff"]']


def sets(store: LanceStore) -> list[str]:
    with control.reading(store.folder) as connection:
        return [one for (one,) in connection.execute("SELECT principals FROM acls ORDER BY principals")]


@pytest.mark.parametrize("acl", ["public", ["public"], ("",), (3,), ("a\x00",), ("\ud800",), None])
async def test_what_is_no_acl_is_refused(store: LanceStore, acl: object) -> None:
    await put(store, sample("a", "words"))
    with pytest.raises(InputError, match="ACL"):
        await put(store, sample("a", "words", acl=acl))  # type: ignore[arg-type]
    entry = (await store.entries(COLLECTION))["a"]
    with pytest.raises(InputError, match="ACL"):
        await store.update(COLLECTION, [type(entry)(source_id="a", digest="", chunks=1, acl=acl)])  # type: ignore[arg-type]
    assert (await store.entries(COLLECTION))["a"].acl == (PUBLIC,)


async def test_taking_away_holds_for_open_readers_and_giving_does_not(store: LanceStore) -> None:
    await put(
        store, *(sample(f"{n}", "words", acl=("anna",)) for n in range(4)), sample("b", "words", acl=())
    )
    reader = await store.reader(ANNA)
    await put(store, *(sample(f"{n}", "words", acl=("bert",)) for n in range(3)), sample("b", "words"))
    assert await reader.count() == (1, 1)
    assert [hit.source_id for hit in await reader.vector_search(vector("x"), top_k=1)] == ["3"]
    assert [hit.source_id for hit in await reader.keyword_search(["words"], top_k=9)] == ["3"]
    assert [one.source_id for one in await reader.documents()] == ["3"]
    taken = sample("0", "words").document.document_id
    for read in (reader.document, reader.chunks):
        with pytest.raises(NotFound):
            await read(taken)
    await put(store, sample("0", "words", acl=("anna",)))
    assert await reader.count() == (2, 2)
    assert (await (await store.reader(ANNA)).count())[0] == 3


async def test_taking_away_from_everyone_holds_where_all_was_public(store: LanceStore) -> None:
    await put(store, *(sample(f"{n}", "words", late=True) for n in range(5)))
    reader = await store.reader(Scope())
    await put(store, sample("2", "words", acl=("anna",)))
    await store.delete(COLLECTION, ["3"])
    await put(store, sample("3", "words", acl=()))
    assert [one.source_id for one in await reader.documents()] == ["0", "1", "4"]
    assert await reader.count() == (3, 3)
    chunks = {n: sample(f"{n}", "words").chunks[0].chunk_id for n in range(5)}
    assert set(await reader.vectors([*chunks.values()])) == {chunks[0], chunks[1], chunks[4]}
    assert set(await reader.token_vectors([*chunks.values()])) == {chunks[0], chunks[1], chunks[4]}


async def test_an_open_reader_shows_what_was_deleted_since(store: LanceStore) -> None:
    await put(store, sample("a", "words", acl=("anna",)))
    reader = await store.reader(ANNA)
    await store.delete(COLLECTION, ["a"])
    assert await reader.count() == (1, 1)


async def test_filters_are_judged_by_what_may_be_read(store: LanceStore) -> None:
    await put(store, sample("a", "words", metadata={"year": 2020}, acl=()), sample("b", "words"))
    older = Compare("year", "<", 2021)
    assert await (await store.reader(Scope())).count(older) == (0, 0)
    await put(store, sample("c", "words", metadata={"year": "long ago"}, acl=("anna",)))
    assert await (await store.reader(Scope())).count(older) == (0, 0)
    with pytest.raises(InputError, match="year"):
        await (await store.reader(ANNA)).count(older)


OLD = r"""
DROP TABLE readers; DROP TABLE acls; DROP TABLE cursors; DROP INDEX documents_counted;
DROP INDEX documents_of_acl; ALTER TABLE documents DROP COLUMN acl;
CREATE INDEX documents_counted ON documents (collection, language, chunks, tokens);
PRAGMA user_version = 1
"""


@pytest.fixture
async def old(store: LanceStore) -> Path:
    """Return a library of the format without ACLs, with two documents."""
    await put(store, sample("a", "words one", "two"), sample("b", "words"))
    with sqlite3.connect(store.folder / control.FILE, isolation_level=None) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        for statement in OLD.split(";"):
            connection.execute(statement)
    connection.close()
    return store.folder


async def test_a_library_without_acls_is_refused_with_the_command_that_says_them(old: Path) -> None:
    for read_only in (True, False):
        with pytest.raises(StoreError, match=r"format 1.*who may read") as raised:
            await open_lance(old, read_only=read_only)
        assert f"refdesk --library {old} upgrade --acl NAME" in str(raised.value)


async def test_upgrading_says_who_may_read_and_nothing_else(old: Path) -> None:
    assert await upgrade(old, acl=["anna", "staff"]) == 2
    store = await open_lance(old)
    assert await (await store.reader(Scope())).count() == (0, 0)
    assert await (await store.reader(ANNA)).count() == (2, 3)
    first = (await (await store.reader(ANNA)).documents())[0]
    found = await (await store.reader(ANNA)).document(first.document_id)
    expected: Document = sample("a", "words one", "two", acl=("anna", "staff")).document
    assert found == expected
    await put(store, sample("b", "other", acl=(PUBLIC,)))
    await store.set_cursor(COLLECTION, "forum", "1")
    await store.optimise()
    assert [
        hit.source_id for hit in await (await store.reader(Scope())).keyword_search(["other"], top_k=9)
    ] == ["b"]
    assert await upgrade(old, acl="public") == 0
    assert (await store.entries(COLLECTION))["a"].acl == ("anna", "staff")


async def test_an_upgraded_library_is_what_a_new_one_is(old: Path, tmp_path: Path) -> None:
    await upgrade(old, acl="anna")
    await open_lance(tmp_path / "new")
    assert tables(old) == tables(tmp_path / "new")


def tables(folder: Path) -> dict[str, str]:
    """Return the tables of a control file as words, without what a column is before it is said."""
    with control.reading(folder) as connection:
        made = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    shown = {
        name: re.sub(r"\s+", " ", sql.replace(" DEFAULT 0 REFERENCES acls", " REFERENCES acls"))
        for name, sql in made
    }
    return {name: _columns(sql) for name, sql in shown.items()}


def _columns(sql: str) -> str:
    return " ".join(sorted(re.findall(r"\w+", sql)))


@pytest.mark.parametrize("acl", ["", (), None, ("public ",)])
async def test_an_upgrade_needs_somebody(old: Path, acl: object) -> None:
    with pytest.raises(InputError):
        await upgrade(old, acl=acl)  # type: ignore[arg-type]
    assert control.version(old) == 1


async def test_an_upgrade_is_of_a_library_of_its_own_kind(tmp_path: Path, old: Path) -> None:
    with pytest.raises(NotFound):
        await upgrade(tmp_path / "nothing", acl="anna")
    newer = shutil.copytree(old, tmp_path / "newer")
    with sqlite3.connect(newer / control.FILE) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StoreError, match="format 99"):
        await upgrade(newer, acl="anna")


async def test_an_upgrade_waits_for_who_writes(old: Path) -> None:
    async with lock.held(old, wait=0):
        with pytest.raises(StoreLocked):
            await upgrade(old, acl="anna", wait=0.1)
    assert await upgrade(old, acl="anna") == 2
