from collections.abc import Callable, Mapping, Sequence

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from refdesk.documents import Hit
from refdesk.retrieval.fusion import rrf, standardised, zscore
from refdesk.testing.rerankers import sample_hit

Found = Mapping[str, float]
Fuse = Callable[[Sequence[Sequence[Hit]]], tuple[Hit, ...]]

NAMES = "abcdefghijklmnop"
scores = st.dictionaries(st.sampled_from(NAMES), st.integers(1, 1000), max_size=12)


def hits_of(arm: str, found: Found) -> list[Hit]:
    """Return the hits of an arm, best first."""
    ordered = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    return [hit_of(name, **{arm: float(score)}) for name, score in ordered]


def hit_of(name: str, vector_score: float | None = None, keyword_score: float | None = None) -> Hit:
    found = sample_hit(name, source_id=name)
    return Hit(
        chunk=found.chunk,
        title=name,
        url=None,
        source_id=name,
        vector_score=vector_score,
        keyword_score=keyword_score,
    )


def arms(vector: Found, keyword: Found) -> list[list[Hit]]:
    return [hits_of("vector_score", vector), hits_of("keyword_score", keyword)]


def names(hits: Sequence[Hit]) -> list[str]:
    return [hit.source_id for hit in hits]


@pytest.mark.parametrize("fuse", [rrf, zscore])
@given(vector=scores, keyword=scores)
def test_the_order_of_the_lists_is_irrelevant(fuse: Fuse, vector: Found, keyword: Found) -> None:
    first, second = arms(vector, keyword)
    assert fuse([first, second]) == fuse([second, first])


@pytest.mark.parametrize("fuse", [rrf, zscore])
@given(vector=scores, keyword=scores)
def test_every_chunk_comes_once_with_the_scores_of_its_arms(
    fuse: Fuse, vector: Found, keyword: Found
) -> None:
    fused = fuse(arms(vector, keyword))
    assert sorted(names(fused)) == sorted(set(vector) | set(keyword))
    assert [hit.rank for hit in fused] == list(range(1, len(fused) + 1))
    for hit in fused:
        assert hit.vector_score == vector.get(hit.source_id)
        assert hit.keyword_score == keyword.get(hit.source_id)
    order = [hit.fused_score or 0.0 for hit in fused]
    assert order == sorted(order, reverse=True)


@given(vector=scores, keyword=scores, shift=st.integers(-500, 500), factor=st.integers(1, 9))
def test_zscore_ignores_where_an_arm_begins_and_how_far_it_reaches(
    vector: Found, keyword: Found, shift: int, factor: int
) -> None:
    moved = {name: score * factor + shift for name, score in vector.items()}
    plain = {hit.source_id: hit.fused_score for hit in zscore(arms(vector, keyword))}
    changed = {hit.source_id: hit.fused_score for hit in zscore(arms(moved, keyword))}
    assert changed == pytest.approx(plain, abs=1e-9)


@given(vector=scores, keyword=scores, grow=st.integers(2, 9))
def test_rrf_sees_ranks_only(vector: Found, keyword: Found, grow: int) -> None:
    stretched = {name: score**grow for name, score in vector.items()}
    before = {hit.source_id: hit.fused_score for hit in rrf(arms(vector, keyword))}
    assert {hit.source_id: hit.fused_score for hit in rrf(arms(stretched, keyword))} == before


@given(vector=scores, keyword=scores)
def test_what_leads_both_lists_leads_the_fusion(vector: Found, keyword: Found) -> None:
    assume(vector and keyword)
    lists = arms({**vector, "winner": 2000}, {**keyword, "winner": 2000})
    assert rrf(lists)[0].source_id == "winner"
    assert zscore(lists)[0].source_id == "winner"


def test_two_lists_that_agree_beat_the_leader_of_one() -> None:
    vector = {name: 9.0 - place for place, name in enumerate(["alone", "b", "c", "d", "agreed"])}
    keyword = {name: 9.0 - place for place, name in enumerate(["e", "f", "g", "h", "agreed"])}
    lists = arms(vector, keyword)
    assert rrf(lists)[0].source_id == "agreed"
    assert rrf(lists, k=1)[0].source_id == "alone"


def test_rrf_scores_are_those_of_the_paper() -> None:
    fused = rrf(arms({"a": 0.9, "b": 0.8}, {"b": 5.0}))
    assert names(fused) == ["b", "a"]
    assert [hit.fused_score for hit in fused] == pytest.approx([1 / 62 + 1 / 61, 1 / 61])


def test_a_chunk_that_a_list_lacks_counts_as_its_lowest() -> None:
    fused = {hit.source_id: hit.fused_score for hit in zscore(arms({"a": 0.9, "b": 0.1}, {"a": 5, "c": 1}))}
    assert fused["b"] == pytest.approx(fused["c"])


def test_a_floor_says_what_a_missing_chunk_scored() -> None:
    lists = arms({"a": 0.5, "b": 0.5}, {"a": 5.0})
    low = {hit.source_id: hit.fused_score for hit in zscore(lists, floors=[None, 0.0])}
    assert low == {"a": pytest.approx(1.0), "b": pytest.approx(-1.0)}
    same = {hit.source_id: hit.fused_score for hit in zscore(lists)}
    assert same == {"a": 0.0, "b": 0.0}


def test_equal_scores_are_ordered_by_source() -> None:
    assert names(rrf([hits_of("vector_score", {"b": 1}), hits_of("keyword_score", {"a": 1})])) == ["a", "b"]


def test_nothing_stays_nothing() -> None:
    assert rrf([[], []]) == ()
    assert zscore([[], []]) == ()
    assert zscore([]) == ()


@given(st.dictionaries(st.sampled_from(NAMES), st.floats(-1, 1, width=32), min_size=1))
def test_standardised_scores_have_mean_0_and_deviation_1_or_are_all_0(values: dict[str, float]) -> None:
    found = list(standardised(values).values())
    assert sum(found) == pytest.approx(0.0, abs=1e-6)
    spread = sum(value * value for value in found) / len(found)
    assert spread == pytest.approx(1.0, abs=1e-6) or spread == 0.0
