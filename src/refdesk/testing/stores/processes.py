"""Checks of one store in several processes: they write in turn, and see what the others have written."""

import dataclasses
import multiprocessing
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

import anyio
from anyio import to_thread

from refdesk.documents import DeleteReceipt, Scope
from refdesk.errors import NotFound, StoreLocked
from refdesk.stores import Store, StoredDocument
from refdesk.testing.stores.arms import assert_sees
from refdesk.testing.stores.keywords import assert_bm25
from refdesk.testing.stores.meanwhile import assert_one_edition, edition
from refdesk.testing.stores.permissions import asking, owned
from refdesk.testing.stores.promise import Reopen, SharedCheck, only
from refdesk.testing.stores.samples import COLLECTION, put, sample

SCOPE = Scope()
SECONDS = 120
"""How long a process may take before the check fails."""
TRIES = 20
"""How often a write is tried that finds the store locked."""

Work = Callable[[Store, Connection], Awaitable[None]]
"""What a process does with the store; it sends what it has to say. A function of a module."""


@asynccontextmanager
async def elsewhere(reopen: Reopen, work: Work) -> AsyncIterator[tuple[BaseProcess, Connection]]:
    """Run work in another process, which is killed if it has not ended with the block."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_work, args=(reopen, work, there), daemon=True)
    await to_thread.run_sync(process.start)
    there.close()
    try:
        yield process, here
    finally:
        process.kill()
        await to_thread.run_sync(process.join)
        here.close()
        process.close()


def _work(reopen: Reopen, work: Work, there: Connection) -> None:
    async def main() -> None:
        store = await reopen()
        await work(store, there)
        await store.aclose()

    anyio.run(main)


async def ended(process: BaseProcess) -> None:
    """Wait until a process ends by itself, without an error."""
    await to_thread.run_sync(process.join, SECONDS)
    assert process.exitcode == 0, f"the other process ended with {process.exitcode}"


async def received(here: Connection) -> object:
    """Wait for what a process says next."""
    return await to_thread.run_sync(_next, here)


def _next(here: Connection) -> object:
    assert here.poll(SECONDS), "the other process says nothing"
    try:
        return here.recv()
    except EOFError:
        raise AssertionError("the other process ended before it had said all") from None


async def patiently(write: Callable[[], Awaitable[DeleteReceipt | None]]) -> DeleteReceipt | None:
    """Write, and try again while another process does."""
    for _ in range(TRIES):
        try:
            return await write()
        except StoreLocked:
            await anyio.sleep(0.1)
    return await write()


def _batch(prefix: str, number: int) -> list[StoredDocument]:
    names = (f"{prefix}{(number + each) % 8}" for each in range(3))
    return [sample(name, f"words {name} {number}", f"more {name} {number}") for name in names]


BATCHES = 8


async def _write_own(store: Store, prefix: str) -> None:
    for number in range(BATCHES):
        await patiently(lambda number=number: put(store, *_batch(prefix, number)))  # type: ignore[misc]
        if number % 4 == 3:
            await patiently(store.optimise)


async def _write_a(store: Store, _: Connection) -> None:
    await _write_own(store, "a")


async def _write_b(store: Store, _: Connection) -> None:
    await _write_own(store, "b")


async def two_processes_write_different_documents(reopen: Reopen) -> None:
    store = await reopen()
    async with elsewhere(reopen, _write_a) as (one, _), elsewhere(reopen, _write_b) as (other, _):
        await ended(one)
        await ended(other)
    expected: dict[str, StoredDocument] = {}
    for prefix in "ab":
        for number in range(BATCHES):
            expected |= {each.document.source_id: each for each in _batch(prefix, number)}
    reader = await store.reader(SCOPE)
    everything = list(expected.values())
    await assert_sees(reader, everything, everything)
    texts = [chunk.text for each in everything for chunk in each.chunks]
    await assert_bm25(reader, texts, ["words", "more", "a0", "7"])
    assert {name: each.chunks for name, each in (await store.entries(COLLECTION)).items()} == {
        name: 2 for name in expected
    }


async def _write_even(store: Store, _: Connection) -> None:
    for number in range(2, 20, 2):
        await patiently(lambda number=number: put(store, *edition(number)))  # type: ignore[misc]


async def _write_odd(store: Store, _: Connection) -> None:
    for number in range(1, 20, 2):
        await patiently(lambda number=number: put(store, *edition(number)))  # type: ignore[misc]


async def two_processes_write_the_same_documents(reopen: Reopen) -> None:
    """Whoever is last wins with the whole batch; readers see one batch at any time."""
    store = await reopen()
    await put(store, *edition(0))
    async with elsewhere(reopen, _write_even) as (one, _), elsewhere(reopen, _write_odd) as (other, _):
        while one.is_alive() or other.is_alive():
            await assert_one_edition(await store.reader(SCOPE))
        await ended(one)
        await ended(other)
    reader = await store.reader(SCOPE)
    number = only({text.text.split()[1] for text in await reader.chunks(edition(0)[0].document.document_id)})
    assert number in ("18", "19")
    await assert_sees(reader, edition(int(number)), edition(int(number)))


async def _delete_all(store: Store, there: Connection) -> None:
    there.send("ready")
    await to_thread.run_sync(there.recv)
    count = 0
    for name in [f"s{number}" for number in range(20)]:
        try:
            receipt = await patiently(lambda name=name: store.delete(COLLECTION, [name]))  # type: ignore[misc]
            count += receipt.documents if receipt else 0
        except NotFound:
            continue
    there.send(count)


async def two_processes_delete_each_document_once(reopen: Reopen) -> None:
    """The receipts of both together name each document once."""
    store = await reopen()
    await put(
        store, *(sample(f"s{number}", f"words {number}") for number in range(20)), sample("rest", "words")
    )
    async with (
        elsewhere(reopen, _delete_all) as (one, to_one),
        elsewhere(reopen, _delete_all) as (other, to_other),
    ):
        for each in (to_one, to_other):
            assert await received(each) == "ready"
        for each in (to_one, to_other):
            each.send("go")
        counts = [await received(each) for each in (to_one, to_other)]
        await ended(one)
        await ended(other)
    assert sum(each for each in counts if isinstance(each, int)) == 20
    assert await (await store.reader(SCOPE)).count() == (1, 1)


async def _create_all(store: Store, _: Connection) -> None:
    for number in range(10):
        await patiently(lambda number=number: put(store, collection=f"c{number}"))  # type: ignore[misc]


async def two_processes_create_one_collection(reopen: Reopen) -> None:
    store = await reopen()
    async with elsewhere(reopen, _create_all) as (one, _), elsewhere(reopen, _create_all) as (other, _):
        await ended(one)
        await ended(other)
    assert [each.name for each in await store.collections()] == [f"c{number}" for number in range(10)]


MINE = owned("mine", "anna")
THEIRS = owned("theirs", "anna")


async def _take_over(store: Store, there: Connection) -> None:
    """See what was written, then write, revoke, and wait."""
    await assert_sees(await store.reader(asking("anna")), [MINE, THEIRS], [MINE])
    await put(store, THEIRS)
    there.send("written")
    await to_thread.run_sync(there.recv)
    entry = (await store.entries(COLLECTION))["mine"]
    await store.update(COLLECTION, [dataclasses.replace(entry, acl=())])
    there.send("revoked")
    await to_thread.run_sync(there.recv)
    await store.drop(COLLECTION)


async def a_process_sees_what_another_has_written(reopen: Reopen) -> None:
    store = await reopen()
    await put(store, MINE)
    before = await store.reader(asking("anna"))
    everything = [MINE, THEIRS]
    async with elsewhere(reopen, _take_over) as (process, connection):
        assert await received(connection) == "written"
        await assert_sees(before, everything, [MINE])
        await assert_sees(await store.reader(asking("anna")), everything, everything)
        connection.send("go on")
        assert await received(connection) == "revoked"
        await assert_sees(await store.reader(asking("anna")), everything, [THEIRS])
        connection.send("go on")
        await ended(process)
    assert await store.collections() == ()


async def _write_until_killed(store: Store, there: Connection) -> None:
    for number in range(1, 100_000):
        await put(store, *edition(number))
        there.send(number)


async def a_killed_writer_leaves_whole_batches(reopen: Reopen) -> None:
    """What was acknowledged is there, the batch in hand whole or not at all, and others may write."""
    store = await reopen()
    await put(store, *edition(0))
    for share in (0.1, 0.3, 0.5, 0.7, 0.9):
        async with elsewhere(reopen, _write_until_killed) as (process, connection):
            last = await received(connection)
            began = anyio.current_time()
            last = await received(connection)
            await anyio.sleep(share * (anyio.current_time() - began))
            process.kill()
            await to_thread.run_sync(process.join)
            last = await to_thread.run_sync(_last, connection, last)
        reader = await store.reader(SCOPE)
        await assert_one_edition(reader)
        hit = only(await reader.keyword_search(["words"], top_k=1))
        assert int(hit.chunk.text.split()[1]) - int(str(last)) in (0, 1)
        await put(store, *edition(0))
        await assert_sees(await store.reader(SCOPE), edition(0), edition(0))


def _last(connection: Connection, last: object) -> object:
    """Return the last number that a process has sent before it died."""
    try:
        while connection.poll():
            last = connection.recv()
    except EOFError:
        pass
    return last


CHECKS: tuple[SharedCheck, ...] = (
    two_processes_write_different_documents,
    two_processes_write_the_same_documents,
    two_processes_delete_each_document_once,
    two_processes_create_one_collection,
    a_process_sees_what_another_has_written,
    a_killed_writer_leaves_whole_batches,
)
