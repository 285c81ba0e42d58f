"""What was acknowledged survives the death of the writer, and nothing else is seen."""

import random
from pathlib import Path

import anyio
import pytest
from tests.stores import editions
from tests.stores.killing import kill_after, possible_states, start, stored_texts

from refdesk.stores.lance import open_lance
from refdesk.testing.stores.samples import COLLECTION, put, sample

pytestmark = pytest.mark.anyio

ROUNDS = 10


async def test_kill_9_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    chance, last, begun = random.Random(), 0, 1
    for _ in range(ROUNDS):
        writer, enough = start(str(tmp_path), begun), chance.randrange(3)
        last = begun - 1 + enough
        last += await anyio.to_thread.run_sync(kill_after, writer, enough, chance.random() * 0.4)
        store = await open_lance(tmp_path)
        await store.create(COLLECTION)
        assert await stored_texts(store) in possible_states(last)
        await editions.publish(store, last + 1, "s")
        begun = last + 2
    await store.optimise()
    assert await stored_texts(store) == editions.texts_after(begun - 1, "s")


async def test_two_processes_write_at_once(tmp_path: Path) -> None:
    await (await open_lance(tmp_path)).create(COLLECTION)
    writers = {prefix: start(str(tmp_path), 1, prefix) for prefix in ("a", "b")}
    last = {
        prefix: 6 + await anyio.to_thread.run_sync(kill_after, writer, 6, 0.0)
        for prefix, writer in writers.items()
    }
    store = await open_lance(tmp_path)
    for prefix, number in last.items():
        await editions.publish(store, number + 1, prefix)
    both = {
        name: texts
        for prefix, number in last.items()
        for name, texts in editions.texts_after(number + 1, prefix).items()
    }
    assert await stored_texts(store) == both


def remembered(folder: Path) -> dict[Path, bytes]:
    """Return the control file as it is on disk."""
    return {path: path.read_bytes() for path in folder.glob("control.sqlite*")}


def turn_back(folder: Path, control: dict[Path, bytes]) -> None:
    """Undo what was published since, as if the process had died before; the chunks stay as they are."""
    for path in folder.glob("control.sqlite*"):
        path.unlink()
    for path, data in control.items():
        path.write_bytes(data)


async def test_a_version_that_was_never_published_is_undone(tmp_path: Path) -> None:
    store = await open_lance(tmp_path)
    await put(store, sample("a", "words one"))
    control = remembered(tmp_path)
    await put(store, sample("a", "words two"), sample("b", "words three"))
    turn_back(tmp_path, control)
    store = await open_lance(tmp_path)
    assert await stored_texts(store) == {"a": ["words one"]}
    await put(store, sample("c", "words four"))
    assert await stored_texts(store) == {"a": ["words one"], "c": ["words four"]}


async def test_a_first_write_that_never_finished_leaves_nothing(tmp_path: Path) -> None:
    store = await open_lance(tmp_path)
    await store.create(COLLECTION)
    control = remembered(tmp_path)
    await put(store, sample("a", "words one"))
    turn_back(tmp_path, control)
    store = await open_lance(tmp_path)
    assert await stored_texts(store) == {}
    await put(store, sample("b", "words two"))
    assert await stored_texts(store) == {"b": ["words two"]}


@pytest.mark.parametrize("rubbish", [b"", b"\0" * 40, b"half a manifest"], ids=["empty", "zeros", "torn"])
async def test_a_newer_version_that_power_loss_left_unreadable_is_discarded(
    tmp_path: Path, rubbish: bytes
) -> None:
    store = await open_lance(tmp_path)
    await put(store, sample("a", "words one"))
    (folder,) = (tmp_path / "chunks").iterdir()
    newest = min((folder / "_versions").glob("*.manifest"))
    newest.with_stem(f"{int(newest.stem) - 1:020}").write_bytes(rubbish)
    store = await open_lance(tmp_path)
    await put(store, sample("b", "words two"))
    assert await stored_texts(store) == {"a": ["words one"], "b": ["words two"]}
