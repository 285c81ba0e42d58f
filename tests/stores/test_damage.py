"""Files that cannot be used give one clear error."""

import contextlib
import os
import sqlite3
from pathlib import Path

import pytest

from refdesk.documents import Scope
from refdesk.errors import NotFound, StoreError
from refdesk.stores import engine
from refdesk.stores.control import FILE, SCHEMA
from refdesk.stores.lance import open_lance
from refdesk.testing.stores.samples import COLLECTION, put, sample, vector

pytestmark = pytest.mark.anyio


def open_files(folder: Path) -> list[str]:
    """Return what this process has open below a folder; nothing where the system does not tell."""
    descriptors = Path("/proc/self/fd")
    found = [os.path.realpath(each) for each in descriptors.iterdir()] if descriptors.is_dir() else []
    return [each for each in found if each.startswith(str(folder.resolve()))]


async def test_a_folder_without_library_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="refdesk ingest"):
        await open_lance(tmp_path / "nowhere", read_only=True)
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize(("version", "words"), [(SCHEMA + 1, "upgrade"), (0, "old format")])
async def test_another_format_is_refused(tmp_path: Path, version: int, words: str) -> None:
    await open_lance(tmp_path)
    connection = sqlite3.connect(tmp_path / FILE)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    for read_only in (True, False):
        with pytest.raises(StoreError, match=words):
            await open_lance(tmp_path, read_only=read_only)


async def test_a_library_that_is_just_being_made_is_not_there_yet(tmp_path: Path) -> None:
    sqlite3.connect(tmp_path / FILE).execute("PRAGMA journal_mode = WAL").connection.close()
    with pytest.raises(NotFound, match="refdesk ingest"):
        await open_lance(tmp_path, read_only=True)
    await (await open_lance(tmp_path)).create(COLLECTION)
    assert await (await open_lance(tmp_path, read_only=True)).collections()


async def test_a_foreign_database_is_refused(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / FILE)
    connection.execute("PRAGMA user_version = 1")
    connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    with pytest.raises(StoreError, match="not the control file"):
        await open_lance(tmp_path)


@pytest.mark.parametrize("data", [b"not a database at all, but long enough to be taken for one" * 100])
async def test_a_damaged_control_file_is_named(tmp_path: Path, data: bytes) -> None:
    (tmp_path / FILE).write_bytes(data)
    for read_only in (True, False):
        with pytest.raises(StoreError, match="damaged") as raised:
            await open_lance(tmp_path, read_only=read_only)
        assert raised.value.remedy


async def test_missing_chunks_are_an_error_not_an_empty_result(tmp_path: Path) -> None:
    store = await open_lance(tmp_path)
    await put(store, sample("a", "words"))
    (folder,) = (tmp_path / "chunks").iterdir()
    folder.rename(tmp_path / "elsewhere")
    reader = await (await open_lance(tmp_path)).reader(Scope())
    with pytest.raises(StoreError, match="chunks"):
        await reader.keyword_search(["words"], top_k=3)
    with pytest.raises(StoreError, match="chunks"):
        await reader.vector_search(vector("x"), top_k=3)
    with pytest.raises(StoreError, match="chunks"):
        await put(store, sample("b", "words"))


async def test_a_reader_that_cannot_be_opened_leaves_nothing_open(tmp_path: Path) -> None:
    store = await open_lance(tmp_path)
    await put(store, sample("a", "words"))
    with contextlib.closing(sqlite3.connect(tmp_path / FILE)) as connection:
        connection.execute("ALTER TABLE documents RENAME COLUMN language TO tongue")
    with pytest.raises(StoreError, match="language") as raised:
        await store.reader(Scope())
    assert raised.value.__cause__ is not None  # and so the failed call, with all that it left open
    assert not open_files(tmp_path)


@pytest.mark.parametrize(("message", "said"), [("", "OSError"), ("\n", "OSError"), ("one\ntwo", "one O")])
def test_an_error_of_the_engine_is_told_in_one_line(message: str, said: str) -> None:
    with pytest.raises(StoreError, match=f"Cannot read: {said}"), engine.translated("read"):
        raise OSError(message)


async def test_a_file_where_the_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / "library").write_text("x")
    with pytest.raises(StoreError):
        await open_lance(tmp_path / "library")


async def test_read_only_refuses_to_write(tmp_path: Path) -> None:
    await put(await open_lance(tmp_path), sample("a", "words"))
    store = await open_lance(tmp_path, read_only=True)
    assert await (await store.reader(Scope())).count() == (1, 1)
    with pytest.raises(StoreError, match="read only"):
        await store.drop(COLLECTION)


async def test_a_path_with_spaces_and_signs(tmp_path: Path) -> None:
    folder = tmp_path / "my library #1 %20 ü?"
    await put(await open_lance(folder), sample("a", "words"))
    reader = await (await open_lance(folder, read_only=True)).reader(Scope())
    assert len(await reader.keyword_search(["words"], top_k=3)) == 1
