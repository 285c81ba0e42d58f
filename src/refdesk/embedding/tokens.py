"""Token vectors in one byte per dimension.

Components of unit vectors lie in -1..1, so one fixed scale of 127 serves all of them: vectors stay
comparable, and nothing but the bytes has to be kept.
"""

import numpy as np
from numpy.typing import NDArray

from refdesk.embedding import TokenVectors

SCALE = 127


def quantise_tokens(tokens: TokenVectors) -> NDArray[np.int8]:
    """Return unit vectors as int8 of shape (tokens, dimension)."""
    return np.rint(np.clip(tokens.vectors, -1.0, 1.0) * SCALE).astype(np.int8)


def dequantise(stored: NDArray[np.int8]) -> NDArray[np.float32]:
    """Return stored vectors as unit vectors again, shape (tokens, dimension)."""
    return unit_rows(stored.astype(np.float32))


def unit_rows(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scale rows to unit length; a row of zeros stays zero."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-12), np.float32)
