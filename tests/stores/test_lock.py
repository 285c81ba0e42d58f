"""One writer at a time, and the others are told who it is."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import anyio
import pytest

from refdesk.errors import StoreLocked
from refdesk.stores import lock
from refdesk.stores.lance import open_lance
from refdesk.testing.stores.samples import put, sample

pytestmark = pytest.mark.anyio

HOLD = """
import sys, anyio
from pathlib import Path
from refdesk.stores import lock
async def main():
    async with lock.held(Path(sys.argv[1]), wait=5):
        print("held", flush=True)
        await anyio.sleep(600)
anyio.run(main)
"""


OPEN = """
import sys, anyio
from refdesk.stores.lance import open_lance
async def main():
    store = await open_lance(sys.argv[1])
    await store.create(sys.argv[2])
anyio.run(main)
"""


def hold(folder: Path) -> subprocess.Popen[str]:
    """Start a process that holds the lock, and wait until it does."""
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(folder)], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    return holder


def end(holder: subprocess.Popen[str]) -> None:
    holder.kill()
    holder.communicate()


async def test_a_waiter_is_told_the_owner(tmp_path: Path) -> None:
    store = await open_lance(tmp_path, wait=0.1)
    holder = await anyio.to_thread.run_sync(hold, tmp_path)
    try:
        with pytest.raises(StoreLocked) as raised:
            await put(store, sample("a", "words"))
    finally:
        end(holder)
    assert str(holder.pid) in raised.value.message
    assert str(holder.pid) in raised.value.remedy


async def test_reading_needs_no_lock(tmp_path: Path) -> None:
    await put(await open_lance(tmp_path), sample("a", "words"))
    holder = await anyio.to_thread.run_sync(hold, tmp_path)
    try:
        store = await open_lance(tmp_path, wait=0.1)
        assert [each.documents for each in await store.collections()] == [1]
    finally:
        end(holder)


async def test_the_death_of_the_owner_frees_the_lock(tmp_path: Path) -> None:
    store = await open_lance(tmp_path, wait=5)
    holder = await anyio.to_thread.run_sync(hold, tmp_path)
    end(holder)
    assert (tmp_path / lock.OWNER).exists()
    await put(store, sample("a", "words"))
    assert lock.read_owner(tmp_path) is None


async def test_a_paused_owner_keeps_the_lock_and_is_named_as_silent(tmp_path: Path) -> None:
    holder = await anyio.to_thread.run_sync(hold, tmp_path)
    holder.send_signal(signal.SIGSTOP)
    record = json.loads((tmp_path / lock.OWNER).read_text())
    (tmp_path / lock.OWNER).write_text(json.dumps(record | {"expires": time.time() - 60}))
    try:
        with pytest.raises(StoreLocked, match="no sign of life"):
            async with lock.held(tmp_path, wait=0.1):
                pass
    finally:
        end(holder)


async def test_tasks_of_one_process_wait_for_each_other(tmp_path: Path) -> None:
    inside, most = 0, 0

    async def work() -> None:
        nonlocal inside, most
        async with lock.held(tmp_path, wait=10):
            inside += 1
            most = max(most, inside)
            await anyio.sleep(0.01)
            inside -= 1

    async with anyio.create_task_group() as tasks:
        for _ in range(8):
            tasks.start_soon(work)
    assert most == 1


async def test_the_owner_is_this_process_while_it_writes(tmp_path: Path) -> None:
    async with lock.held(tmp_path, wait=1):
        owner = lock.read_owner(tmp_path)
        assert owner is not None
        assert owner.pid == os.getpid()
        assert owner.expires > time.time()
    assert lock.read_owner(tmp_path) is None


def make_together(folder: str, names: list[str]) -> list[int]:
    together = [subprocess.Popen([sys.executable, "-c", OPEN, folder, name]) for name in names]
    return [process.wait() for process in together]


async def test_processes_that_make_a_library_together_make_one(tmp_path: Path) -> None:
    folder, names = str(tmp_path / "library"), ["one", "two", "three"]
    assert await anyio.to_thread.run_sync(make_together, folder, names) == [0, 0, 0]
    collections = await (await open_lance(folder, read_only=True)).collections()
    assert sorted(each.name for each in collections) == sorted(names)
