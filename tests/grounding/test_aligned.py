"""An answer aligned with evidence, with vectors made here: one token per word."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.citations.sentences import Span
from refdesk.embedding import TokenVectors
from refdesk.grounding.aligned import Aligned, paired
from refdesk.grounding.alignment import head, verdict
from refdesk.grounding.relations import OPPOSITE, SAME
from refdesk.grounding.wording import words_of

DIMENSION = 384


def vectors(text: str) -> TokenVectors:
    """Return a random vector for each word, the same wherever the word stands."""
    words = words_of(text)
    rows = [np.random.default_rng(sum(map(ord, word.low))).normal(size=DIMENSION) for word in words]
    made = np.array(rows, np.float32).reshape(-1, DIMENSION)
    units = made / np.linalg.norm(made, axis=1, keepdims=True) if len(made) else made
    return TokenVectors(np.asarray(units, np.float32), tuple((word.start, word.end) for word in words))


def aligned(answer: str, *texts: str) -> Aligned:
    return Aligned.of(answer, vectors(answer), texts, [vectors(text) for text in texts])


def test_tokens_of_a_part_lie_within_it() -> None:
    found = aligned("Leave is paid. Whales sing.", "Leave")
    assert found.within(Span(0, 14)).tolist() == [True, True, True, False, False]
    assert found.within(Span(1, 27)).tolist() == [False, True, True, True, True]
    assert not found.within(Span(14, 15)).any()


def test_pairs_say_what_is_written_alike_and_how_words_are_related() -> None:
    answer, texts = "Sales fell", ["SALES rose", "they"]
    found = paired(answer, vectors(answer), texts, [vectors(text) for text in texts])
    assert found.equal.tolist() == [[True, False, False], [False, False, False]]
    assert found.relations[0, 0] & SAME
    assert not found.relations[0, 2]
    assert found.relations[1, 1] & OPPOSITE
    assert found.answer.shape == (2, DIMENSION)
    assert found.evidence.shape == (3, DIMENSION)


@pytest.mark.parametrize(
    ("answer", "share"),
    [
        ("Employees buy a car", 1.0),
        ("The employee purchases the automobile", 1.0),
        ("Employees eat fish and cars", 0.5),
        ("Whales sing", 0.0),
        ("It is of the", 1.0),
    ],
)
def test_the_share_of_content_that_evidence_has(answer: str, share: float) -> None:
    found = aligned(answer, "An employee bought", "this car")
    assert found.share(found.within(Span(0, len(answer)))) == pytest.approx(share)


def test_every_chunk_is_asked_alone() -> None:
    answer, texts = "Employees buy cars", ["An employee bought cars", "Whales sing", "a b c d"]
    found = aligned(answer, *texts)
    tokens = found.within(Span(0, len(answer)))
    pairing = paired(answer, vectors(answer), texts, [vectors(text) for text in texts])
    assert found.verdict(tokens) == pytest.approx(verdict(head().judge(pairing)), abs=1e-5)
    alone = [pairing.part(0, 4), pairing.part(4, 6), pairing.part(6, 10)]
    expected = [verdict(head().judge(one))[0] for one in alone]
    assert found.held_by_each(tokens) == pytest.approx(expected, abs=1e-5)


ROWS = st.lists(st.tuples(st.floats(-8, 8), st.floats(-8, 8)), min_size=6, max_size=6)


@given(ROWS, st.integers(1, 4), st.booleans())
def test_labels_are_of_sentences_that_do_not_hold(
    rows: list[tuple[float, float]], cut: int, foreign: bool
) -> None:
    found = replace(aligned("one 99 three four five six", "seven"), logits=np.array(rows, np.float32))
    first, rest = np.arange(6) < cut, np.arange(6) >= cut
    labels = np.array(found.labels([(first, foreign)]), bool)
    against = np.logaddexp(*np.array(rows, np.float32).T)
    assert not labels[rest].any()
    assert labels[int(np.argmax(np.where(first, against, -np.inf)))]
    if foreign and cut > 1:
        assert labels[1], "The number that no evidence has."
    both = np.array(found.labels([(first, foreign), (rest, False)]), bool)
    assert (both[first] == labels[first]).all()
    assert found.labels([]) == (0,) * 6
