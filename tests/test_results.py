"""`merged`: several lists of hits as one."""

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from refdesk.documents import Hit
from refdesk.results import Results, merged, numbered
from refdesk.testing.rerankers import sample_hit

NAMES = [f"text {number}" for number in range(8)]


def results(names: Sequence[str]) -> Results:
    hits = [replace(sample_hit(name, source_id=name), vector_score=0.5) for name in names]
    return Results(question="?", hits=numbered(hits))


def names(hits: Sequence[Hit]) -> list[str]:
    return [hit.source_id for hit in hits]


lists = st.lists(st.lists(st.sampled_from(NAMES), max_size=10), max_size=5)


@given(lists)
def test_a_chunk_comes_once_and_ranks_run_from_one(given: list[list[str]]) -> None:
    hits = merged([results(one) for one in given])
    assert sorted(names(hits)) == sorted({name for one in given for name in one})
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))


@given(lists.flatmap(lambda given: st.tuples(st.just(given), st.permutations(given))))
def test_the_order_of_the_lists_does_not_matter(given: tuple[list[list[str]], list[list[str]]]) -> None:
    one, other = ([results(names) for names in lists] for lists in given)
    assert names(merged(one)) == names(merged(other))


@given(st.permutations(NAMES))
def test_a_list_keeps_its_order_alone_and_beside_empty_ones(order: list[str]) -> None:
    one = results(order)
    assert merged([one]) == one.hits
    assert merged([results([]), one, results([])]) == one.hits


@given(st.permutations(NAMES), st.integers(min_value=2, max_value=4))
def test_equal_lists_are_as_one_of_them(order: list[str], count: int) -> None:
    assert names(merged([results(order)] * count)) == order


@given(st.lists(st.sampled_from(NAMES), min_size=1))
def test_repetitions_in_a_list_count_once(given: list[str]) -> None:
    assert names(merged([results(given)])) == list(dict.fromkeys(given))


def test_gaps_in_ranks_are_closed() -> None:
    hits = results(NAMES).hits[2:5]
    found = merged([Results(question="?", hits=hits)])
    assert names(found) == NAMES[2:5]
    assert [hit.rank for hit in found] == [1, 2, 3]


def test_what_several_lists_found_comes_before_what_one_found() -> None:
    found = merged([results(["a", "b"]), results(["c", "b"])])
    assert names(found)[0] == "b"


def test_a_hit_keeps_its_scores_and_an_order_of_its_own_only_where_it_is_alone() -> None:
    alone = replace(sample_hit("a", source_id="a", rank=1), fused_score=0.7, rerank_score=0.4)
    one = Results(question="?", hits=(alone,))
    assert merged([one])[0].fused_score == 0.7
    joined = merged([one, results(["a"])])[0]
    assert joined.fused_score != 0.7
    assert joined.rerank_score == 0.4


def test_nothing_is_merged_to_nothing() -> None:
    assert merged([]) == merged([results([])]) == ()
