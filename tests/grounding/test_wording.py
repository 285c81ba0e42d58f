"""Words of an answer against those of the evidence."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.grounding.relations import OPPOSITE, RELATIONS, SAME
from refdesk.grounding.wording import (
    DENIAL,
    FACTS,
    FOREIGN_NUMBER,
    FUNCTION,
    LETTERS,
    NUMBERS,
    PASSED_OVER,
    Given,
    Offsets,
    Reading,
    bits,
    number_of,
    read,
    word_at,
    words_of,
)

FACT = (
    *("number", "foreign number", "name", "foreign name", "function", "denial"),
    *("pair before", "pair after", "known", "unknown to the lexicon"),
)


def tokens(text: str) -> Offsets:
    """Return one token per word, and one per sign."""
    words = [(word.start, word.end) for word in words_of(text)]
    covered = {place for start, end in words for place in range(start, end)}
    signs = [(i, i + 1) for i, sign in enumerate(text) if i not in covered and not sign.isspace()]
    return tuple(sorted([*words, *signs]))


def reading(answer: str, *evidence: str) -> tuple[Reading, Given]:
    given = Given([(text, tokens(text)) for text in evidence])
    return read(answer, tokens(answer), given), given


def facts(answer: str, word: str, *evidence: str) -> set[str]:
    """Return what is true of a word of an answer."""
    found, _ = reading(answer, *evidence)
    place = [answer[start:end] for start, end in tokens(answer)].index(word)
    return {name for name, value in zip(FACT, found.facts[place, :-1], strict=True) if value}


@pytest.mark.parametrize(
    ("written", "number"),
    [
        *(("30", "30"), ("030", "30"), ("0", "0"), ("000", "0"), ("30th", "30"), ("thirty", "30")),
        *(("twice", "2"), ("half", "0.5"), ("hundred", "100"), ("x30", ""), ("leave", ""), ("", "")),
    ],
)
def test_a_word_may_state_a_number(written: str, number: str) -> None:
    assert number_of(written) == number


def test_numbers_are_those_they_are_called() -> None:
    assert NUMBERS["zero"] == "0"
    assert NUMBERS["twenty"] == "20"
    assert all(word.islower() for word in NUMBERS)


@pytest.mark.parametrize("word", ["not", "NOT", "don't", "Isn’t", "never", "without", "cannot"])
def test_a_word_may_deny(word: str) -> None:
    assert [one.denies for one in words_of(f"They {word} go")] == [False, True, False]


def test_words_are_letters_and_digits() -> None:
    text = "O'Brien's X200, snake_case – 3.5%!"
    assert [word.written for word in words_of(text)] == ["O'Brien", "s", "X200", "snake", "case", "3", "5"]
    assert all(text[word.start : word.end] == word.written for word in words_of(text))


@pytest.mark.parametrize(
    ("answer", "word", "expected"),
    [
        ("They get 31 days.", "31", {"number", "foreign number"}),
        ("They get 30 days.", "30", {"number"}),
        ("They get thirty days.", "thirty", {"number", "known", "pair after"}),
        ("They have not left.", "not", {"denial"}),
        ("They met Xqzw there.", "Xqzw", {"name", "foreign name", "unknown to the lexicon"}),
        ("They met Ada there.", "Ada", {"name", "known"}),
        ("They left. Whales sing.", "Whales", set()),
        ("Whales sing.", "Whales", set()),
        ("WHO said so.", "WHO", {"name", "foreign name", "function"}),
        ("The leave of days", "of", {"function", "known", "pair before", "pair after"}),
    ],
)
def test_facts_of_words(answer: str, word: str, expected: set[str]) -> None:
    found = facts(answer, word, "Ada has thirty days.", "The leave of days counts.")
    assert found == expected


def test_places_of_facts_have_names() -> None:
    places = [FACT.index(name) for name in ("foreign number", "function", "denial")]
    assert places == [FOREIGN_NUMBER, FUNCTION, DENIAL]
    assert len(FACT) == LETTERS == FACTS - 1


def test_numbers_are_the_same_however_they_are_written() -> None:
    found, _ = reading("30", "thirty days", "30 030 3")
    assert found.relations.tolist() == [[SAME, 0, SAME, SAME, 0]]
    spelled, _ = reading("thirty", "thirty days", "30 030 3")
    assert spelled.relations.tolist() == found.relations.tolist()


def test_function_words_are_compared_by_their_letters() -> None:
    found, _ = reading("the", "The whale", "these the")
    assert found.relations.tolist() == [[SAME, 0, 0, SAME]]


def test_relations_go_to_every_token_of_a_word() -> None:
    given = Given([("rose", ((0, 2), (2, 4))), ("!", ((0, 1),))])
    found = read("fell.", ((0, 4), (4, 5)), given)
    assert found.relations[0, 0] == found.relations[0, 1]
    assert found.relations[0, 0] & OPPOSITE
    assert not found.relations[0, 2]
    assert not found.relations[1].any()


def test_evidence_is_in_the_order_of_its_texts() -> None:
    _, given = reading("x", "No leave", "", "no days")
    assert [given.distinct[place] for place in given.of_token] == ["no", "leave", "no", "days"]
    assert given.denying.tolist() == [1, 0, 1, 0]
    assert sorted(given.pairs) == [("leave", "no"), ("no", "days"), ("no", "leave")]


def test_bits_are_taken_apart() -> None:
    assert bits(np.array([[0b1010001]], np.uint8))[:, 0, 0].tolist() == [1, 0, 0, 0, 1, 0, 1]


TEXTS = st.lists(
    st.sampled_from(["The ", "rose", " fell", " 30", " thirty", " not", " Ada", ". ", " x1", "ß", "İ", "é"])
    | st.text(max_size=5),
    max_size=10,
).map("".join)


def slowly(answer: str, evidence: Sequence[str]) -> list[list[int]]:
    """Return relations token by token, by the words that they are in."""
    found = []
    for start, end in tokens(answer):
        word = next((one for one in words_of(answer) if one.start < end and start < one.end), None)
        row = []
        for text in evidence:
            for begin, stop in tokens(text):
                other = next((one for one in words_of(text) if one.start < stop and begin < one.end), None)
                row.append(_relation(word.written, other.written) if word and other else 0)
        found.append(row)
    return found


def _relation(word: str, other: str) -> int:
    alone = Given([(other, ((0, len(other)),))])
    return int(read(word, ((0, len(word)),), alone).relations[0, 0])


@given(TEXTS, st.lists(TEXTS, max_size=3))
def test_a_reading_is_that_of_its_words(answer: str, evidence: list[str]) -> None:
    found, _ = reading(answer, *evidence)
    assert found.relations.tolist() == slowly(answer, evidence)
    assert found.facts.shape == (len(tokens(answer)), FACTS)
    assert (found.relations < 1 << RELATIONS).all()


@given(TEXTS)
def test_every_token_finds_its_word(text: str) -> None:
    words = words_of(text)
    for (start, end), place in zip(tokens(text), word_at(words, tokens(text)), strict=True):
        if place >= 0:
            assert words[place].start < end
            assert start < words[place].end
        else:
            assert not any(word.start < end and start < word.end for word in words)


def test_function_words_are_small() -> None:
    assert all(word == word.lower() for word in PASSED_OVER)
