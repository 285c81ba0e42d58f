"""How well a sentence answers a question, on a scale that was calibrated, and what follows for the answer."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from refdesk.citations.support import stems, weights
from refdesk.context import Zone

Matrix = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Scale:
    """Where relevance stops to be none, and starts to be ok."""

    weak_from: float
    ok_from: float

    def zone(self, relevance: float) -> Zone:
        """Return the zone of an answer from the relevance of its best sentence."""
        return "none" if relevance < self.weak_from else "weak" if relevance < self.ok_from else "ok"


TOKENS = Scale(weak_from=0.34, ok_from=0.44)
"""For token vectors. Fitted on one half of XQuAD, so that 2 % and 10 % of answerable questions fall below."""
VECTORS = Scale(weak_from=0.36, ok_from=0.48)
"""The same for an embedder that gives one vector per text."""

_LEXICAL = 0.4
_TOTAL = 3 + _LEXICAL


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
    """Place a similarity between what unrelated sentences reach (0) and identity (1).

    Spaces differ in what unrelated means: about 0.1 in one, 0.7 in another.
    """
    return (similarity - background) / max(1e-6, 1.0 - background)


def combine(*, whole: float, worst: float, chunk: float, lexical: float) -> float:
    """Combine the match of a sentence, of its worst third, of its chunk, and the share of words, to 0 … 1."""
    return (whole + worst + chunk + _LEXICAL * lexical) / _TOTAL


def lexical_shares(question: str, sentences: Sequence[str]) -> list[float]:
    """Return the share of the question's words that each sentence has, rare words weighing more."""
    parts = [stems(sentence) for sentence in sentences]
    wanted = weights(
        [word for word in stems(question) if word not in _FUNCTION_WORDS] or stems(question), parts
    )
    total = sum(wanted.values()) or 1.0
    return [sum(wanted[word] for word in set(part) if word in wanted) / total for part in parts]


_ENGLISH = (
    "a an the of in on at to for from by with and or is are was were be been do does did what which who whom "
    "whose when where why how many much it its this that these those as has have had not no than then there "
    "their his her he she they i you we can could would should will may might about into over under between "
    "during after before"
)
_FUNCTION_WORDS = frozenset(_ENGLISH.split(" "))

BACKGROUND = (
    "The ship left the harbour before sunrise.",
    "Add two eggs and stir until the dough is smooth.",
    "The committee will meet again in March.",
    "Her brother plays the violin in an orchestra.",
    "Rain is expected in the north by the evening.",
    "The engine stopped after a few kilometres.",
    "Prices rose by three percent last year.",
    "The old bridge was rebuilt with steel and stone.",
    "A small bird sat on the fence and sang.",
    "Press the red button to turn the machine off.",
    "The museum shows paintings from four centuries.",
    "Patients should rest for a week after surgery.",
    "The court rejected the claim of the tenants.",
    "Most of the forest burned down in the dry summer.",
    "He forgot his keys and had to wait outside.",
    "The team won the final after extra time.",
    "Each file holds the names of all members.",
    "The planet turns around its star in ninety days.",
    "Children learn to read at the age of six.",
    "The train to the coast leaves every hour.",
)
"""Sentences about nothing in particular, to see what unrelated text reaches in a space."""
