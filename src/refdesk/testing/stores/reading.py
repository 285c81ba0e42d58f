"""Checks of reading: scope, vector search, neighbours, lists, counts, extreme documents, two spaces."""

from collections.abc import Sequence

import anyio
import numpy as np

from refdesk.documents import Scope
from refdesk.errors import InputError, NotFound
from refdesk.filters import Equals, Not
from refdesk.stores import Reader, Store, StoredDocument
from refdesk.testing.stores.promise import Check, OpenStore, refused
from refdesk.testing.stores.remaking import SPACE, WIDTH, A, B, anew
from refdesk.testing.stores.samples import COLLECTION, DIMENSION, FINGERPRINT, put, sample, vector

SCOPE = Scope()
BOTH = Scope((COLLECTION, "other"))


async def an_empty_collection_has_nothing(open_store: OpenStore) -> None:
    store = await open_store()
    await store.create(COLLECTION)
    reader = await store.reader(SCOPE)
    assert await reader.vector_search(vector("x"), top_k=3) == ()
    assert await reader.keyword_search(["x"], top_k=3) == ()
    assert await reader.documents() == ()
    assert await reader.count() == (0, 0)
    assert reader.languages == ()


async def an_unknown_collection_is_an_error(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, sample("a", "words"))
    with refused(NotFound):
        await store.reader(Scope(("unknown",)))
    with refused(NotFound):
        await store.reader(Scope((COLLECTION, "unknown")))
    assert await (await store.reader(Scope(()))).keyword_search(["words"], top_k=3) == ()


async def nothing_outside_the_scope_can_be_read(open_store: OpenStore) -> None:
    store = await open_store()
    secret = sample("secret", "secret words", collection="other", late=True)
    await put(store, sample("a", "words"))
    await put(store, secret, collection="other")
    reader = await store.reader(SCOPE)
    for read in (reader.document, reader.chunks):
        with refused(NotFound) as outside:
            await read(secret.document.document_id)
        with refused(NotFound) as unknown:
            await read("unknown")
        assert str(outside.error).replace(secret.document.document_id, "unknown") == str(unknown.error)
    with refused(NotFound):
        await reader.neighbours(secret.chunks[0])
    ids = [secret.chunks[0].chunk_id]
    assert (await reader.vectors(ids), await reader.token_vectors(ids)) == ({}, {})
    assert await reader.keyword_search(["secret"], top_k=3) == ()
    assert {hit.source_id for hit in await reader.vector_search(vector("x"), top_k=9)} == {"a"}
    assert await reader.count() == (1, 1)


async def several_collections_are_searched_together(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, sample("a", "words one", "words two"))
    await put(store, sample("b", "words three", collection="other"), collection="other")
    reader = await store.reader(BOTH)
    found = await reader.vector_search(vector("words three"), top_k=3)
    assert (found[0].source_id, found[0].chunk.collection) == ("b", "other")
    assert [hit.rank for hit in found] == [1, 2, 3]
    scores = [hit.vector_score or 0 for hit in found]
    assert scores == sorted(scores, reverse=True)
    assert len(await reader.keyword_search(["words"], top_k=9)) == 3
    assert [each.source_id for each in await reader.documents()] == ["a", "b"]


async def vector_scores_are_cosines(open_store: OpenStore) -> None:
    store = await open_store()
    texts = [f"text {number}" for number in range(50)]
    await put(store, *(sample(text, text) for text in texts))
    query = vector("text 7 or so")
    for asked in (query, 3 * query):
        found = await (await store.reader(SCOPE)).vector_search(asked, top_k=10)
        expected = sorted(texts, key=lambda text: -float(vector(text) @ query))[:10]
        assert [hit.chunk.text for hit in found] == expected
        for hit in found:
            assert abs((hit.vector_score or 0) - float(vector(hit.chunk.text) @ query)) < 1e-5
            assert -1 <= (hit.vector_score or 0) <= 1


async def equal_scores_have_one_order(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, *(sample(name, "same words", "same words") for name in ("c", "a", "b")))
    reader = await store.reader(SCOPE)
    expected = [("a", 0), ("a", 1), ("b", 0), ("b", 1), ("c", 0)]
    for found in (
        await reader.vector_search(vector("same words"), top_k=5),
        await reader.keyword_search(["same"], top_k=5),
    ):
        assert [(hit.source_id, hit.chunk.position) for hit in found] == expected


async def refuses_impossible_searches(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, sample("a", "words"))
    reader = await store.reader(SCOPE)
    with refused(InputError):
        await reader.vector_search(vector("x"), top_k=0)
    with refused(InputError):
        await reader.keyword_search(["x"], top_k=-1)
    with refused(InputError):
        await reader.vector_search(np.full(16, np.nan, np.float32), top_k=1)


async def gives_the_neighbours_of_a_chunk(open_store: OpenStore) -> None:
    store = await open_store()
    stored = sample("a", *(f"part {number}" for number in range(6)))
    await put(store, stored, sample("b", "part 0", "part 1"))
    reader = await store.reader(SCOPE)
    assert await reader.neighbours(stored.chunks[2]) == stored.chunks[1:4]
    assert await reader.neighbours(stored.chunks[0], before=2, after=2) == stored.chunks[:3]
    assert await reader.neighbours(stored.chunks[5], before=0, after=9) == stored.chunks[5:]
    await put(store, sample("a", "changed"))
    with refused(NotFound):
        await (await store.reader(SCOPE)).neighbours(stored.chunks[0])


