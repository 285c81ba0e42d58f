import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.errors import InputError
from refdesk.grounding.levels import Levels, weighted_mean

SHARES = st.floats(0, 1)


def test_a_score_at_a_limit_reaches_it() -> None:
    levels = Levels(supported_from=0.6, partial_from=0.35)
    scores = (1.0, 0.6, 0.59, 0.35, 0.34, 0.0)
    assert [levels.level(score) for score in scores] == [
        *("supported", "supported", "partial", "partial", "unsupported", "unsupported")
    ]


@pytest.mark.parametrize(("supported", "partial"), [(0.3, 0.5), (1.1, 0.5), (0.5, -0.1), (float("nan"), 0.1)])
def test_limits_that_cannot_be_are_refused(supported: float, partial: float) -> None:
    with pytest.raises(InputError, match="partial_from <= supported_from"):
        Levels(supported_from=supported, partial_from=partial)


@given(st.lists(st.tuples(SHARES, st.integers(0, 1000)), max_size=9))
def test_a_mean_lies_between_its_scores(scores: list[tuple[float, float]]) -> None:
    mean = weighted_mean(scores)
    counted = [score for score, weight in scores if weight]
    assert min(counted, default=0.0) - 1e-9 <= mean <= max(counted, default=0.0) + 1e-9
    assert 0.0 <= mean <= 1.0


def test_weights_count() -> None:
    assert weighted_mean([(1.0, 3), (0.0, 1)]) == 0.75
