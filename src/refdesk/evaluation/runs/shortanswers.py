"""How near an answer comes to short reference answers, without a judge.

Texts are normalised as by the evaluation script of SQuAD (Rajpurkar et al., EMNLP 2016): lower case, no
punctuation, no English articles, single blanks. What it leaves out for other languages: all of Unicode's
punctuation goes, and scripts that set no blanks between words are compared character by character.
"""

from collections import Counter
from collections.abc import Sequence

import regex

METHOD = "the better of token F1 and containment, normalised as by SQuAD"

_PUNCTUATION = regex.compile(r"[\p{P}!-/:-@\[-`{-~]")
_ARTICLES = regex.compile(r"\b(?:a|an|the)\b")
_UNSPACED = regex.compile(r"([\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]\p{M}*)")
_OPENING_ONLY = frozenset({("yes",), ("no",)})
"""Words that say nothing where they stand in the midst of an answer."""


def tokens(text: str) -> tuple[str, ...]:
    """Return the words of a text that count."""
    plain = _PUNCTUATION.sub("", text.lower())
    return tuple(_UNSPACED.sub(r" \1 ", _ARTICLES.sub(" ", plain)).split())


def token_f1(answer: Sequence[str], reference: Sequence[str]) -> float:
    """Return the harmonic mean of precision and recall of the words; both empty is 1."""
    if not answer or not reference:
        return float(not answer and not reference)
    same = sum((Counter(answer) & Counter(reference)).values())
    return 2 * same / (len(answer) + len(reference))


def contained(reference: Sequence[str], answer: Sequence[str]) -> bool:
    """Tell whether all words of a reference stand in an answer, one after the other.

    `yes` and `no` have to stand at its beginning.
    """
    size = len(reference)
    if not size:
        return False
    places = 1 if tuple(reference) in _OPENING_ONLY else len(answer) - size + 1
    return any(tuple(answer[at : at + size]) == tuple(reference) for at in range(places))


def nearness(answer: str, references: Sequence[str]) -> float:
    """Return how near an answer comes to the nearest of some references, 0 to 1.

    Containment is for answers in sentences, which token F1 would punish for every word beyond the reference.
    """
    given = tokens(answer)
    return max((_nearness(given, tokens(one)) for one in references), default=0.0)


def _nearness(answer: Sequence[str], reference: Sequence[str]) -> float:
    return 1.0 if contained(reference, answer) else token_f1(answer, reference)
