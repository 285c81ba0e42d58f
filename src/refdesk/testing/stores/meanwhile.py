"""Checks of reading while something is written: one state, whole, for as long as a reader is kept."""

import dataclasses
from collections.abc import Awaitable, Callable, Sequence

import anyio

from refdesk.documents import Hit, Scope
from refdesk.errors import EmbeddingMismatch, InputError, NotFound, StoreError
from refdesk.filters import Equals
from refdesk.stores import Reader, Store, StoredDocument
from refdesk.testing.stores.arms import assert_sees
from refdesk.testing.stores.keywords import assert_bm25
from refdesk.testing.stores.promise import Check, OpenStore, only, refused
from refdesk.testing.stores.remaking import SPACE, WIDTH, A, B, anew
from refdesk.testing.stores.samples import COLLECTION, DIMENSION, FINGERPRINT, put, sample, vector
from refdesk.testing.stores.writing import texts_found

SCOPE = Scope()


async def a_reader_keeps_the_state_it_was_opened_in(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, sample("a", "old words"))
    before = await store.reader(SCOPE)
    await put(store, sample("a", "new words"), sample("b", "more words"))
    await store.delete(COLLECTION, ["b"])
    await store.optimise()
    assert await texts_found(before, "words") == ["old words"]
    assert [hit.chunk.text for hit in await before.vector_search(vector("x"), top_k=9)] == ["old words"]
    assert (await before.document(sample("a").document.document_id)).text == "old words"
    assert await before.count() == (1, 1)
    assert await texts_found(await store.reader(SCOPE), "words") == ["new words"]


async def readers_never_see_half_a_write(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, *edition(0))
    done = anyio.Event()

    async def write() -> None:
        for number in range(1, 8):
            await put(store, *edition(number))
        done.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(write)
        while not done.is_set():
            await assert_one_edition(await store.reader(SCOPE))


def edition(number: int) -> list[StoredDocument]:
    """Return documents that say which edition they are of."""
    return [sample(f"s{each}", f"words {number} a", f"words {number} b") for each in range(4)]


async def assert_one_edition(reader: Reader) -> None:
    """A reader sees one whole edition, by vector and by keyword."""
    by_keyword = await texts_found(reader, "words")
    near = await reader.vector_search(vector("words"), top_k=100)
    by_vector = sorted(hit.chunk.text for hit in near)
    assert by_keyword == by_vector
    assert len(by_keyword) == 8
    assert len({text.split()[1] for text in by_keyword}) == 1


async def readers_never_see_two_spaces(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, A, B)
    done = anyio.Event()

    async def switch() -> None:
        for _ in range(4):
            await _remake(store, SPACE, WIDTH, [anew(A), anew(B)])
            await _remake(store, FINGERPRINT, DIMENSION, [A, B])
        done.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(switch)
        while not done.is_set():
            await _assert_one_space(await store.reader(SCOPE))


async def _remake(store: Store, space: str, dimension: int, documents: Sequence[StoredDocument]) -> None:
    remake = await store.remake(COLLECTION, fingerprint=space, dimension=dimension, recipe="one")
    await remake.write(documents)
    assert await remake.switch()


async def _assert_one_space(reader: Reader) -> None:
    texts = {hit.chunk.text for hit in await reader.keyword_search(["words"], top_k=99)}
    old = texts == {chunk.text for stored in (A, B) for chunk in stored.chunks}
    assert old or texts == {stored.document.text for stored in (A, B)}
    query = vector("x") if old else vector("x")[:WIDTH]
    assert {hit.chunk.text for hit in await reader.vector_search(query, top_k=99)} == texts
    assert await reader.count() == (2, len(texts))


async def a_reader_outlasts_a_drop_or_fails(open_store: OpenStore) -> None:
    """It sees its own state or an error: never nothing, never what another collection of that name holds."""
    store = await open_store()
    for maintained in (False, True):
        await put(store, *edition(1))
        before = await store.reader(SCOPE)
        await store.drop(COLLECTION)
        if maintained:
            await store.optimise()
        await _assert_kept_or_failed(before)
        await put(store, *edition(2))
        await _assert_kept_or_failed(before)
        await _assert_edition(await store.reader(SCOPE), 2)
        await store.drop(COLLECTION)


async def _assert_kept_or_failed(reader: Reader) -> None:
    stored = edition(1)
    document = stored[0].document.document_id
    texts = sorted(chunk.text for each in stored for chunk in each.chunks)
    reads: Sequence[tuple[Callable[[], Awaitable[object]], object]] = (
        (lambda: _texts_of(reader.vector_search(vector("x"), top_k=99)), texts),
        (lambda: texts_found(reader, "words"), texts),
        (lambda: reader.document(document), stored[0].document),
        (lambda: reader.chunks(document), stored[0].chunks),
        (reader.count, (4, 8)),
        (lambda: _number_of(reader.documents()), 4),
    )
    for read, expected in reads:
        try:
            found = await read()
        except (StoreError, NotFound):
            continue
        assert found == expected


