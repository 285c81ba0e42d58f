"""How English words are related: the same lemma, synonyms, narrower, wider, opposite and sister terms.

The relations are WordNet's (Fellbaum 1998), release 3.1, packed into one file of arrays: single words, their
synsets, hypernyms, similar adjectives and antonyms. Its licence stands beside it.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

SAME, SYNONYM, NARROWER, WIDER, OPPOSITE, SISTER, SIMILAR = (1 << bit for bit in range(7))
"""What an evidence word is to a word of the answer; `NARROWER`: it is a kind of it."""
RELATIONS = 7
LEVELS_UP = 3
"""Hypernyms that count, in steps."""

Table = tuple[NDArray[np.int32], NDArray[np.int32]]


@dataclass(frozen=True, slots=True)
class Entry:
    """What is known of one written word; numbers are synsets."""

    lemmas: frozenset[str]
    senses: frozenset[int]
    above: frozenset[int]
    """Up to three steps."""
    parents: frozenset[int]
    similar: frozenset[int]
    opposites: frozenset[str]


class Lexicon:
    """Looks words up. Loading takes about a tenth of a second, once per process."""

    def __init__(self, tables: Mapping[str, NDArray[np.int32]], words: Sequence[str]) -> None:
        self._words = words
        self._numbers = {word: number for number, word in enumerate(words)}
        self._synsets = (tables["synset_at"], tables["synsets"])
        self._above = (tables["above_at"], tables["above"])
        self._similar = (tables["similar_at"], tables["similar"])
        self._antonyms = (tables["antonym_at"], tables["antonyms"])
        self._members = _turned(self._synsets)
        self.entry = lru_cache(maxsize=50_000)(self._entry)

    def knows(self, word: str) -> bool:
        """Tell whether a word, or what it is a form of, is in the lexicon."""
        return any(lemma in self._numbers for lemma in self._lemmas(word))

    def _entry(self, word: str) -> Entry:
        lemmas = self._lemmas(word)
        numbers = [self._numbers[lemma] for lemma in lemmas if lemma in self._numbers]
        senses = _rows(self._synsets, numbers)
        steps = [_rows(self._above, senses)]
        while len(steps) < LEVELS_UP:
            steps.append(_rows(self._above, steps[-1]))
        similar = _rows(self._similar, senses)
        by_way_of = _rows(self._members, similar)
        opposites = _rows(self._antonyms, (*numbers, *by_way_of))
        return Entry(
            lemmas=frozenset(lemmas),
            senses=senses,
            above=frozenset().union(*steps),
            parents=steps[0],
            similar=similar,
            opposites=frozenset(self._words[number] for number in opposites),
        )

    def _lemmas(self, word: str) -> tuple[str, ...]:
        """Return what a written word may be a form of, the word itself where it is none."""
        found = dict.fromkeys([word] if word in self._numbers else [])
        found |= dict.fromkeys(one for one in _stems(word) if one in self._numbers)
        if word in IRREGULAR:
            found[IRREGULAR[word]] = None
        return tuple(found) or (word,)


@cache
def lexicon() -> Lexicon:
    """Return the lexicon that comes with refdesk."""
    with (files("refdesk.grounding") / "data" / "wordnet.npz").open("rb") as file:
        tables = dict(np.load(file).items())
    return Lexicon(tables, bytes(tables.pop("words")).decode().split("\n"))


class Related:
    """The words of the evidence, to look up which of them are related to a word of the answer."""

    def __init__(self, words: Sequence[str], passed_over: frozenset[str]) -> None:
        self._lexicon = lexicon()
        self._size = len(words)
        self._by_lemma: defaultdict[str, list[int]] = defaultdict(list)
        self._by_opposite: defaultdict[str, list[int]] = defaultdict(list)
        self._by: dict[str, defaultdict[int, list[int]]] = {
            name: defaultdict(list) for name in ("senses", "above", "parents", "similar")
        }
        for number, word in enumerate(words):
            if word in passed_over:
                continue
            entry = self._lexicon.entry(word)
            for lemma in entry.lemmas:
                self._by_lemma[lemma].append(number)
            for opposite in entry.opposites:
                self._by_opposite[opposite].append(number)
            for name, places in self._by.items():
                for synset in getattr(entry, name):
                    places[synset].append(number)

    def to(self, word: str) -> NDArray[np.uint8]:
        """Return what each word of the evidence is to a word: bits, shape (words,)."""
        entry = self._lexicon.entry(word)
        found = np.zeros(self._size, np.uint8)
        found[_at(self._by_lemma, entry.lemmas)] |= SAME
        found[_at(self._by["senses"], entry.senses)] |= SYNONYM
        found[_at(self._by["above"], entry.senses)] |= NARROWER
        found[_at(self._by["senses"], entry.above)] |= WIDER
        found[_at(self._by_lemma, entry.opposites)] |= OPPOSITE
        found[_at(self._by_opposite, entry.lemmas)] |= OPPOSITE
        akin = found & (SAME | SYNONYM | NARROWER | WIDER) > 0
        sisters = np.zeros(self._size, bool)
        sisters[_at(self._by["parents"], entry.parents)] = True
        found[sisters & ~akin] |= SISTER
        found[_at(self._by["senses"], entry.similar)] |= SIMILAR
        found[_at(self._by["similar"], entry.senses | entry.similar)] |= SIMILAR
        return found


def _at(places: Mapping[Any, list[int]], keys: Iterable[Any]) -> list[int]:
    return [number for key in keys if key in places for number in places[key]]


def _row(table: Table, number: int) -> list[int]:
    at, values = table
    if number + 1 >= len(at):
        return []
    found: list[int] = values[at[number] : at[number + 1]].tolist()
    return found


def _rows(table: Table, numbers: Iterable[int]) -> frozenset[int]:
    return frozenset(value for number in numbers for value in _row(table, number))


def _turned(table: Table) -> Table:
    """Return, for each value, the rows that have it."""
    at, values = table
    order = np.argsort(values, kind="stable")
    rows = np.repeat(np.arange(len(at) - 1, dtype=np.int32), np.diff(at))[order]
    starts = np.searchsorted(values[order], np.arange(values.max() + 2))
    return starts.astype(np.int32), rows


def _stems(word: str) -> Iterator[str]:
    for ending, other in ENDINGS:
        if word.endswith(ending) and len(word) > len(ending) + 2:
            stem = word[: -len(ending)] + other
            yield stem
            if len(stem) > 3 and stem[-1] == stem[-2]:
                yield stem[:-1]


_PAIRS = "ies:y ied:y ves:f es: s: ed:e ed: ing:e ing: er:e er: est:e est: ly:"
ENDINGS = tuple((pair.split(":")[0], pair.split(":")[1]) for pair in _PAIRS.split(" "))
_FORMS = (
    "fell:fall rose:rise grew:grow was:be were:be had:have went:go said:say made:make took:take came:come "
    "won:win lost:lose bought:buy sold:sell gave:give got:get found:find held:hold left:leave told:tell "
    "led:lead met:meet paid:pay began:begin kept:keep wrote:write became:become men:man women:woman "
    "children:child people:person fewer:few better:good worse:bad fallen:fall risen:rise grown:grow"
)
IRREGULAR = dict(pair.split(":") for pair in _FORMS.split(" "))
