"""Questions and hits to pairs that fit a model, and the scores of pairs back to hits. Nothing is cut off."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from refdesk.embedding.windows import text_windows
from refdesk.errors import InputError

SMALLEST = 8
"""Tokens of a text below which a window says nothing."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """What to score: `pairs[i]` is a window of text number `owners[i]`."""

    pairs: tuple[tuple[str, str], ...]
    owners: tuple[int, ...]

    def best(self, scores: Sequence[float]) -> list[float]:
        """Return the highest score of each text's windows, in the order of the texts."""
        found: dict[int, float] = {}
        for owner, score in zip(self.owners, scores, strict=True):
            found[owner] = max(score, found.get(owner, score))
        return [found[owner] for owner in sorted(found)]


def windowed(question: str, texts: Sequence[str], count: Callable[[str], int], limit: int) -> Pairs:
    """Pair a question with every window of every text, each pair of at most `limit` tokens.

    Errors: `InputError` where the question leaves no room for a text.
    """
    room = limit - count(question)
    if room < SMALLEST:
        raise InputError(
            f"The question has {count(question)} tokens; the reranker takes {limit} with the text.",
            remedy="Ask a shorter question, or use the reranker 'maxsim', which has no limit.",
        )
    windows = [text_windows(text, count, room) for text in texts]
    return Pairs(
        pairs=tuple((question, window) for parts in windows for window in parts),
        owners=tuple(owner for owner, parts in enumerate(windows) for _ in parts),
    )
