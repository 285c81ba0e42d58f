"""Relations of words, in the lexicon that comes with refdesk and in a small one made here."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from refdesk.grounding.relations import (
    IRREGULAR,
    NARROWER,
    OPPOSITE,
    RELATIONS,
    SAME,
    SIMILAR,
    SISTER,
    SYNONYM,
    WIDER,
    Lexicon,
    Related,
    lexicon,
)

NAMES = ("same", "synonym", "narrower", "wider", "opposite", "sister", "similar")


def relations(evidence: str, answer: str) -> set[str]:
    """Return what a word of the evidence is to a word of the answer."""
    [found] = Related([evidence], frozenset()).to(answer)
    return {name for bit, name in enumerate(NAMES) if found & (1 << bit)}


@pytest.mark.parametrize(
    ("evidence", "answer", "relation"),
    [
        ("rose", "rise", "same"),
        ("studies", "study", "same"),
        ("planned", "plan", "same"),
        ("making", "make", "same"),
        ("boxes", "box", "same"),
        ("car", "automobile", "synonym"),
        ("purchase", "buy", "synonym"),
        ("dog", "animal", "narrower"),
        ("animal", "dog", "wider"),
        ("increase", "decrease", "opposite"),
        ("rose", "fell", "opposite"),
        ("hot", "cold", "opposite"),
        ("dog", "wolf", "sister"),
        ("big", "giant", "similar"),
    ],
)
def test_words_are_related(evidence: str, answer: str, relation: str) -> None:
    assert relation in relations(evidence, answer)


@pytest.mark.parametrize(("evidence", "answer"), [("dog", "car"), ("whale", "leave"), ("xqzw", "dog")])
def test_other_words_are_not(evidence: str, answer: str) -> None:
    assert relations(evidence, answer) == set()


def test_a_word_that_nobody_knows_is_the_same_as_itself_alone() -> None:
    assert relations("xqzw", "xqzw") == {"same"}
    assert relations("xqzw", "xqzv") == set()
    assert not lexicon().knows("xqzw")
    assert lexicon().knows("dogs")


def test_what_is_alike_is_no_sister_of_itself() -> None:
    assert "sister" not in relations("dog", "dogs")
    assert "sister" not in relations("car", "automobile")


def test_words_that_are_passed_over_are_related_to_nothing() -> None:
    found = Related(["car", "automobile"], frozenset({"car"})).to("car")
    assert found[0] == 0
    assert found[1] & SYNONYM
    assert Related([], frozenset()).to("car").shape == (0,)


def test_irregular_forms_lead_to_words_that_are_known() -> None:
    assert [word for word in IRREGULAR.values() if not lexicon().knows(word)] == []


WORDS = st.sampled_from(
    ["dog", "dogs", "animal", "wolf", "rose", "fell", "hot", "cold", "big", "large", "xqzw", "buy", "sold"]
)


@given(st.lists(WORDS, max_size=6), WORDS)
def test_a_word_has_its_relations_whatever_stands_beside_it(evidence: list[str], answer: str) -> None:
    found = Related(evidence, frozenset()).to(answer)
    assert [int(one) for one in found] == [
        int(Related([word], frozenset()).to(answer)[0]) for word in evidence
    ]
    assert all(one < 1 << RELATIONS for one in found)


@given(WORDS, WORDS)
def test_relations_have_two_sides(one: str, other: str) -> None:
    there, back = relations(one, other), relations(other, one)
    for name in ("same", "synonym", "opposite", "sister", "similar"):
        assert (name in there) == (name in back)
    assert ("narrower" in there) == ("wider" in back)


def test_a_lexicon_of_a_few_words() -> None:
    """animal(0) over dog(1) and cat(2); hot(3) against cold(4), warm(5) like hot."""
    words = ["animal", "cat", "cold", "dog", "hot", "hound", "warm"]
    at, values = rows([[0], [2], [4], [1], [3], [1], [5]])
    above = rows([[], [0], [0], [], [], []])
    similar = rows([[], [], [], [5], [], [3]])
    antonyms = rows([[], [], [4], [], [2], [], []])
    tables = dict(
        zip(
            ("synset_at", "synsets", "above_at", "above", "similar_at", "similar", "antonym_at", "antonyms"),
            (at, values, *above, *similar, *antonyms),
            strict=True,
        )
    )
    own = Lexicon(tables, words)
    dog, warm, hound = own.entry("dogs"), own.entry("warmest"), own.entry("hound")
    assert dog.lemmas == {"dog"}
    assert (set(dog.senses), set(dog.above)) == ({1}, {0})
    assert hound.senses == dog.senses
    assert own.entry("hot").opposites == {"cold"}
    assert warm.opposites == {"cold"}, "by way of what it is like"
    assert own.entry("hotly").lemmas == {"hot"}
    assert own.entry("lynx").senses == frozenset()


def rows(lists: list[list[int]]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    starts = np.cumsum([0, *map(len, lists)]).astype(np.int32)
    return starts, np.array([value for one in lists for value in one], np.int32)


def test_bits_are_seven() -> None:
    every = (SAME, SYNONYM, NARROWER, WIDER, OPPOSITE, SISTER, SIMILAR)
    assert sum(every) == (1 << RELATIONS) - 1
    assert len(every) == RELATIONS == len(NAMES)
