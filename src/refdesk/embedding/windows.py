"""Texts that are longer than a model's input, for embedders that only take whole texts."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from refdesk.embedding.tokens import unit_rows
from refdesk.errors import InputError


def text_windows(text: str, count: Callable[[str], int], limit: int) -> list[str]:
    """Split a text, with nothing left out, into pieces of at most `limit` tokens, at spaces if possible."""
    if len(text) < 2 or count(text) <= limit:
        return [text]
    middle = len(text) // 2
    space = text.rfind(" ", len(text) // 4, middle)
    cut = space + 1 if space > 0 else middle
    return text_windows(text[:cut], count, limit) + text_windows(text[cut:], count, limit)


def refuse_long(texts: Sequence[str], counts: Sequence[int], limit: int, model: str) -> None:
    """Raise `InputError` for the first text with more tokens than the model takes."""
    for number, tokens in enumerate(counts, start=1):
        if tokens > limit:
            raise InputError(
                f"Text {number} of {len(texts)} has {tokens} tokens; {model} takes {limit}.",
                remedy="Split it into chunks first.",
            )


def mean_vector(vectors: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """Return the unit vector in the mean direction of unit vectors; a single one is returned as it is."""
    return vectors[0] if len(vectors) == 1 else unit_rows(np.mean(vectors, axis=0))
