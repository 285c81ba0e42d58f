"""How well a sentence answers a question, on a scale that was calibrated."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from refdesk.analysis import analyse
from refdesk.citations.support import weights
from refdesk.context import Zone

Matrix = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Scale:
    """How relevance is put together, where it stops to be none, and where it starts to be ok.

    Fitted on one half of XQuAD (questions of SQuAD in twelve languages), so that about 2 % and 10 % of the
    answerable questions fall below the bounds; `benchmarks/answering.py` prints what the other half gives.
    """

    weak_from: float
    ok_from: float
    lexical: float = 0.4
    """Weight of shared words; the three matches of vectors weigh 1 each."""

    def zone(self, relevance: float) -> Zone:
        """Return the zone of an answer from the relevance of its best sentence."""
        return "none" if relevance < self.weak_from else "weak" if relevance < self.ok_from else "ok"

    def combine(self, *, whole: float, worst: float, chunk: float, shares: float) -> float:
        """Combine the match of a sentence, of its worst third and of its chunk, and the share of words."""
        return (whole + worst + chunk + self.lexical * shares) / (3 + self.lexical)


TOKENS = Scale(weak_from=0.34, ok_from=0.44)
"""For token vectors."""
VECTORS = Scale(weak_from=0.36, ok_from=0.48)
"""For an embedder that gives one vector per text."""
LETTERS = Scale(weak_from=0.21, ok_from=0.28, lexical=12.0)
"""For a script that the embedder cannot read: words count most."""
_BLIND_FROM = 0.3
_LEAST_ROOM = 0.05
"""Where all texts are alike, small differences mean nothing and are not blown up."""


def scale_for(own: float, latin: float, *, tokens: bool) -> Scale:
    """Return the scale, given how near unrelated sentences are in the question's script and in Latin script.

    Where those of the question's script are much nearer, the model sees letters there and no words.
    """
    if above(own, latin) > _BLIND_FROM:
        return LETTERS
    return TOKENS if tokens else VECTORS


def token_match(question: Matrix, text: Matrix) -> tuple[float, float]:
    """Compare token vectors by late interaction (ColBERT, Khattab and Zaharia 2020).

    Each token of the question is worth its best cosine in the text. Returns the mean over all tokens, and
    over the worst third, which tells whether a part of the question is not dealt with at all.
    """
    if not len(question) or not len(text):
        return 0.0, 0.0
    best = np.sort((question @ text.T).max(axis=1))
    return float(best.mean()), float(best[: max(1, len(best) // 3)].mean())


def above(similarity: float, background: float) -> float:
    """Place a similarity between what unrelated sentences reach or less (0) and identity (1).

    Spaces differ in what unrelated means: about 0.1 in one, 0.7 in another.
    """
    return max(0.0, similarity - background) / max(_LEAST_ROOM, 1.0 - background)


def likeness(texts: Sequence[Matrix]) -> float:
    """Return how near texts are to each other on average."""
    pairs = [token_match(one, other)[0] for one in texts for other in texts if one is not other]
    return float(np.mean(pairs))


def lexical_shares(question: str, sentences: Sequence[str], language: str) -> list[float]:
    """Return the share of the question's words that each sentence has, rare words weighing more."""
    parts = [analyse(sentence, language) for sentence in sentences]
    wanted = weights(_content(question, language) or analyse(question, language), parts)
    total = sum(wanted.values()) or 1.0
    return [sum(wanted[word] for word in set(part) if word in wanted) / total for part in parts]


def _content(question: str, language: str) -> list[str]:
    """Return the tokens of a question without the English words that every question has."""
    said = [word for word in question.split() if word.strip(".,?!\"'").casefold() not in _FUNCTION_WORDS]
    return analyse(" ".join(said), language)


_ENGLISH = (
    "a an the of in on at to for from by with and or is are was were be been do does did what which who whom "
    "whose when where why how many much it its this that these those as has have had not no than then there "
    "their his her he she they i you we can could would should will may might about into over under between "
    "during after before"
)
_FUNCTION_WORDS = frozenset(_ENGLISH.split(" "))
