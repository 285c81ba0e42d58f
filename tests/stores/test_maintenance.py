"""Maintenance keeps results, saves space, and leaves readers what they hold."""

import dataclasses
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from refdesk.documents import Scope
from refdesk.errors import StoreError
from refdesk.filters import Compare, Equals
from refdesk.stores import Reader, StoredDocument
from refdesk.stores.indexes import Limits
from refdesk.stores.lance import open_lance
from refdesk.testing.stores.keywords import assert_bm25
from refdesk.testing.stores.samples import COLLECTION, put, sample, vector

pytestmark = pytest.mark.anyio

NOW = timedelta(0)
SMALL = Limits(exact_below=600, rebuild_below=900, tail=100, parts=3)


def numbered(first: int, last: int) -> list[StoredDocument]:
    return [sample(f"s{n}", f"words {n} w{n % 7} w{n % 11}", metadata={"n": n}) for n in range(first, last)]


def size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


async def assert_all_found(reader: Reader, texts: Sequence[str]) -> None:
    """Compare both searches with what is there: scores of keywords, and all rows by vector, each once."""
    await assert_bm25(reader, texts, ["w3", "w9", "words"])
    near = await reader.vector_search(vector("x"), top_k=10 * len(texts))
    assert sorted(hit.chunk.text for hit in near) == sorted(texts)
    expected = [float(vector(hit.chunk.text) @ vector("x")) for hit in near]
    assert np.allclose([hit.vector_score or 0 for hit in near], expected, atol=1e-5)


async def test_results_stay_right_through_every_size(tmp_path: Path) -> None:
    """From no vector index to one, from a text index made anew to one in parts, with replaced documents."""
    store = await open_lance(tmp_path, limits=SMALL)
    texts: dict[str, str] = {}
    for turn in range(8):
        documents = numbered(150 * turn, 150 * turn + 170)
        await put(store, *documents)
        texts |= {each.document.source_id: each.document.text for each in documents}
        if turn % 2:
            await store.optimise(retention=NOW)
        await assert_all_found(await store.reader(Scope()), list(texts.values()))
    receipt = await store.delete(COLLECTION, [f"s{n}" for n in range(0, 1000, 3)])
    assert receipt.chunks == 334
    left = [text for name, text in texts.items() if int(name[1:]) % 3 or int(name[1:]) >= 1000]
    for _ in range(2):
        await assert_all_found(await store.reader(Scope()), left)
        await store.optimise(retention=NOW)


async def test_the_vector_index_serves_selective_filters(tmp_path: Path) -> None:
    store = await open_lance(tmp_path, limits=SMALL)
    await put(store, *numbered(0, 3000))
    await store.optimise()
    reader = await store.reader(Scope())
    for filter, expected in ((Equals("n", 7), 1), (Compare("n", "<", 30), 20), (Compare("n", ">=", 15), 20)):
        assert len(await reader.vector_search(vector("x"), top_k=20, filter=filter)) == expected
    found = await reader.vector_search(vector("x"), top_k=10)
    best = sorted(
        (float(vector(each.document.text) @ vector("x")) for each in numbered(0, 3000)), reverse=True
    )
    assert len({hit.chunk.text for hit in found}) == 10
    assert found[0].vector_score == pytest.approx(best[0], abs=1e-5)


async def test_old_versions_go_when_nobody_can_hold_them(tmp_path: Path) -> None:
    store = await open_lance(tmp_path)
    for _ in range(6):
        await put(store, *numbered(0, 300))
    before = await store.reader(Scope())
    await store.optimise()
    full = size(tmp_path / "chunks")
    assert len(await before.vector_search(vector("x"), top_k=900)) == 300
    await put(store, *numbered(0, 1))
    await store.optimise(retention=NOW)
    await store.optimise(retention=NOW)
    assert size(tmp_path / "chunks") < 0.5 * full
    assert len(await (await store.reader(Scope())).vector_search(vector("x"), top_k=900)) == 300


async def test_a_reader_that_was_held_too_long_is_told_so(tmp_path: Path) -> None:
    store = await open_lance(tmp_path)
    await put(store, *numbered(0, 50))
    old = await (await open_lance(tmp_path, read_only=True)).reader(Scope())
    await put(store, *numbered(10, 60))
    await store.optimise(retention=NOW)
    with pytest.raises(StoreError, match="new reader"):
        await old.vector_search(vector("x"), top_k=3)


async def test_maintenance_without_need_changes_nothing(tmp_path: Path) -> None:
    store = await open_lance(tmp_path)
    await put(store, *numbered(0, 50))
    for _ in range(2):
        await store.optimise(retention=NOW)
    before = sorted(path for path in (tmp_path / "chunks").rglob("*"))
    await store.optimise(retention=NOW)
    assert sorted(path for path in (tmp_path / "chunks").rglob("*")) == before


async def test_a_dropped_collection_leaves_the_disk(tmp_path: Path) -> None:
    store = await open_lance(tmp_path)
    await put(store, *numbered(0, 50))
    before = await store.reader(Scope())
    await store.drop(COLLECTION)
    await store.optimise()
    assert len(await before.keyword_search(["words"], top_k=99)) == 50
    await store.optimise(retention=NOW)
    assert list((tmp_path / "chunks").iterdir()) == []


async def test_term_counts_follow_every_write(tmp_path: Path) -> None:
    store = await open_lance(tmp_path)
    await put(store, *numbered(0, 40))
    await put(store, *numbered(20, 60))
    changed = [dataclasses.replace(each, tokens=("w0 w0",)) for each in numbered(0, 10)]
    await put(store, *changed)
    await store.delete(COLLECTION, [f"s{n}" for n in range(5, 60)])
    found = await (await store.reader(Scope())).keyword_search(["w0"], top_k=99)
    assert [hit.source_id for hit in found] == ["s0", "s1", "s2", "s3", "s4"]
    assert {round(hit.keyword_score or 0, 6) for hit in found} == {round(0.0870113769 * 2 / 3.2, 6)}
