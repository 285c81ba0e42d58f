"""What searches of every store have in common: what they refuse, and how hits are ordered."""

import dataclasses
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from refdesk.documents import Hit
from refdesk.errors import InputError

Scored = tuple[float, Hit]
Score = Literal["vector_score", "keyword_score"]


def unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return a vector with length 1, or 0 as it is. Errors: `InputError`."""
    length = float(np.linalg.norm(vector))
    if vector.ndim != 1 or not np.isfinite(length):
        raise InputError(f"Cannot search with a vector of shape {vector.shape} and length {length}.")
    return np.asarray(vector / length if length else vector, dtype=np.float32)


def refuse_top_k(top_k: int) -> None:
    """Refuse to return no hits. Errors: `InputError`."""
    if top_k < 1:
        raise InputError(f"Cannot return top_k={top_k!r} hits; 1 or more are allowed.")


def refuse_spaces(tokens: Sequence[str]) -> None:
    """Refuse what no token can be. Errors: `InputError`."""
    for token in tokens:
        if any(space in token for space in " \t\n\r\f\v"):
            raise InputError(f"Cannot search for the token {token!r}: a token holds no white space.")


def ranked(found: Sequence[Scored], top_k: int, score: Score) -> tuple[Hit, ...]:
    """Order by score, equal scores by source and position, and number the best."""
    ordered = sorted(found, key=lambda each: (-each[0], each[1].source_id, each[1].chunk.position))
    return tuple(
        dataclasses.replace(
            hit,
            rank=rank,
            vector_score=value if score == "vector_score" else None,
            keyword_score=value if score == "keyword_score" else None,
        )
        for rank, (value, hit) in enumerate(ordered[:top_k], start=1)
    )
