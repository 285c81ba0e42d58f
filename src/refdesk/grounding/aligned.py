"""An answer aligned with its evidence: what the network and the words say of each of its tokens."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np
from numpy.typing import NDArray

from refdesk.citations.sentences import Span
from refdesk.embedding import TokenVectors
from refdesk.grounding.alignment import Floats, Pairing, head, verdict
from refdesk.grounding.relations import SAME, SYNONYM
from refdesk.grounding.wording import FOREIGN_NUMBER, FUNCTION, LETTERS, Given, read

TELLING = 0.5
"""Share of the most telling token's weight from which on another token of a sentence tells against it."""
Tokens = NDArray[np.bool_]
"""Which tokens of the answer, shape (tokens,)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Aligned:
    """The tokens of an answer, held against all evidence and against each chunk alone.

    What a chunk alone is asked about still has the facts of its words by all evidence, see `wording`.
    """

    offsets: NDArray[np.int64]
    """Shape (tokens, 2), of the answer."""
    logits: Floats
    alone: Sequence[Floats]
    foreign: Tokens
    """Those of a number that no evidence has."""
    content: Tokens
    """Those of words that say something by themselves."""
    shared: Tokens
    """Those whose word, or a synonym, the evidence has."""

    @classmethod
    def of(cls, answer: str, own: TokenVectors, texts: Sequence[str], given: Sequence[TokenVectors]) -> Self:
        """Align an answer with texts of evidence, none of them without tokens."""
        pairing = paired(answer, own, texts, given)
        ends = np.cumsum([len(one.offsets) for one in given]).tolist()
        logits, *alone = head().judge_each(pairing, list(pairwise([0, *ends])))
        facts, known = pairing.facts, pairing.relations & (SAME | SYNONYM)
        return cls(
            offsets=np.array(own.offsets, np.int64).reshape(-1, 2),
            logits=logits,
            alone=alone,
            foreign=facts[:, FOREIGN_NUMBER] > 0,
            content=(facts[:, LETTERS] > 0) & (facts[:, FUNCTION] == 0),
            shared=np.any(known > 0, axis=1),
        )

    def within(self, place: Span) -> Tokens:
        """Return the tokens of a part of the answer."""
        return np.asarray((place.start <= self.offsets[:, 0]) & (self.offsets[:, 1] <= place.end), np.bool_)

    def verdict(self, tokens: Tokens) -> tuple[float, float, float]:
        """Return how likely the evidence entails these tokens, neither, or contradicts them."""
        return verdict(self.logits[tokens])

    def held_by_each(self, tokens: Tokens) -> list[float]:
        """Return how likely each chunk alone entails them."""
        return [verdict(logits[tokens])[0] for logits in self.alone]

    def share(self, tokens: Tokens) -> float:
        """Return the share of what they say that the evidence has in the same words or synonyms."""
        content = tokens & self.content
        return float(self.shared[content].mean()) if content.any() else 1.0

    def labels(self, wrong: Iterable[tuple[Tokens, bool]]) -> tuple[int, ...]:
        """Return 1 for the tokens that tell most against sentences which do not hold, 0 for all others.

        Beside the tokens of each: whether it has a number that no evidence has.
        """
        against = np.logaddexp.reduce(self.logits, axis=1)
        found = np.zeros(len(against), bool)
        for tokens, foreign in wrong:
            telling = against >= against[tokens].max() + np.log(TELLING)
            found |= tokens & ((self.foreign & foreign) | telling)
        return tuple(found.astype(int).tolist())


def paired(answer: str, own: TokenVectors, texts: Sequence[str], given: Sequence[TokenVectors]) -> Pairing:
    """Pair the tokens of an answer with those of texts."""
    words = Given([(text, vectors.offsets) for text, vectors in zip(texts, given, strict=True)])
    reading = read(answer, own.offsets, words)
    pieces: dict[str, int] = {}
    evidence = [_pieces(text, one, pieces) for text, one in zip(texts, given, strict=True)]
    return Pairing(
        answer=own.vectors,
        evidence=np.concatenate([one.vectors for one in given]),
        equal=_pieces(answer, own, pieces)[:, None] == np.concatenate(evidence)[None, :],
        relations=reading.relations,
        facts=reading.facts,
        denying=words.denying,
    )


def _pieces(text: str, vectors: TokenVectors, known: dict[str, int]) -> NDArray[np.int64]:
    """Number the tokens of a text by how they are written, letter case aside."""
    return np.array(
        [known.setdefault(text[start:end].lower(), len(known)) for start, end in vectors.offsets], np.int64
    )
