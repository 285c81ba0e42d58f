"""The scale of relevance."""

import numpy as np
import pytest

from refdesk.answering.background import BACKGROUND
from refdesk.answering.relevance import (
    LETTERS,
    TOKENS,
    VECTORS,
    above,
    lexical_shares,
    likeness,
    scale_for,
    token_match,
)
from refdesk.citations.sentences import language_of


def test_token_match_is_the_mean_best_and_the_worst_third() -> None:
    question = np.eye(3, dtype=np.float32)
    text = np.array([[1, 0, 0], [0, 0.6, 0.8]], dtype=np.float32)
    whole, worst = token_match(question, text)
    assert whole == pytest.approx((1 + 0.6 + 0.8) / 3)
    assert worst == pytest.approx(0.6)
    assert token_match(question, np.zeros((0, 3), np.float32)) == (0.0, 0.0)


def test_above_is_bounded_where_all_is_alike() -> None:
    assert above(0.55, 0.1) == pytest.approx(0.5)
    assert above(0.05, 0.1) == 0
    assert above(1.0, 1.0) == 0
    assert above(1.0, 0.999) < 0.05


def test_the_scale_follows_script_and_kind() -> None:
    assert scale_for(0.13, 0.13, tokens=True) is TOKENS
    assert scale_for(0.78, 0.75, tokens=False) is VECTORS
    assert scale_for(0.63, 0.13, tokens=True) is LETTERS
    assert [TOKENS.zone(value) for value in (0.1, 0.34, 0.44)] == ["none", "weak", "ok"]
    assert TOKENS.combine(whole=1, worst=1, chunk=1, shares=1) == pytest.approx(1)


def test_likeness_leaves_a_text_itself_out() -> None:
    first, second = np.eye(2, dtype=np.float32)[:1], np.eye(2, dtype=np.float32)[1:]
    assert likeness([first, second]) == 0
    assert likeness([first, first.copy()]) == 1


def test_shares_weigh_rare_words_and_pass_over_function_words() -> None:
    shares = lexical_shares(
        "What is the leave of part-time staff?", ["Leave of staff.", "The is of.", "Part-time."], "en"
    )
    assert shares[0] > 0.3
    assert shares[1] == 0
    assert 0 < shares[2] < 1


def test_every_script_has_sentences_in_it() -> None:
    for script, sentences in BACKGROUND.items():
        assert len(set(sentences)) >= 8
        assert {language_of(sentence) for sentence in sentences} == {script}
