"""Which configurations are tried, and that their names tell them apart."""

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.evaluation.runs.store import NAME
from refdesk.evaluation.sweeps.candidates import LONGEST, STRATEGIES, candidates, grid_size
from refdesk.evaluation.sweeps.factors import Factor

FACTORS = (
    Factor(name="fusion", values=("zscore", "rrf")),
    Factor(name="search.top_k", values=(5, 10, 20)),
)
BASE = {"fusion": "zscore", "search.top_k": None}


def names(**options: Any) -> list[str]:
    return [one.name for one in candidates(FACTORS, BASE, **options)]


def test_one_at_a_time_changes_one_thing_of_the_base() -> None:
    assert names(strategy="one_at_a_time") == [
        "base",
        "fusion=rrf",
        "search.top_k=5",
        "search.top_k=10",
        "search.top_k=20",
    ]


def test_a_grid_has_every_combination_and_the_base() -> None:
    found = candidates(FACTORS, BASE, strategy="grid")
    assert found[0].values == BASE
    assert {tuple(one.values.values()) for one in found[1:]} == set(
        itertools.product(("zscore", "rrf"), (5, 10, 20))
    )
    assert found[1].changed == {"search.top_k": 5}


def test_a_base_within_the_grid_is_tried_once() -> None:
    found = candidates(FACTORS, {"fusion": "rrf", "search.top_k": 10}, strategy="grid")
    assert len(found) == grid_size(FACTORS) == 6


def test_most_counts_the_base() -> None:
    assert names(strategy="grid", most=2) == ["base", "search.top_k=5"]
    assert len(names(strategy="random", most=4)) == 4


values = st.one_of(st.integers(-5, 5), st.text(max_size=80), st.booleans(), st.none(), st.floats(0, 1))
some = st.lists(
    st.builds(Factor, name=st.text(min_size=1, max_size=12), values=st.lists(values, min_size=1).map(tuple)),
    min_size=1,
    max_size=4,
    unique_by=lambda one: one.name,
)


@given(some, st.sampled_from(STRATEGIES), st.integers(1, 12), st.integers())
def test_names_are_distinct_and_fit_for_runs(factors: list[Factor], how: Any, most: int, seed: int) -> None:
    base = {one.name: one.values[0] for one in factors}
    found = candidates(factors, base, strategy=how, most=most, seed=seed)
    assert found == candidates(factors, base, strategy=how, most=most, seed=seed)
    assert len({one.name for one in found}) == len(found) <= most
    assert all(len(one.name) <= LONGEST and NAME.fullmatch(f"sweep.{one.name}") for one in found)
    assert found[0].changed == {}


@given(st.integers(1, 6), st.integers())
def test_what_is_drawn_is_of_the_grid(most: int, seed: int) -> None:
    inside = {"fusion": "rrf", "search.top_k": 10}
    drawn = candidates(FACTORS, inside, strategy="random", most=most, seed=seed)
    grid = candidates(FACTORS, inside, strategy="grid")
    assert {one.name for one in drawn} <= {one.name for one in grid}
    assert len(drawn) >= min(most, 2) or most == 1


def test_long_names_are_cut_and_stay_distinct() -> None:
    paths = tuple(f"/models/{'long/' * 20}{number}" for number in range(3))
    found = candidates(
        [Factor(name="embedder", values=paths)], {"embedder": "minilm"}, strategy="one_at_a_time"
    )
    assert len({one.name for one in found}) == 4


@pytest.mark.parametrize("how", STRATEGIES)
def test_without_factors_there_is_the_base(how: Any) -> None:
    assert [one.name for one in candidates((), {}, strategy=how, most=3)] == ["base"]
