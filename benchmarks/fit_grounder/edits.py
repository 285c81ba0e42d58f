"""Edits of a statement: one thing made wrong, or words exchanged for others that say the same."""

import random
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import regex
from benchmarks.fit_grounder.examples import Spans
from benchmarks.fit_grounder.wordnet import WordNet

from refdesk.grounding.wording import PASSED_OVER, Word, words_of

Thing = TypeVar("Thing")
_AUXILIARIES = "is are was were can could will would has have had does did should may"
AUXILIARIES = frozenset(_AUXILIARIES.split(" "))
KINDS = ("number", "name", "opposite", "sister", "denial", "denial")
"""Kinds of edits; denials are as frequent as two others, since most statements can only be denied."""
STEPS = (1, -1, 2, 3, 5, 10, -2)
_SENTENCE_END = (".", "!", "?", '"', "“")
_DENIED = regex.compile(r"\s+not\b", regex.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Edit:
    """A changed text. `changed` is where it differs; for a word left out, the words around the gap."""

    text: str
    changed: Spans
    kind: str


class Editor:
    """Edits statements, with words that the data have."""

    def __init__(
        self, net: WordNet, known: Collection[str], names: Sequence[str], chance: random.Random
    ) -> None:
        self._net = net
        self._known = frozenset(known)
        self._names = names
        self._chance = chance
        self._edits: dict[str, Callable[[str, Word, str], Edit | None]] = {
            "number": self._number,
            "name": self._name,
            "opposite": self._opposite,
            "sister": self._sister,
            "denial": self._denial,
        }

    def wrong(self, text: str, premise: str) -> Edit | None:
        """Make one thing in a text wrong, at times with another word of the premise; None if it cannot."""
        words = self._mixed(words_of(text))
        for kind in self._mixed(KINDS):
            for word in words:
                if edit := self._edits[kind](text, word, premise):
                    return edit
        return None

    def reworded(self, text: str) -> str | None:
        """Exchange up to three words for synonyms; None if there are none."""
        words = words_of(text)
        chosen = self._mixed(words)[: max(4, len(words) // 2)]
        changed = 0
        for word in sorted(chosen, key=lambda word: -word.start):
            others = self._synonyms(word) if word.start == 0 or word.written.islower() else []
            if others and changed < 3:
                text = _replaced(text, word, self._chance.choice(others), "synonym").text
                changed += 1
        return text if changed else None

    def _number(self, text: str, word: Word, premise: str) -> Edit | None:
        if not (word.written.isascii() and word.written.isdecimal()) or len(word.written) > 12:
            return None
        others = [one for one in words_of(premise) if one.written.isdecimal() and one.number != word.number]
        given = sorted({one.written for one in others})
        if given and self._chance.random() < 0.4:
            return _replaced(text, word, self._chance.choice(given), "number")
        value = int(word.written)
        step = self._chance.choice(STEPS) if value > 3 else self._chance.randint(1, 4)
        return _replaced(text, word, str(value + step), "number")

    def _name(self, text: str, word: Word, premise: str) -> Edit | None:
        if not is_name(text, word):
            return None
        given = sorted({one.written for one in words_of(premise) if is_name(premise, one)} - {word.written})
        own = given and self._chance.random() < 0.5
        others = given if own else [name for name in self._names if name != word.written]
        return _replaced(text, word, self._chance.choice(others), "name") if others else None

    def _opposite(self, text: str, word: Word, premise: str) -> Edit | None:
        return self._exchanged(text, word, self._net.antonyms, "opposite", shortest=1)

    def _sister(self, text: str, word: Word, premise: str) -> Edit | None:
        return self._exchanged(text, word, self._net.sisters, "sister", shortest=4)

    def _denial(self, text: str, word: Word, premise: str) -> Edit | None:
        if word.low in ("not", "never"):
            return _without(text, word)
        if word.low in AUXILIARIES and word.start > 0 and not _DENIED.match(text, word.end):
            at = word.end
            return Edit(f"{text[:at]} not{text[at:]}", ((at + 1, at + 4),), "denial")
        return None

    def _exchanged(
        self, text: str, word: Word, lookup: Callable[[str], list[str]], kind: str, *, shortest: int
    ) -> Edit | None:
        if word.low in PASSED_OVER or len(word.low) < shortest:
            return None
        others = [other for other in lookup(word.low) if other in self._known]
        return _replaced(text, word, self._chance.choice(others), kind) if others else None

    def _synonyms(self, word: Word) -> list[str]:
        """Return synonyms that the data have and that are no other spelling or form of the word."""
        low = word.low
        if low in PASSED_OVER or len(low) < 4 or word.number:
            return []
        others = [other for other in self._net.synonyms(low) if other in self._known]
        return [one for one in others if not one.startswith(low[:4]) or abs(len(one) - len(low)) > 2]

    def _mixed(self, things: Iterable[Thing]) -> list[Thing]:
        mixed = list(things)
        self._chance.shuffle(mixed)
        return mixed


def is_name(text: str, word: Word) -> bool:
    """Tell whether a word within a sentence has a capital."""
    inside = word.start > 0 and not text[: word.start].rstrip().endswith(_SENTENCE_END)
    return inside and word.written[0].isupper() and len(word.written) > 2 and word.low not in PASSED_OVER


def _replaced(text: str, word: Word, other: str, kind: str) -> Edit:
    if kind != "name" and word.written[0].isupper():
        other = other.capitalize()
    return Edit(text[: word.start] + other + text[word.end :], ((word.start, word.start + len(other)),), kind)


def _without(text: str, word: Word) -> Edit | None:
    left = text[: word.start] + text[word.end :].lstrip()
    rest = words_of(left)
    before = [one for one in rest if one.end <= word.start][-1:]
    after = [one for one in rest if one.start >= word.start][:1]
    around = before + after
    return Edit(left, ((around[0].start, around[-1].end),), "denial") if around else None
