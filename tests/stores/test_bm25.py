"""Scores are those of bm25s."""

import bm25s
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refdesk.stores import bm25

WORDS = st.sampled_from([*"abcdefgh", "c++", "数据"])
TEXTS = st.lists(st.lists(WORDS, max_size=12), min_size=1, max_size=12).filter(any)


@settings(max_examples=100, deadline=None)
@given(texts=TEXTS, query=st.lists(WORDS, min_size=1, max_size=5))
def test_scores_equal_bm25s(texts: list[list[str]], query: list[str]) -> None:
    counted = bm25.containing(texts)
    known = [token for token in query if counted[token]]
    statistics = bm25.Statistics(len(texts), sum(map(len, texts)), counted)
    weighed = bm25.weights(known, statistics)
    scores = [bm25.score(text, weighed, statistics) for text in texts]
    assert scores == pytest.approx(oracle(texts, known), abs=1e-5)


def oracle(texts: list[list[str]], query: list[str]) -> list[float]:
    if not query:
        return [0.0] * len(texts)
    index = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    index.index(texts, show_progress=False)
    return [float(score) for score in index.get_scores(query)]


def test_stored_tokens_split_at_spaces_only() -> None:
    assert bm25.split("a  b\u00a0c d") == ["a", "b\u00a0c", "d"]
    assert bm25.split("") == []
