import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.errors import InputError
from refdesk.reranking.pairs import windowed


def words(text: str) -> int:
    return len(text.split())


@given(st.lists(st.text("ab ", max_size=400), max_size=5), st.integers(11, 40))
def test_windows_fit_and_nothing_is_left_out(texts: list[str], limit: int) -> None:
    pairs = windowed("one two three", texts, words, limit)
    assert all(question == "one two three" for question, _ in pairs.pairs)
    assert all(words(window) <= limit - 3 for _, window in pairs.pairs)
    for number, text in enumerate(texts):
        parts = [pair[1] for pair, owner in zip(pairs.pairs, pairs.owners, strict=True) if owner == number]
        assert "".join(parts) == text


def test_a_text_counts_by_its_best_window() -> None:
    pairs = windowed("q", ["a " * 20, "b"], words, 11)
    scores = [float(number) for number in range(len(pairs.pairs))]
    assert pairs.best(scores) == [float(pairs.owners.count(0) - 1), scores[-1]]


def test_a_question_that_fills_the_model_is_refused() -> None:
    with pytest.raises(InputError, match="12 tokens; the reranker takes 16"):
        windowed("word " * 12, ["text"], words, 16)