async def lists_documents_in_pages(open_store: OpenStore) -> None:
    store = await open_store()
    names = [f"s{number:02}" for number in range(25)]
    await put(store, *(sample(name, "words", "more", metadata={"odd": int(name[1:]) % 2}) for name in names))
    reader = await store.reader(SCOPE)
    pages = [await reader.documents(offset=offset, limit=10) for offset in (0, 10, 20, 30)]
    assert [each.source_id for page in pages for each in page] == names
    assert [len(page) for page in pages] == [10, 10, 5, 0]
    odd = await reader.documents(filter=Equals("odd", 1), offset=2, limit=2)
    assert [each.source_id for each in odd] == ["s05", "s07"]
    record = pages[0][0]
    assert (record.chunks, record.characters, record.pages, record.title) == (2, 11, 1, "Title of s00")
    assert record.updated_at.tzinfo is not None


async def counts_in_the_store(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, sample("a", "one", "two", metadata={"kind": "x"}), sample("b", "one"))
    reader = await store.reader(SCOPE)
    assert await reader.count() == (2, 3)
    assert await reader.count(Equals("kind", "x")) == (1, 2)
    assert await reader.count(Not(Equals("kind", "x"))) == (1, 1)
    described = await store.collection(COLLECTION)
    assert (described.documents, described.chunks) == (2, 3)


async def names_languages_by_frequency(open_store: OpenStore) -> None:
    store = await open_store()
    spoken = ["de", "en", "de", "und", "und", "und"]
    await put(store, *(sample(f"s{n}", "words", language=each) for n, each in enumerate(spoken)))
    assert (await store.reader(SCOPE)).languages == ("de", "en")
    assert (await store.collection(COLLECTION)).languages == ("de", "en")


async def maintenance_changes_no_result(open_store: OpenStore) -> None:
    store = await open_store()
    for number in range(12):
        await put(store, sample(f"s{number % 8}", f"words number {number}", f"words {number % 3}"))
    before = await store.reader(SCOPE)
    await store.optimise()
    after = await store.reader(SCOPE)
    assert await before.keyword_search(["words", "2"], top_k=50) == await after.keyword_search(
        ["words", "2"], top_k=50
    )
    assert await before.vector_search(vector("x"), top_k=50) == await after.vector_search(
        vector("x"), top_k=50
    )


async def keeps_text_of_every_script(open_store: OpenStore) -> None:
    store = await open_store()
    texts = [
        "数据库 检索 系统",
        "ภาษา ไทย",
        "café naïve Ünïcode",
        "emoji 👩‍👩‍👧 𝔘𝔫𝔦",
        "null \x00 inside",
        "עברית العربية",
    ]
    await put(store, *(sample(f"файл/{text}", text, metadata={"ключ": text}) for text in texts))
    reader = await store.reader(SCOPE)
    for text in texts:
        (hit,) = await reader.keyword_search([text.split()[0].lower()], top_k=3)
        assert (hit.chunk.text, hit.source_id, hit.metadata["ключ"]) == (text, f"файл/{text}", text)
        assert (await reader.document(hit.chunk.document_id)).text == text


async def keeps_empty_and_huge_chunks(open_store: OpenStore) -> None:
    store = await open_store()
    long = "x" * 100_000
    stored = sample("a", "", "needle " + "word " * 40_000, long)
    await put(store, stored)
    reader = await store.reader(SCOPE)
    assert await reader.chunks(stored.document.document_id) == stored.chunks
    assert (await reader.keyword_search(["needle"], top_k=1))[0].chunk.position == 1
    assert (await reader.keyword_search([long], top_k=1))[0].chunk.position == 2


async def keeps_a_document_of_ten_megabytes(open_store: OpenStore) -> None:
    store = await open_store()
    words = [f"word{number} " * 200 for number in range(6_000)]
    stored = sample("big", *words)
    assert len(stored.document.text) > 10_000_000
    await put(store, stored)
    reader = await store.reader(SCOPE)
    assert await reader.document(stored.document.document_id) == stored.document
    assert await reader.count() == (1, 6_000)
    (hit,) = await reader.keyword_search(["word5999"], top_k=2)
    assert await reader.neighbours(hit.chunk, before=1, after=0) == stored.chunks[-2:]


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


CHECKS: tuple[Check, ...] = (
    an_empty_collection_has_nothing,
    an_unknown_collection_is_an_error,
    nothing_outside_the_scope_can_be_read,
    several_collections_are_searched_together,
    vector_scores_are_cosines,
    equal_scores_have_one_order,
    refuses_impossible_searches,
    gives_the_neighbours_of_a_chunk,
    lists_documents_in_pages,
    counts_in_the_store,
    names_languages_by_frequency,
    maintenance_changes_no_result,
    keeps_text_of_every_script,
    keeps_empty_and_huge_chunks,
    keeps_a_document_of_ten_megabytes,
    readers_never_see_two_spaces,
)
