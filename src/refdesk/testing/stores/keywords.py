"""Checks of keyword search: BM25 in the lucene variant, for tokens of every kind."""

import random
from collections.abc import Mapping, Sequence

from refdesk.documents import Scope
from refdesk.errors import InputError
from refdesk.filters import Equals
from refdesk.stores import Reader, Store, bm25
from refdesk.testing.stores.promise import Check, OpenStore, only, refused
from refdesk.testing.stores.samples import COLLECTION, put, sample

SCOPE = Scope()
WORDS = [
    *(f"w{number}" for number in range(60)),
    "c++",
    "numpy.linalg",
    "数据",
    "café",
    '"',
    "(((",
    "'",
    "a:b",
    "*",
]


def _text(chance: random.Random) -> str:
    """Return words of which the first are far more frequent than the last."""
    count = chance.randint(3, 40)
    return " ".join(WORDS[int(len(WORDS) * chance.random() ** 2)] for _ in range(count))


async def assert_bm25(reader: Reader, texts: Sequence[str], query: Sequence[str]) -> None:
    """Compare all scores with those computed from the texts themselves."""
    token_lists = [text.split() for text in texts]
    counted = bm25.containing(token_lists)
    statistics = bm25.Statistics(len(texts), sum(map(len, token_lists)), counted)
    weighed = bm25.weights([token for token in query if counted[token]], statistics)
    expected = {text: bm25.score(text.split(), weighed, statistics) for text in texts}
    found = await reader.keyword_search(query, top_k=len(texts) + 1)
    got = {hit.chunk.text: hit.keyword_score or 0.0 for hit in found}
    assert set(got) == {text for text, score in expected.items() if score > 0}
    for text, score in got.items():
        assert abs(score - expected[text]) < 1e-4, (text, score, expected[text])
    assert list(got.values()) == sorted(got.values(), reverse=True)
    best = await reader.keyword_search(query, top_k=5)
    assert [hit.chunk.text for hit in best] == [hit.chunk.text for hit in found[:5]]


async def scores_are_bm25_after_any_writes(open_store: OpenStore) -> None:
    store, chance = await open_store(), random.Random(7)
    current: dict[str, list[str]] = {}
    await store.create(COLLECTION)
    for turn in range(8):
        changed = {
            f"s{chance.randrange(60)}": [
                f"{_text(chance)} u{turn}x{part}n{chance.random()}" for part in range(3)
            ]
            for _ in range(20)
        }
        await put(store, *(sample(name, *texts) for name, texts in changed.items()))
        current |= changed
        await _delete_some(store, current, chance)
        if turn == 5:
            await store.optimise()
        await _assert_all_queries(store, current, chance)


async def _delete_some(store: Store, current: dict[str, list[str]], chance: random.Random) -> None:
    gone = chance.sample(sorted(current), 3)
    await store.delete(COLLECTION, gone)
    for name in gone:
        del current[name]


async def _assert_all_queries(
    store: Store, current: Mapping[str, Sequence[str]], chance: random.Random
) -> None:
    texts = [text for some in current.values() for text in some]
    reader = await store.reader(SCOPE)
    drawn = [chance.sample(WORDS, 3) for _ in range(6)]
    for query in (*drawn, ["w1", "w1", "w2"], ["c++"], ["(((", '"', "'"], ["数据", "café", "unseen"]):
        await assert_bm25(reader, texts, query)


async def a_filter_does_not_change_scores(open_store: OpenStore) -> None:
    store = await open_store()
    await put(
        store,
        *(sample(f"s{n}", f"words {'rare ' * (n % 3)} {n}", metadata={"n": n}) for n in range(40)),
    )
    reader = await store.reader(SCOPE)
    free = {hit.source_id: hit.keyword_score for hit in await reader.keyword_search(["rare"], top_k=100)}
    hit = only(await reader.keyword_search(["rare"], top_k=100, filter=Equals("n", 4)))
    assert hit.keyword_score == free["s4"]
    assert await reader.keyword_search(["rare"], top_k=100, filter=Equals("n", 3)) == ()


async def several_collections_share_their_statistics(open_store: OpenStore) -> None:
    store = await open_store()
    here, there = [f"rare words {n}" for n in range(3)], [f"words of another kind {n}" for n in range(30)]
    await put(store, *(sample(text, text) for text in here))
    await put(store, *(sample(text, text, collection="other") for text in there), collection="other")
    await assert_bm25(await store.reader(Scope((COLLECTION, "other"))), here + there, ["rare", "words", "3"])


async def no_token_finds_nothing(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, sample("a", "words", ""), sample("b", ""))
    reader = await store.reader(SCOPE)
    for query in ([], [""], ["unseen"], ["unseen", "unknown"]):
        assert await reader.keyword_search(query, top_k=5) == ()
    assert len(await reader.keyword_search(["words", "unseen"], top_k=5)) == 1
    with refused(InputError):
        await reader.keyword_search(["two words"], top_k=5)


async def query_syntax_has_no_meaning(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, sample("a", "alpha beta"), sample("b", "gamma"))
    reader = await store.reader(SCOPE)
    for token in ("alpha*", "alph", "ALPHA", "+alpha", "-gamma", "NOT", "alpha~", "text:alpha", "';", "\\"):
        assert await reader.keyword_search([token], top_k=5) == ()
    assert [hit.source_id for hit in await reader.keyword_search(["alpha", "OR", "gamma"], top_k=5)] == [
        "b",
        "a",
    ]


async def a_frequent_word_still_counts(open_store: OpenStore) -> None:
    store = await open_store()
    await put(store, *(sample(f"s{n}", "the words") for n in range(5)))
    found = await (await store.reader(SCOPE)).keyword_search(["the"], top_k=9)
    assert len(found) == 5
    assert all((hit.keyword_score or 0) > 0 for hit in found)


CHECKS: tuple[Check, ...] = (
    scores_are_bm25_after_any_writes,
    a_filter_does_not_change_scores,
    several_collections_share_their_statistics,
    no_token_finds_nothing,
    query_syntax_has_no_meaning,
    a_frequent_word_still_counts,
)
