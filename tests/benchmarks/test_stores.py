"""The parts of the benchmarks of stores that figures rest on: what is nearest, what both find."""

from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return import_module("postgres")


def test_the_nearest_are_those_of_all(benchmark: ModuleType) -> None:
    corpus = benchmark.Corpus(16)
    nearest = benchmark.Nearest(corpus.vectors(7))
    documents = [corpus.document(number) for number in range(40)]
    for first in range(0, 40, 9):
        nearest.add(documents[first : first + 9])
    vectors = np.concatenate([each.vectors for each in documents])
    names = [chunk.chunk_id for each in documents for chunk in each.chunks]
    for query, found in zip(nearest.queries, nearest.ids, strict=True):
        best = np.argsort(-(vectors @ query))[: benchmark.TOP_K]
        assert found.tolist() == [names[place] for place in best]


def test_the_same_seed_draws_the_same(benchmark: ModuleType) -> None:
    one, other = (benchmark.Corpus(8).document(3) for _ in range(2))
    assert one.document == other.document
    np.testing.assert_array_equal(one.vectors, other.vectors)


def test_the_overlap_is_the_share_of_what_either_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    overlap = import_module("parity").overlap
    assert overlap(["a", "b", "a"], ["b", "a"]) == 1
    assert overlap(["a", "b"], ["a", "c", "d", "e"]) == 0.25
    assert overlap([], ["a"]) == 0
    assert overlap([], []) == 1
