"""WordNet's files, as Princeton distributes them, and their packing into arrays."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from refdesk.errors import InputError

PARTS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
"""Ends of file names, and the letter that synsets of the file begin with."""
HYPERNYM, ANTONYM, SIMILAR = ("@", "@i"), "!", "&"
Words = defaultdict[str, set[str]]
Ranked = tuple[int, str, tuple[str, ...]]
"""How often a word is met as a part of speech, that part, and its synsets as such, frequent ones first."""


def _sets() -> Words:
    return defaultdict(set)


@dataclass(frozen=True, slots=True)
class WordNet:
    """Synsets, named by their part of speech and their place in its file, and the words in them."""

    members: dict[str, list[str]] = field(default_factory=dict)
    """Words of a synset; terms of several words have underscores."""
    senses: Words = field(default_factory=_sets)
    """Synsets of a single word."""
    above: dict[str, list[str]] = field(default_factory=dict)
    """Hypernyms of a synset."""
    below: Words = field(default_factory=_sets)
    """Hyponyms of a synset."""
    similar: Words = field(default_factory=_sets)
    """Synsets of similar adjectives."""
    opposites: Words = field(default_factory=_sets)
    """Antonyms of a word."""
    usual: dict[str, Ranked] = field(default_factory=dict)
    """A word as its most frequent part of speech."""

    def synonyms(self, word: str) -> list[str]:
        """Return single words of a word's two most frequent synsets."""
        return _single(
            {other for sense in self._frequent(word)[:2] for other in self.members[sense]} - {word}
        )

    def sisters(self, word: str) -> list[str]:
        """Return single words beside a noun's or verb's most frequent synset, under the same hypernym."""
        sense = next(iter(self._frequent(word)), "")
        if sense[:1] not in ("n", "v"):
            return []
        beside = {one for above in self.above[sense] for one in self.below[above]} - {sense}
        others = {other for one in beside for other in self.members[one]}
        return _single(others - {word, *self.members[sense]})

    def antonyms(self, word: str) -> list[str]:
        """Return single words that are the opposite of a word."""
        return _single(self.opposites.get(word, set()) - {word})

    def _frequent(self, word: str) -> tuple[str, ...]:
        return self.usual[word][2] if word in self.usual else ()


def read_wordnet(folder: Path) -> WordNet:
    """Read the files `data.*` and `index.*` of a folder, which releases call `dict`. Errors: `InputError`."""
    names = [f"{kind}.{part}" for part in PARTS for kind in ("data", "index")]
    if lacking := [name for name in names if not (folder / name).is_file()]:
        raise InputError(
            f"The folder {str(folder)!r} lacks WordNet's {', '.join(lacking)}.",
            remedy="Name the folder `dict` of an unpacked release 3.1.",
        )
    net = WordNet()
    opposed: list[tuple[str, str, str]] = []
    for name, part in PARTS.items():
        for fields in _lines(folder / f"data.{name}"):
            opposed += _add_synset(net, part, fields)
        for fields in _lines(folder / f"index.{name}"):
            _add_word(net, part, fields)
    _turn(net, opposed)
    return net


def _lines(path: Path) -> Iterator[list[str]]:
    """Yield the fields of each line, without the licence at the top and the glosses."""
    with path.open(encoding="latin-1") as file:
        for line in file:
            if not line.startswith(" "):
                yield line.partition("|")[0].split()


def _add_synset(net: WordNet, part: str, fields: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Add a line of a data file; yield its antonyms: synset, other synset, and which words of the two."""
    synset, count = part + fields[0], int(fields[3], 16)
    words = [word.lower().partition("(")[0] for word in fields[4 : 4 + 2 * count : 2]]
    net.members[synset], net.above[synset] = words, []
    for word in _single(words):
        net.senses[word].add(synset)
    pointers = fields[5 + 2 * count : 5 + 2 * count + 4 * int(fields[4 + 2 * count])]
    for at in range(0, len(pointers), 4):
        kind, place, other_part, which = pointers[at : at + 4]
        other = ("a" if other_part == "s" else other_part) + place
        if kind in HYPERNYM:
            net.above[synset].append(other)
        elif kind == SIMILAR:
            net.similar[synset].add(other)
        elif kind == ANTONYM:
            yield synset, other, which


def _add_word(net: WordNet, part: str, fields: Sequence[str]) -> None:
    """Add a line of an index file."""
    word, count = fields[0], int(fields[2])
    ranked = (int(fields[-count - 1]), part, tuple(part + place for place in fields[-count:]))
    net.usual[word] = max(ranked, net.usual.get(word, ranked))


def _turn(net: WordNet, opposed: Iterable[tuple[str, str, str]]) -> None:
    """Add what needs all synsets: antonyms by word, and hyponyms."""
    for synset, other, which in opposed:
        for word, opposite in product(_said(net, synset, which[:2]), _said(net, other, which[2:])):
            net.opposites[word].add(opposite)
    for synset, hypernyms in net.above.items():
        for above in hypernyms:
            net.below[above].add(synset)


def _said(net: WordNet, synset: str, which: str) -> list[str]:
    """Return a synset's word by its hexadecimal number, all of them for 00."""
    words, number = net.members[synset], int(which, 16)
    return [words[number - 1]] if number else words


def _single(words: Iterable[str]) -> list[str]:
    return sorted({word for word in words if "_" not in word})


def packed(net: WordNet) -> dict[str, NDArray[np.generic]]:
    """Return the arrays that `refdesk.grounding.relations` reads."""
    words = sorted(net.senses)
    synsets = sorted({*(one for word in words for one in net.senses[word]), *net.below})
    word_numbers = {word: number for number, word in enumerate(words)}
    synset_numbers = {synset: number for number, synset in enumerate(synsets)}
    tables = {
        "synset": _rows(words, net.senses, synset_numbers),
        "above": _rows(synsets, net.above, synset_numbers),
        "similar": _rows(synsets, net.similar, synset_numbers),
        "antonym": _rows(words, net.opposites, word_numbers),
    }
    names = {"synset": "synsets", "above": "above", "similar": "similar", "antonym": "antonyms"}
    arrays: dict[str, NDArray[np.generic]] = {"words": np.frombuffer("\n".join(words).encode(), np.uint8)}
    for name, rows in tables.items():
        arrays[f"{name}_at"] = np.cumsum([0, *map(len, rows)]).astype(np.int32)
        arrays[names[name]] = np.array([number for row in rows for number in row], np.int32)
    return arrays


def _rows(
    keys: Sequence[str], values: Mapping[str, Iterable[str]], numbers: Mapping[str, int]
) -> list[list[int]]:
    return [sorted(numbers[one] for one in values.get(key, ()) if one in numbers) for key in keys]
