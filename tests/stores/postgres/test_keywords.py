"""Search by keyword gives the scores of BM25 as the embedded store does, to the last digit."""

import random
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refdesk.documents import PUBLIC, Hit, Scope
from refdesk.filters import Equals, Filter
from refdesk.stores import Reader, Store, StoredDocument, bm25
from refdesk.stores.lance import open_lance
from refdesk.stores.postgres import keywords, open_postgres
from refdesk.stores.postgres.keywords import Postings
from refdesk.testing.stores.samples import put, sample

pytestmark = pytest.mark.anyio

WORDS = [f"w{number}" for number in range(40)] + ["the", "the", "the", "the"]


@pytest.fixture
async def postgres_store(postgres: str) -> AsyncIterator[Store]:
    store = await open_postgres(postgres)
    yield store
    await store.aclose()


def drawn(seed: int, count: int) -> list[StoredDocument]:
    chance = random.Random(seed)

    def text() -> str:
        words = chance.choices(WORDS, k=chance.randint(1, 30))
        return " ".join(words * chance.choice([1, 1, 1, 3]))

    return [
        sample(
            f"s{number:03}",
            *(text() for _ in range(chance.randint(0, 4))),
            metadata={"n": number % 10},
            acl=(PUBLIC,) if number % 3 else ("staff",),
        )
        for number in range(count)
    ]


def told(hits: tuple[Hit, ...]) -> list[tuple[int, str, int, float | None]]:
    return [(hit.rank, hit.source_id, hit.chunk.position, hit.keyword_score) for hit in hits]


async def assert_same(here: Reader, there: Reader) -> None:
    chance = random.Random(3)
    filters: list[Filter | None] = [None, None, Equals("n", 3)]
    for _ in range(10):
        query = chance.choices([*WORDS, "unseen"], k=chance.randint(1, 6))
        for top_k in (7, 500):
            filter = chance.choice(filters)
            expected = told(await there.keyword_search(query, top_k=top_k, filter=filter))
            assert told(await here.keyword_search(query, top_k=top_k, filter=filter)) == expected


async def test_scores_are_those_of_the_embedded_store(postgres_store: Store, tmp_path: Path) -> None:
    embedded = await open_lance(tmp_path / "library")
    for store in (postgres_store, embedded):
        await put(store, *drawn(1, 150))
        await put(store, *drawn(2, 60))
        await store.delete("default", [f"s{number:03}" for number in range(5, 100, 9)])
        await put(store, *drawn(4, 90)[70:])
    scope = Scope(upkeep=True)
    await assert_same(await postgres_store.reader(scope), await embedded.reader(scope))
    await postgres_store.optimise()
    await assert_same(await postgres_store.reader(scope), await embedded.reader(scope))


async def test_a_reader_counts_as_when_it_was_opened(postgres_store: Store) -> None:
    await put(postgres_store, *drawn(1, 80))
    reader = await postgres_store.reader(Scope(upkeep=True))
    before = told(await reader.keyword_search(["w1", "w2", "the"], top_k=300))
    await put(postgres_store, *drawn(2, 120))
    await postgres_store.delete("default", ["s003", "s004"])
    await postgres_store.optimise()
    assert told(await reader.keyword_search(["w1", "w2", "the"], top_k=300)) == before


async def test_hits_come_however_few_may_be_read(postgres_store: Store) -> None:
    """Of many better ones that may not be read, none takes the place of one that may."""
    secret = [sample(f"a{number:04}", "rare", acl=("staff",)) for number in range(900)]
    public = [sample(f"b{number}", "rare among many other words here") for number in range(12)]
    await put(postgres_store, *secret, *public)
    reader = await postgres_store.reader(Scope())
    found = await reader.keyword_search(["rare"], top_k=10)
    assert [hit.source_id for hit in found] == sorted(f"b{number}" for number in range(12))[:10]


NUMBERS = st.lists(st.integers(1, 6), min_size=1, max_size=40)


@given(
    texts=st.lists(st.lists(st.sampled_from("abcde"), max_size=9), min_size=1, max_size=30),
    query=st.lists(st.sampled_from("abcdef"), min_size=1, max_size=8),
)
def test_sums_of_postings_are_scores(texts: list[list[str]], query: list[str]) -> None:
    counted = bm25.containing(texts)
    statistics = bm25.Statistics(len(texts), sum(map(len, texts)), counted)
    weighed = bm25.weights([token for token in query if counted[token]], statistics)
    held = {token: postings(token, texts) for token in weighed}
    addends = {token: keywords.addends(each, weighed[token], statistics) for token, each in held.items()}
    scores = keywords.summed(held, addends, len(texts))
    exactly = keywords.exactly(held, addends, range(len(texts)))
    expected = [bm25.score(text, weighed, statistics) for text in texts]
    assert exactly == expected
    np.testing.assert_allclose(scores, expected, rtol=1e-12)


def postings(token: str, texts: list[list[str]]) -> Postings:
    holding = [number for number, text in enumerate(texts) if token in text]
    times = [texts[number].count(token) for number in holding]
    lengths = [len(texts[number]) for number in holding]
    return Postings(*(np.array(each, np.int64) for each in (holding, times, lengths)))


@settings(max_examples=200)
@given(scores=NUMBERS, count=st.integers(1, 12))
def test_the_best_come_with_all_that_score_alike(scores: list[int], count: int) -> None:
    given = np.array([0.0, *scores])
    best = keywords.top(given, count)
    least = sorted(scores, reverse=True)[:count][-1]
    assert sorted(best.tolist()) == [number for number, score in enumerate(given) if score >= least]
