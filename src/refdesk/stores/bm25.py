"""BM25 in the lucene variant, from tokens and the statistics of all chunks in scope.

Robertson and Zaragoza 2009, The Probabilistic Relevance Framework; the variant as in Kamphuis et al. 2020.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

K1 = 1.2
B = 0.75


@dataclass(frozen=True, slots=True)
class Statistics:
    """What the score of a chunk depends on besides its own tokens."""

    chunks: int
    tokens: int
    containing: Mapping[str, int]
    """Per token of the query, in how many chunks it is."""


def weights(query: Sequence[str], statistics: Statistics) -> dict[str, float]:
    """Return what each token of the query weighs; a token asked for twice counts twice."""
    return {
        token: times * _rarity(statistics.containing.get(token, 0), statistics.chunks)
        for token, times in Counter(query).items()
    }


def _rarity(containing: int, chunks: int) -> float:
    return math.log(1 + (chunks - containing + 0.5) / (containing + 0.5))


def score(tokens: Sequence[str], weighed: Mapping[str, float], statistics: Statistics) -> float:
    """Score one chunk; 0 where it has no token of the query."""
    relative_length = len(tokens) * statistics.chunks / statistics.tokens if statistics.tokens else 1.0
    saturation = K1 * (1 - B + B * relative_length)
    found = Counter(token for token in tokens if token in weighed)
    return math.fsum(weighed[token] * times / (times + saturation) for token, times in found.items())


def split(tokens: str) -> list[str]:
    """Return the tokens of a chunk from how they are stored, joined by single spaces."""
    return [token for token in tokens.split(" ") if token]


def containing(token_lists: Iterable[Sequence[str]]) -> Counter[str]:
    """Count in how many of the lists each token is."""
    counts: Counter[str] = Counter()
    for tokens in token_lists:
        counts.update(set(tokens))
    return counts
