"""Compounds of Germanic languages to the stems of their parts, by lists of known stems.

A word is cut where both sides have a known stem, into as few parts as there can be, and where several
cuts have as few, into the most even. A long known stem at the end is a part even where what is before
it is unknown. A known stem is never cut. The lists are made by `benchmarks/compound_lexicon.py`.
"""

from functools import cache, lru_cache
from importlib.resources import files
from typing import Final

from refdesk.analysis.stemming import stem

LANGUAGES: Final = {"de": "de", "nl": "nl", "sv": "sv", "da": "da", "nb": "no", "nn": "no", "no": "no"}
"""Languages whose compounds are cut, with the list that each uses."""

SHORTEST_PART: Final = 4
"""Letters; shorter parts are mostly endings."""

_SHORTEST_WORD: Final = 2 * SHORTEST_PART
_LONGEST_WORD: Final = 48
_SURE_HEAD: Final = 6


@cache
def known_stems(language: str) -> frozenset[str]:
    """Return the stems that can be parts of compounds."""
    text = files("refdesk.analysis").joinpath("lexicon", f"{LANGUAGES[language]}.txt").read_text("utf-8")
    return frozenset(line for line in text.splitlines() if not line.startswith("#"))


def compound_parts(word: str, language: str) -> tuple[str, ...]:
    """Return the stems of a lower-case word's parts, or nothing where it is not a known compound."""
    if language not in LANGUAGES or not _SHORTEST_WORD <= len(word) <= _LONGEST_WORD:
        return ()
    known = known_stems(language)
    if stem(word, "latin", language) in known:
        return ()
    return cut(word, language, known) or _head(word, language, known)


@lru_cache(maxsize=1 << 14)
def cut(word: str, language: str, known: frozenset[str]) -> tuple[str, ...]:
    """Return the stems of the best cut into known parts, or nothing where the word is itself known."""
    if stem(word, "latin", language) in known:
        return ()
    best: tuple[str, ...] = ()
    for at in range(SHORTEST_PART, len(word) - SHORTEST_PART + 1):
        head = stem(word[at:], "latin", language)
        if head in known and (modifier := _modifier(word[:at], language, known)):
            best = min((best, (*modifier, head)), key=_untidiness) if best else (*modifier, head)
    return best


def _untidiness(parts: tuple[str, ...]) -> tuple[int, int]:
    return len(parts), -min(map(len, parts))


def _modifier(word: str, language: str, known: frozenset[str]) -> tuple[str, ...]:
    for form in (word, word.removesuffix("s")):
        if len(form) >= SHORTEST_PART:
            root = stem(form, "latin", language)
            if parts := (root,) if root in known else cut(form, language, known):
                return parts
    return ()


def _head(word: str, language: str, known: frozenset[str]) -> tuple[str, ...]:
    for at in range(SHORTEST_PART, len(word) - _SURE_HEAD + 1):
        head = stem(word[at:], "latin", language)
        if len(head) >= _SURE_HEAD and head in known:
            return (head,)
    return ()
