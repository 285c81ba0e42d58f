import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.evaluation.metrics import MEASURES, means, percentile, ranked_documents, score_rankings
from refdesk.testing.rerankers import sample_hit

DOCUMENTS = [f"d{number}" for number in range(20)]
rankings = st.lists(st.sampled_from(DOCUMENTS), unique=True)
grades = st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(1, 3), min_size=1, max_size=8)


@given(ranking=rankings, judged=grades)
def test_measures_are_those_of_their_definitions(ranking: list[str], judged: dict[str, int]) -> None:
    scores = score_rankings({"q": judged}, {"q": ranking})["q"]
    gained = sum(judged.get(name, 0) / math.log2(place + 1) for place, name in enumerate(ranking[:10], 1))
    ideal = sum(
        grade / math.log2(place + 1)
        for place, grade in enumerate(sorted(judged.values(), reverse=True)[:10], 1)
    )
    assert scores["nDCG@10"] == pytest.approx(gained / ideal, abs=1e-6)
    for depth in (2, 5, 10, 100):
        found = len(set(ranking[:depth]) & set(judged))
        assert scores[f"Recall@{depth}"] == pytest.approx(found / len(judged), abs=1e-6)
    first = next((place for place, name in enumerate(ranking[:10], 1) if name in judged), math.inf)
    assert scores["MRR@10"] == pytest.approx(1 / first, abs=1e-6)


def test_a_query_that_found_nothing_counts_as_0() -> None:
    scores = score_rankings({"a": {"d": 1}, "b": {"e": 1}, "c": {"f": 1}}, {"a": ["d"], "b": []})
    assert scores["b"] == scores["c"] == dict.fromkeys(MEASURES, 0.0)
    assert means(scores)["Recall@5"] == pytest.approx(1 / 3)


def test_a_document_stands_where_its_best_chunk_stands() -> None:
    hits = [
        sample_hit(text, source_id=name) for name, text in [("a", "1"), ("b", "2"), ("a", "3"), ("c", "4")]
    ]
    assert ranked_documents(hits) == ("a", "b", "c")


@given(st.lists(st.floats(0, 100), min_size=1))
def test_a_percentile_is_a_value_and_grows_with_its_share(values: list[float]) -> None:
    found = [percentile(values, share) for share in (0.0, 0.5, 0.95, 1.0)]
    assert found == sorted(found)
    assert set(found) <= set(values)
    assert found[-1] == max(values)
    assert sum(value <= found[1] for value in values) >= len(values) / 2
