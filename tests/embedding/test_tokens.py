import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from refdesk.embedding import TokenVectors
from refdesk.embedding.tokens import dequantise, quantise_tokens, unit_rows
from refdesk.embedding.windows import mean_vector, text_windows

ROWS = npst.arrays(np.float32, st.tuples(st.integers(0, 6), st.just(48)), elements=st.floats(-8, 8, width=32))


@given(ROWS)
def test_one_byte_is_enough(rows: np.ndarray) -> None:
    unit = unit_rows(rows + np.eye(48, dtype=np.float32)[0] * 16)
    stored = quantise_tokens(TokenVectors(unit, ((0, 1),) * len(unit)))
    assert stored.dtype == np.int8
    assert stored.shape == unit.shape
    assert np.all(np.sum(dequantise(stored) * unit, axis=1) > 0.998)


def test_the_scale_is_fixed() -> None:
    rows = np.array([[1.0, 0.0], [0.6, -0.8]], np.float32)
    assert quantise_tokens(TokenVectors(rows, ((0, 1), (1, 2)))).tolist() == [[127, 0], [76, -102]]


def test_no_tokens_stay_no_tokens() -> None:
    stored = quantise_tokens(TokenVectors(np.zeros((0, 8), np.float32), ()))
    assert stored.shape == (0, 8)
    assert dequantise(stored).shape == (0, 8)


def test_a_row_of_zeros_stays_zero() -> None:
    assert unit_rows(np.zeros((1, 3), np.float32)).tolist() == [[0.0, 0.0, 0.0]]


def test_a_mean_has_unit_length() -> None:
    mean = mean_vector([np.array([1, 0], np.float32), np.array([0, 1], np.float32)])
    assert np.allclose(mean, [0.5**0.5, 0.5**0.5])


@given(st.text(alphabet="ab ", max_size=200), st.integers(1, 9))
def test_windows_hold_the_whole_text(text: str, limit: int) -> None:
    windows = text_windows(text, len, limit)
    assert "".join(windows) == text
    assert all(len(window) <= limit for window in windows)


def test_windows_end_at_white_space() -> None:
    assert text_windows("one two three four", lambda text: len(text.split()), 2) == ["one two ", "three four"]
