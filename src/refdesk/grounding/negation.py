"""Where evidence has the words of a statement, and a "not" more or less."""

from collections.abc import Sequence
from functools import lru_cache

import regex

from refdesk.analysis import analyse
from refdesk.citations.sentences import sentences
from refdesk.grounding.stating import MARKER, Statement

ALL = 0.9
"""Share of a statement's words that a sentence must have, to differ from it in nothing but a negation."""
SLACK = 3
"""Words that may stand between them, more than in the statement."""
NEGATIONS = {
    "en": "not no never none nobody nothing neither nor without cannot",
    "de": "nicht kein keine keinen keinem keiner keines nie niemals niemand nichts ohne weder",
    "fr": "pas jamais sans aucun aucune rien personne ni",
    "es": "no nunca jamás sin ningún ninguno ninguna nadie nada ni",
    "it": "non mai senza nessun nessuno nessuna niente nulla né",
    "nl": "niet geen nooit zonder niemand niets",
    "pt": "não nunca jamais sem nenhum nenhuma ninguém nada nem",
}
_NEGATIONS = {language: frozenset(words.split()) for language, words in NEGATIONS.items()}
_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]++(?:['’]\p{L}++)?")
_SHORTENED = regex.compile(r"n['’]t$")

Words = tuple[tuple[str, str], ...]
"""Words as they are written, each with its token."""


def denied(sentence: str, passages: Sequence[str], language: str) -> bool:
    """Tell whether all sentences of passages that have the words of a sentence differ from it by a negation.

    The words have to stand close together. A "not" that the sentence lacks has to be among them, so that one
    of another clause counts for nothing; one that they lack must stand nowhere in theirs.
    """
    negations = _NEGATIONS.get(language)
    if negations is None:
        return False
    said = _words(MARKER.sub(" ", sentence), language)
    kept = {token for word, token in said if token and not _negates(word, negations)}
    wanted = kept & set(Statement.of(sentence, language).words)
    found = [one for passage in passages for one in _sentences(passage, language)]
    if not wanted or _verbatim(said, tuple(word for one in found for word in one)):
        return False
    verdicts = [_denies(one, said, wanted, negations) for one in found]
    told = [verdict for verdict in verdicts if verdict is not None]
    return bool(told) and all(told)


def _denies(found: Words, said: Words, wanted: set[str], negations: frozenset[str]) -> bool | None:
    """Tell whether one of both has a negation that the other lacks, None where they speak of other things."""
    if sum(token in wanted for token in {token for _, token in found}) < ALL * len(wanted):
        return None
    window = _closest(found, wanted, len(said) + SLACK)
    if len({token for _, token in window} & wanted) < ALL * len(wanted):
        return None
    if _negated(said, negations):
        return not _negated(found, negations)
    return _negated(window, negations)


@lru_cache(maxsize=64)
def _sentences(passage: str, language: str) -> tuple[Words, ...]:
    return tuple(_words(span.of(passage), language) for span in sentences(passage, language))


def _words(text: str, language: str) -> Words:
    words = (word.casefold() for word in _WORD.findall(text))
    return tuple((word, next(iter(analyse(word, language)), "")) for word in words)


def _verbatim(said: Words, found: Words) -> bool:
    first = said[0] if said else None
    starts = (at for at, word in enumerate(found) if word == first)
    return any(found[at : at + len(said)] == said for at in starts)


def _negates(word: str, negations: frozenset[str]) -> bool:
    return word in negations or ("not" in negations and bool(_SHORTENED.search(word)))


def _negated(words: Words, negations: frozenset[str]) -> bool:
    return any(_negates(word, negations) for word, _ in words)


def _closest(found: Words, wanted: set[str], most: int) -> Words:
    """Return the run of at most `most` words that has most of what is wanted, the shortest of those."""
    best: Words = ()
    most_held = 0
    places = [at for at, (_, token) in enumerate(found) if token in wanted]
    for first, start in enumerate(places):
        held: set[str] = set()
        for end in places[first:]:
            if end - start >= most:
                break
            held.add(found[end][1])
            if (len(held), -(end + 1 - start)) > (most_held, -len(best)):
                most_held, best = len(held), found[start : end + 1]
    return best
