"""Words of an answer and of its evidence, as the aligned grounder compares them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np
import regex
from numpy.typing import NDArray

from refdesk.grounding.relations import RELATIONS, SAME, Related, lexicon

_WORD = regex.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_DIGITS = regex.compile(r"\d+")
_ENDS = (".", "!", "?", ":", '"', "'", "“")
FACTS = 11
"""Facts of a word, see `Reading.facts`."""
FOREIGN_NUMBER, FUNCTION, DENIAL, LETTERS = 1, 4, 5, 10
"""Places of some of them."""
Offsets = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text, `text[start:end] == written`."""

    start: int
    end: int
    written: str

    @property
    def low(self) -> str:
        return self.written.lower()

    @property
    def number(self) -> str:
        """The number that a word states, empty for none."""
        return number_of(self.low)

    @property
    def denies(self) -> bool:
        return self.low in DENYING or self.low.endswith(("n't", "n’t"))


def number_of(low: str) -> str:
    """Return the number that a word in small letters states, in digits, empty for none."""
    digits = _DIGITS.match(low)
    return (digits[0].lstrip("0") or "0") if digits else NUMBERS.get(low, "")


def words_of(text: str) -> list[Word]:
    """Return the words of a text."""
    return [Word(*found.span(), found[0]) for found in _WORD.finditer(text)]


def word_at(words: Sequence[Word], offsets: Offsets) -> NDArray[np.int32]:
    """Return for each token the number of the word that it is in, -1 for none."""
    found = np.full(len(offsets), -1, np.int32)
    at = 0
    for token, (start, end) in enumerate(offsets):
        while at < len(words) and words[at].end <= start:
            at += 1
        if at < len(words) and words[at].start < end:
            found[token] = at
    return found


class Given:
    """The words of some evidence: texts with the offsets of their tokens, in order."""

    def __init__(self, texts: Sequence[tuple[str, Offsets]]) -> None:
        words: list[Word] = []
        places: list[NDArray[np.int32]] = []
        for text, offsets in texts:
            own = words_of(text)
            at = word_at(own, offsets)
            places.append(np.where(at >= 0, at + len(words), -1))
            words += own
        low = [word.low for word in words]
        self.distinct = list(dict.fromkeys(low))
        self._place = {word: place for place, word in enumerate(self.distinct)}
        at = np.concatenate([*places, np.zeros(0, np.int32)]).astype(np.int64)
        self.of_token = np.array([*(self._place[word] for word in low), -1])[at]
        """Distinct word of each token, -1 for none."""
        self.denying = np.array([*(word.denies for word in words), False])[at].astype(np.float32)
        self.pairs = frozenset(pairwise(low))
        self.numbers: defaultdict[str, list[int]] = defaultdict(list)
        """Which of the distinct words state a number."""
        for place, word in enumerate(self.distinct):
            if number := number_of(word):
                self.numbers[number].append(place)
        self._related = Related(self.distinct, PASSED_OVER)

    def has(self, low: str) -> bool:
        """Tell whether a word, in small letters, stands in the evidence."""
        return low in self._place

    def relations(self, word: Word) -> NDArray[np.uint8]:
        """Return what each distinct word, and then none, is to a word: bits, shape (words + 1,)."""
        found = np.zeros(len(self.distinct) + 1, np.uint8)
        if word.number or word.low in PASSED_OVER:
            same = self.numbers.get(word.number, []) if word.number else []
            found[[*same, *([self._place[word.low]] if self.has(word.low) else [])]] = SAME
        else:
            found[:-1] = self._related.to(word.low)
        return found


@dataclass(frozen=True, slots=True)
class Reading:
    """The tokens of a text of an answer against evidence."""

    facts: NDArray[np.float32]
    """Shape (tokens, `FACTS`): number, not in the evidence; name, not in the evidence; function word; denial;
    pair with the word before, and after, in the evidence; itself in the evidence; unknown; length."""
    relations: NDArray[np.uint8]
    """Shape (tokens, evidence tokens), bits of `relations`."""


def read(text: str, offsets: Offsets, given: Given) -> Reading:
    """Read the words of a text and relate them to evidence."""
    words = words_of(text)
    facts = np.zeros((len(words) + 1, FACTS), np.float32)
    related = np.zeros((len(words) + 1, len(given.distinct) + 1), np.uint8)
    relations = cache(given.relations)  # by the word as it is written: its place is of no account
    for place, word in enumerate(words):
        facts[place] = _facts(text, words, place, given)
        related[place] = relations(Word(0, 0, word.written))
    at = word_at(words, offsets)
    return Reading(facts[at], related[at][:, given.of_token])


def _facts(text: str, words: Sequence[Word], place: int, given: Given) -> tuple[float, ...]:
    word, low = words[place], words[place].low
    known, function, name = given.has(low), low in PASSED_OVER, _is_name(text, words, place)
    return (
        bool(word.number),
        bool(word.number) and word.number not in given.numbers,
        name,
        name and not known,
        function,
        word.denies,
        place > 0 and (words[place - 1].low, low) in given.pairs,
        place + 1 < len(words) and (low, words[place + 1].low) in given.pairs,
        known,
        not function and not lexicon().knows(low),
        len(word.written) / 12,
    )


def _is_name(text: str, words: Sequence[Word], place: int) -> bool:
    """Tell whether a word has a capital that no beginning explains, or nothing but capitals."""
    written = words[place].written
    if len(written) > 1 and written.isupper():
        return True
    before = text[words[place - 1].end : words[place].start].rstrip() if place else ""
    return place > 0 and written[0].isupper() and not before.endswith(_ENDS)


def bits(relations: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return relations as ones and zeros, shape (`RELATIONS`, tokens, evidence tokens)."""
    return np.stack([(relations >> bit) & 1 for bit in range(RELATIONS)]).astype(np.float32)


_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty"
)
_OTHERS = (
    "thirty:30 forty:40 fifty:50 sixty:60 seventy:70 eighty:80 ninety:90 hundred:100 thousand:1000 "
    "million:1000000 billion:1000000000 first:1 second:2 third:3 fourth:4 fifth:5 sixth:6 seventh:7 eighth:8 "
    "ninth:9 tenth:10 once:1 twice:2 half:0.5 dozen:12"
)
NUMBERS = {word: str(number) for number, word in enumerate(_ONES.split(" "))} | dict(
    pair.split(":") for pair in _OTHERS.split(" ")
)
_DENYING = (
    "no not never none nobody nothing neither nor without cannot hardly barely scarcely lacks lack fails "
    "failed fail refuses refused denies denied unable except excluding"
)
DENYING = frozenset(_DENYING.split(" "))
_PASSED_OVER = (
    "a an the of in on at to for from by with and or is are was were be been being as that this it its "
    "their his her he she they i you we have has had will would can could may might which who whom "
    "whose there here then than so if but do does did them him me my your our us what when where how "
    "also into over about after before between during through up down out off more most some any all "
    "each other such only own same too very s t just"
)
PASSED_OVER = frozenset(_PASSED_OVER.split(" "))
"""Function words: they are compared by their letters alone."""
