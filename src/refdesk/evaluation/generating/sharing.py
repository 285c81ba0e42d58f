"""Pairs of places that have a rare word in common, so that a question can join them."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TypeVar

from refdesk.evaluation.generating.filtering import content
from refdesk.evaluation.generating.surveying import Passage

Place = TypeVar("Place")

WIDEST = 5
"""Documents that a word may stand in, and still join two places."""
SHORTEST = 4
"""Letters of such a word."""


def pairs(places: Sequence[tuple[Place, Passage, str]]) -> Iterator[tuple[Place, Place]]:
    """Yield pairs of places by what their texts share, the rarest words first; each passage once at most.

    Pairs are of two documents where there are several, else of two passages, and of one language.
    """
    several = len({passage.source_id for _, passage, _ in places}) > 1
    by_word: dict[str, list[tuple[Place, Passage]]] = defaultdict(list)
    for place, passage, text in places:
        for word in sorted(content(text, passage.language)):
            by_word[word].append((place, passage))
    used: set[str] = set()
    for word, every in sorted(by_word.items(), key=_rareness):
        documents = {passage.source_id for _, passage in every}
        if len(word) < SHORTEST or word.isdigit() or len(documents) > WIDEST:
            continue
        for (first, one), (second, other) in pairwise(every):
            if _apart(one, other, several) and not {one.chunk_id, other.chunk_id} & used:
                used |= {one.chunk_id, other.chunk_id}
                yield first, second


def _rareness(item: tuple[str, list[tuple[Place, Passage]]]) -> tuple[int, str]:
    return len(item[1]), item[0]


def _apart(one: Passage, other: Passage, several: bool) -> bool:
    if one.language != other.language or one.chunk_id == other.chunk_id:
        return False
    return one.source_id != other.source_id or not several
