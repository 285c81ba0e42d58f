from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from refdesk.documents import Hit
from refdesk.embedding import TokenVectors
from refdesk.embedding.names import embedder_for
from refdesk.embedding.tokens import quantise_tokens
from refdesk.reranking.maxsim import MaxSimReranker, best_cosines, late, score
from refdesk.testing import HashingEmbedder
from refdesk.testing.rerankers import ANSWER, QUESTION, check_reranker, sample_hit, sample_hits

pytestmark = pytest.mark.anyio


async def test_it_keeps_the_contract() -> None:
    await check_reranker(MaxSimReranker(HashingEmbedder()))


@pytest.mark.model
async def test_it_keeps_the_contract_with_the_default_model() -> None:
    embedder = embedder_for("minilm")
    await check_reranker(MaxSimReranker(embedder), words=400)  # type: ignore[arg-type]


class StoredTokens:
    """The one part of a reader that reranking needs."""

    def __init__(self, stored: Mapping[str, NDArray[np.int8]]) -> None:
        self.stored = stored

    async def token_vectors(self, chunk_ids: Sequence[str]) -> Mapping[str, NDArray[np.int8]]:
        return {name: self.stored[name] for name in chunk_ids if name in self.stored}


class CountingEmbedder(HashingEmbedder):
    """Notes what tokens are computed of."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    async def embed_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        self.texts += texts
        return await super().embed_tokens(texts)


async def test_stored_token_vectors_spare_the_model_and_give_the_same() -> None:
    embedder, hits = CountingEmbedder(), sample_hits()
    computed = await MaxSimReranker(embedder).rerank(QUESTION, hits)
    vectors = await embedder.embed_tokens([hit.chunk.text for hit in hits])
    stored = {
        hit.chunk.chunk_id: quantise_tokens(one) for hit, one in list(zip(hits, vectors, strict=True))[:4]
    }
    embedder.texts.clear()
    reader = StoredTokens(stored)
    read = await MaxSimReranker(embedder, reader).rerank(QUESTION, hits)  # type: ignore[arg-type]
    assert embedder.texts == [
        QUESTION,
        *[hit.chunk.text for hit in sorted_by_id(hits) if hit.chunk.chunk_id not in stored],
    ]
    assert [hit.chunk.chunk_id for hit in read] == [hit.chunk.chunk_id for hit in computed]
    for one, other in zip(read, computed, strict=True):
        assert one.rerank_score == pytest.approx(other.rerank_score, abs=0.01)


def sorted_by_id(hits: Sequence[Hit]) -> list[Hit]:
    return sorted(hits, key=lambda hit: hit.chunk.chunk_id)


async def test_the_title_is_read_with_the_chunk() -> None:
    reranker = MaxSimReranker(HashingEmbedder())
    plain = sample_hit("Granted every year.", source_id="a")
    titled = sample_hit("Granted every year.", source_id="b", title="Days of leave")
    ranked = await reranker.rerank(QUESTION, [plain, titled])
    assert [hit.source_id for hit in ranked] == ["b", "a"]


async def test_relevance_depends_on_question_and_chunk_alone() -> None:
    reranker = MaxSimReranker(HashingEmbedder())
    hit = sample_hit(ANSWER, source_id="a")
    alone = (await reranker.rerank(QUESTION, [hit]))[0]
    among = next(
        one for one in await reranker.rerank(QUESTION, [*sample_hits(), hit]) if one.source_id == "a"
    )
    assert alone.rerank_score == pytest.approx(among.rerank_score)


async def test_a_chunk_that_repeats_the_question_scores_1_and_one_without_text_0() -> None:
    reranker = MaxSimReranker(HashingEmbedder())
    same, empty = sample_hit(QUESTION, source_id="same"), sample_hit("", source_id="empty")
    scores = {hit.source_id: hit.rerank_score for hit in await reranker.rerank(QUESTION, [empty, same])}
    assert scores == {"same": pytest.approx(1.0), "empty": 0.0}


async def test_a_blank_question_says_nothing_about_any_chunk() -> None:
    ranked = await MaxSimReranker(HashingEmbedder()).rerank(" ", sample_hits())
    assert {hit.rerank_score for hit in ranked} == {0.0}


vectors = st.lists(st.lists(st.floats(-1, 1, width=32), min_size=3, max_size=3), max_size=5)


def unit(rows: list[list[float]]) -> NDArray[np.float32]:
    array = np.array(rows, np.float32).reshape(-1, 3)
    return np.asarray(array / np.maximum(np.linalg.norm(array, axis=1, keepdims=True), 1e-6), np.float32)


@given(query=vectors, chunks=st.lists(vectors, max_size=5))
def test_best_cosines_are_those_of_the_plain_double_loop(
    query: list[list[float]], chunks: list[list[list[float]]]
) -> None:
    asked, units = unit(query), [unit(chunk) for chunk in chunks]
    found = best_cosines(asked, units)
    assert found.shape == (len(chunks), len(query))
    for row, chunk in zip(found, units, strict=True):
        expected = [max((float(token @ other) for other in chunk), default=0.0) for token in asked]
        assert row.tolist() == pytest.approx(expected, abs=1e-5)


def test_a_token_that_all_hits_match_counts_less() -> None:
    best = np.array([[0.9, 0.8], [0.95, 0.2], [1.0, 0.1]], np.float32)
    assert late(best).argmax() == 0


def test_other_signals_take_part_in_the_order_and_not_in_relevance() -> None:
    tokens = np.eye(3, dtype=np.float32)
    first, second = (sample_hit(name, source_id=name) for name in "ab")
    strong = Hit(chunk=second.chunk, title="b", url=None, source_id="b", vector_score=0.9, keyword_score=9.0)
    by_name = {hit.chunk.chunk_id: tokens for hit in (first, strong)}
    ranked = score(tokens[:1], [first, strong], by_name)
    assert [hit.source_id for hit in ranked] == ["b", "a"]
    assert {hit.rerank_score for hit in ranked} == {1.0}
    assert ranked[0].fused_score is not None
    assert ranked[0].fused_score > 0
