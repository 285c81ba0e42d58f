import math
import random
import statistics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refdesk.evaluation.searching.metrics import (
    MEASURES,
    means,
    paired_differences,
    percentile,
    ranked_documents,
    score_rankings,
)
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


def rows(values: list[float]) -> list[dict[str, float]]:
    return [dict.fromkeys(MEASURES, value) for value in values]


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=30))
@settings(max_examples=10, deadline=None)
def test_a_difference_lies_in_its_interval_and_turns_round(pairs: list[tuple[float, float]]) -> None:
    ours, theirs = rows([one for one, _ in pairs]), rows([other for _, other in pairs])
    there, back = paired_differences(ours, theirs), paired_differences(theirs, ours)
    assert there.keys() == MEASURES.keys()
    for name, gap in there.items():
        mean = sum(one - other for one, other in pairs) / len(pairs)
        assert gap.value == pytest.approx(mean)
        assert min(one - other for one, other in pairs) - 1e-9 <= gap.low <= gap.high
        assert gap.high <= max(one - other for one, other in pairs) + 1e-9
        assert back[name].value == pytest.approx(-gap.value)
        assert back[name].low == pytest.approx(-gap.high)


def test_an_interval_of_differences_is_that_of_the_normal_law() -> None:
    draw = random.Random(3)
    gaps = [draw.gauss(0.1, 0.3) for _ in range(400)]
    found = paired_differences(rows(gaps), rows([0.0] * 400))["Recall@5"]
    half = 1.96 * statistics.stdev(gaps) / 20
    assert found.low == pytest.approx(statistics.mean(gaps) - half, abs=0.003)
    assert found.high == pytest.approx(statistics.mean(gaps) + half, abs=0.003)


def test_pairs_matter() -> None:
    """Two systems that differ little on each query are told apart, however much queries differ."""
    draw = random.Random(5)
    base = [draw.random() for _ in range(50)]
    found = paired_differences(rows([value + 0.01 for value in base]), rows(base))["MRR@10"]
    assert found.low == pytest.approx(0.01)
    with pytest.raises(ValueError, match="zip"):
        paired_differences(rows(base), rows(base[1:]))
