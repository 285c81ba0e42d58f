"""What a text says, as far as words can be compared."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import regex

from refdesk.analysis import analyse
from refdesk.grounding.figures import Readings, figures, stated, values
from refdesk.grounding.names import known, names
from refdesk.grounding.numerals import SPELLED
from refdesk.grounding.stopwords import SAYING_LITTLE, STOP_WORDS

_ALONE = regex.compile(r"(?<![^\s(\[\"“«‘])\p{L}++(?=[.,;:!?…)\]\"”»’]*+(?:\s|$))")
_WORD = regex.compile(r"\w++")
MARKER = regex.compile(r"\[+\p{Nd}{1,4}(?:[\s,;–-]+\p{Nd}{1,4})*\]+")
PAIRS = 0.3
"""How much pairs of neighbouring words count beside words."""


def words_of(text: str, language: str) -> tuple[str, ...]:
    """Return the tokens of a text."""
    return tuple(analyse(text, language))


def content(text: str, language: str) -> tuple[str, ...]:
    """Return the tokens of the words that say something of their own; acronyms such as WHO do."""
    stop = STOP_WORDS.get(language, frozenset())

    def kept(word: regex.Match[str]) -> str:
        acronym = word[0].isupper() and len(word[0]) > 1
        return word[0] if acronym or word[0].casefold() not in stop else " "

    left = _ALONE.sub(kept, text)
    said = _WORD.findall(left)
    return () if all(word.casefold() in SAYING_LITTLE for word in said) else words_of(left, language)


@dataclass(frozen=True, slots=True)
class Passage:
    """The words, pairs of words and numbers of one chunk of evidence."""

    text: str
    words: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    numbers: frozenset[str]

    @classmethod
    def of(cls, text: str, language: str, title: str = "") -> "Passage":
        """Read a chunk; its title counts for its words and numbers."""
        words = words_of(text, language)
        whole = f"{title}\n{text}"
        known_words = frozenset((*words, *words_of(title, language)))
        return cls(whole, known_words, frozenset(pairwise(words)), values(whole))

    @classmethod
    def joined(cls, passages: "Sequence[Passage]") -> "Passage":
        """Return all evidence as one passage."""
        return cls(
            "\n".join(one.text for one in passages),
            frozenset[str]().union(*(one.words for one in passages)),
            frozenset[tuple[str, str]]().union(*(one.pairs for one in passages)),
            frozenset[str]().union(*(one.numbers for one in passages)),
        )


@dataclass(frozen=True, slots=True)
class Statement:
    """What a sentence of an answer says: its content words, all pairs of words, numbers and names."""

    language: str
    words: tuple[str, ...]
    pairs: frozenset[tuple[str, str]]
    numbers: tuple[Readings, ...]
    names: tuple[str, ...]

    @classmethod
    def of(cls, sentence: str, language: str) -> "Statement":
        """Read a sentence without its markers."""
        bare = MARKER.sub(" ", sentence)
        return cls(
            language,
            content(bare, language),
            frozenset(pairwise(words_of(bare, language))),
            figures(bare),
            names(bare, language),
        )

    @property
    def empty(self) -> bool:
        """Whether there is nothing that evidence could hold."""
        return not self.words and not self.numbers

    def share_in(self, passage: Passage) -> float:
        """Return the share of its content words, else of its numbers, that a passage has, 0 to 1."""
        if not self.words:
            return sum(stated(one, passage.numbers) for one in self.numbers) / (len(self.numbers) or 1)
        return sum(word in passage.words for word in self.words) / len(self.words)

    def foreign(self, passage: Passage) -> tuple[str, ...]:
        """Return numbers and names that a passage lacks."""
        others = (name for name in self.names if not self._known(name, passage))
        return (*self.foreign_numbers(passage), *others)

    def foreign_numbers(self, passage: Passage) -> tuple[str, ...]:
        """Return numbers that a passage lacks."""
        return tuple(min(map(" ".join, one)) for one in self.numbers if not stated(one, passage.numbers))

    def _known(self, name: str, passage: Passage) -> bool:
        number = SPELLED.get(name.casefold())
        return number in passage.numbers or known(name, passage.words, passage.text, self.language)

    def support(self, passage: Passage) -> float:
        """Return how far a passage holds the sentence, 0 to 1; 0 where it lacks a number or a name."""
        if self.foreign(passage):
            return 0.0
        words = self.share_in(passage)
        if not self.pairs:
            return words
        return (1 - PAIRS) * words + PAIRS * len(self.pairs & passage.pairs) / len(self.pairs)
