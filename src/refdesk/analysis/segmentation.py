"""Scripts without spaces between words: overlapping pairs of syllables, and each syllable.

Pairs and singles need no dictionary, find every word wherever it stands, and rank as well as segmenters do
(Nie et al. 2000, "On the use of words and n-grams for Chinese information retrieval").
"""

from itertools import pairwise
from typing import Final

import regex

_LETTER: Final = regex.compile(r".\p{M}*", regex.DOTALL)
_SYLLABLE: Final = regex.compile(
    r"[\u0E40-\u0E44\u0EC0-\u0EC4]?[\u0E01-\u0E2E\u0E81-\u0EAE\u0EDC-\u0EDF]\p{M}*+[\u0E30\u0E32\u0E33\u0E45\u0EB0\u0EB2\u0EB3]?+\p{M}*+"
    r"|[\u1780-\u17B3](?:\u17D2[\u1780-\u17B3]|\p{M})*+"
    r"|[\u1000-\u102A\u103F](?:\u1039[\u1000-\u102A]|\p{M})*+(?:[\u1000-\u102A]\u103A\p{M}*+)*+"
    r"|\X"
)
"""Thai and Lao: leading vowel, consonant, signs, following vowel; Khmer and Burmese: stacked consonants."""


def letters(run: str) -> list[str]:
    """Return Chinese, Japanese and Korean tokens: each character and each pair of neighbours."""
    return _singles_and_pairs(list(run) if run.isalpha() else _LETTER.findall(run))


def syllables(run: str) -> list[str]:
    """Return Thai, Lao, Khmer and Burmese tokens: each written syllable and each pair of neighbours."""
    return _singles_and_pairs(_SYLLABLE.findall(run))


def _singles_and_pairs(units: list[str]) -> list[str]:
    return [*units, *(first + second for first, second in pairwise(units))]