async def _texts_of(search: Awaitable[Sequence[Hit]]) -> list[str]:
    return sorted(hit.chunk.text for hit in await search)


async def _number_of(listed: Awaitable[Sequence[object]]) -> int:
    return len(await listed)


async def _assert_edition(reader: Reader, number: int) -> None:
    await assert_sees(reader, edition(number), edition(number))


async def a_cancelled_write_is_whole_or_nothing(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, *edition(0))
    for number in range(1, 13):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_put_edition, store, number)
            await anyio.sleep(0.002 * number)
            tasks.cancel_scope.cancel()
        await assert_one_edition(await store.reader(SCOPE))
    await put(store, *edition(99))
    await _assert_edition(await store.reader(SCOPE), 99)


async def _put_edition(store: Store, number: int) -> None:
    await put(store, *edition(number))


async def a_failed_write_changes_nothing(open_store: OpenStore) -> None:
    """The last of a batch is refused, and so is the whole of it."""
    store = await open_store()
    await put(store, *edition(0))
    before = await store.reader(SCOPE)
    broken = dataclasses.replace(sample("s9", "words"), tokens=("words", "too many"))
    for batch in ([*edition(1), broken], [*edition(1), edition(2)[0]]):
        with refused(InputError):
            await put(store, *batch)
        with refused(EmbeddingMismatch):
            await store.write(COLLECTION, edition(1), fingerprint="another", dimension=DIMENSION)
        for reader in (before, await store.reader(SCOPE)):
            await _assert_edition(reader, 0)
        assert set(await store.entries(COLLECTION)) == {"s0", "s1", "s2", "s3"}


async def writes_at_once_are_all_kept(open_store: OpenStore) -> None:
    """Several tasks of one process write, delete and maintain at the same time."""
    store = await open_store()
    await put(store, *(sample(f"gone {number}", "words") for number in range(4)))
    async with anyio.create_task_group() as tasks:
        for number in range(8):
            tasks.start_soon(_put_one, store, number)
        for number in range(4):
            tasks.start_soon(store.delete, COLLECTION, [f"gone {number}"])
        tasks.start_soon(store.optimise)
    expected = [_one(number) for number in range(8)]
    await assert_sees(await store.reader(SCOPE), expected, expected)
    texts = [chunk.text for stored in expected for chunk in stored.chunks]
    await assert_bm25(await store.reader(SCOPE), texts, ["words", "3"])


def _one(number: int) -> StoredDocument:
    return sample(f"s{number}", f"words {number}", f"more {number}")


async def _put_one(store: Store, number: int) -> None:
    await put(store, _one(number))


async def searches_at_once_do_not_mix(open_store: OpenStore) -> None:
    """Many tasks search with one reader; each gets what is its own."""
    store = await open_store()
    await put(store, *(_one(number) for number in range(40)))
    reader = await store.reader(SCOPE)

    async def search(number: int) -> None:
        for _ in range(3):
            near = only(await reader.vector_search(vector(f"words {number}"), top_k=1))
            worded = only(await reader.keyword_search(["more", f"{number}"], top_k=1))
            record = await reader.documents(filter=Equals("source_id", f"s{number}"))
            assert [near.chunk.text, worded.chunk.text] == [f"words {number}", f"more {number}"]
            assert [each.source_id for each in record] == [f"s{number}"]

    async with anyio.create_task_group() as tasks:
        for number in range(40):
            tasks.start_soon(search, number)


async def many_readers_may_be_open(open_store: OpenStore) -> None:
    """Each keeps its own state, and none hinders a writer."""
    store = await open_store()
    readers = []
    for number in range(60):
        await put(store, *edition(number))
        readers.append(await store.reader(SCOPE))
    for number in (0, 1, 30, 58, 59):
        await _assert_edition(readers[number], number)
    await store.optimise()
    for number in (0, 29, 59):
        await _assert_edition(readers[number], number)


async def pages_stay_whole_while_others_write(open_store: OpenStore) -> None:
    """Whoever turns pages gets every document once, as it was when the reader was opened."""
    store = await open_store()
    names = [f"s{number:03}" for number in range(0, 200, 2)]
    await put(store, *(sample(name, "words") for name in names))
    reader = await store.reader(SCOPE)
    found: list[str] = []
    for offset in range(0, 105, 7):
        found += [each.source_id for each in await reader.documents(offset=offset, limit=7)]
        await put(store, sample(f"before {offset}", "words"), sample(names[offset // 2], "new words"))
        await store.delete(COLLECTION, [names[-1 - offset // 7]])
    assert found == names
    assert await reader.count() == (100, 100)


CHECKS: tuple[Check, ...] = (
    a_reader_keeps_the_state_it_was_opened_in,
    readers_never_see_half_a_write,
    readers_never_see_two_spaces,
    a_reader_outlasts_a_drop_or_fails,
    a_cancelled_write_is_whole_or_nothing,
    a_failed_write_changes_nothing,
    writes_at_once_are_all_kept,
    searches_at_once_do_not_mix,
    many_readers_may_be_open,
    pages_stay_whole_while_others_write,
)
