"""A deterministic embedder for tests, and the checks that every embedder has to pass."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from refdesk.embedding import Embedder, Fingerprint, TokenEmbedder, TokenVectors, Vectors
from refdesk.embedding.tokens import unit_rows
from refdesk.embedding.windows import mean_vector, refuse_long, text_windows
from refdesk.errors import InputError, RemoteError

WORD = re.compile(r"\S+")
DIMENSION = 64
TOLERANCE = 1e-4
TEXTS = (
    "Thirty days of leave.",
    "No memory is shared.",
    "Geöffnet ab neun Uhr.",
    "",
    "图书馆九点开门。",
    "short",
)


class HashingEmbedder:
    """Vectors out of hashed words and letter trigrams: texts that share words are near, nothing is learned.

    A token is what stands between white space. The same text gives the same vector on every machine.
    """

    def __init__(
        self,
        *,
        dimension: int = DIMENSION,
        max_tokens: int = 256,
        query_prefix: str = "",
        document_prefix: str = "",
    ) -> None:
        longest = max(len(query_prefix.split()), len(document_prefix.split()))
        self._max_tokens = max_tokens - longest
        self.embedded = 0
        """Texts embedded so far, so that a test can tell whether anything was embedded again."""
        self._fingerprint = Fingerprint(
            model="hashing",
            revision="1",
            dimension=dimension,
            query_prefix=query_prefix,
            document_prefix=document_prefix,
        )

    @property
    def fingerprint(self) -> Fingerprint:
        return self._fingerprint

    @property
    def max_tokens(self) -> int:
        return self._max_tokens

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        counts = [self.count_tokens(text) for text in texts]
        refuse_long(texts, counts, self._max_tokens, self._fingerprint.model)
        return self._embed([self._fingerprint.document_prefix + text for text in texts])

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._embed([self._fingerprint.query_prefix + text for text in texts])

    async def embed_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        return [self._tokens(text) for text in texts]

    async def embed_documents_with_tokens(self, texts: Sequence[str]) -> tuple[Vectors, list[TokenVectors]]:
        return await self.embed_documents(texts), await self.embed_tokens(texts)

    def _embed(self, texts: Sequence[str]) -> Vectors:
        self.embedded += len(texts)
        return np.stack([self._text_vector(text) for text in texts]) if texts else self._tokens("").vectors

    def _text_vector(self, text: str) -> NDArray[np.float32]:
        """Return the mean of the windows' vectors, as embedders with a real limit do."""
        windows = text_windows(text, self.count_tokens, max(self._max_tokens, 1))
        return mean_vector([self._window_vector(window) for window in windows])

    def _window_vector(self, text: str) -> NDArray[np.float32]:
        words = WORD.findall(text) or [""]
        return unit_rows(np.sum([word_vector(word, self._fingerprint.dimension) for word in words], axis=0))

    def _tokens(self, text: str) -> TokenVectors:
        matches = list(WORD.finditer(text))
        rows = [word_vector(match.group(), self._fingerprint.dimension) for match in matches]
        vectors = np.stack(rows) if rows else np.zeros((0, self._fingerprint.dimension), np.float32)
        return TokenVectors(vectors, tuple(match.span() for match in matches))


@lru_cache(maxsize=65536)
def word_vector(word: str, dimension: int) -> NDArray[np.float32]:
    """Return the unit vector of a word, of shape (dimension,); words with the same letters are near."""
    vector = np.zeros(dimension, np.float32)
    for feature, weight in _features(word.casefold().strip(".,;:!?()[]\"'")):
        digest = hashlib.blake2b(feature.encode("utf-8", "replace"), digest_size=8).digest()
        sign = 1.0 if digest[0] & 1 else -1.0
        vector[int.from_bytes(digest[1:], "big") % dimension] += sign * weight
    return unit_rows(vector if vector.any() else np.eye(1, dimension, dtype=np.float32)[0])


def _features(word: str) -> Iterator[tuple[str, float]]:
    for salt in range(4):
        yield f"{salt}:{word}", 1.0
    padded = f"<{word}>"
    for start in range(len(padded) - 2):
        yield padded[start : start + 3], 0.5


async def check_embedder(embedder: Embedder) -> None:
    """Check what refdesk relies on in an embedder; raise `AssertionError` with a sentence where it fails."""
    check_fingerprint(embedder)
    await check_vectors(embedder)
    await check_independence(embedder)
    await check_limit(embedder)
    if isinstance(embedder, TokenEmbedder):
        await check_tokens(embedder, embedder.fingerprint.dimension)


def check_fingerprint(embedder: Embedder) -> None:
    """Check that the fingerprint is complete and does not change."""
    first, second = embedder.fingerprint, embedder.fingerprint
    assert first == second, "The fingerprint changes between two reads."
    assert str(first) == str(second), "The fingerprint's text changes between two reads."
    assert first.model, "The fingerprint names no model."
    assert first.dimension > 0, f"The fingerprint has dimension {first.dimension}."
    assert first.normalised, "The fingerprint says that vectors have no unit length."


async def check_vectors(embedder: Embedder) -> None:
    """Check shape, type, unit length, determinism, and that queries and documents share a space."""
    dimension = embedder.fingerprint.dimension
    for embed in (embedder.embed_documents, embedder.embed_queries):
        name = embed.__name__
        vectors = await embed(TEXTS)
        assert vectors.shape == (len(TEXTS), dimension), f"{name} gave shape {vectors.shape}."
        assert vectors.dtype == np.float32, f"{name} gave {vectors.dtype}, not float32."
        lengths = np.linalg.norm(vectors, axis=1)
        assert np.allclose(lengths, 1.0, atol=1e-3), f"{name} gave vectors of lengths {lengths}."
        assert _near(vectors, await embed(TEXTS)), f"{name} gave other vectors the second time."
        nothing = await embed([])
        assert nothing.shape == (0, dimension), f"{name} gave shape {nothing.shape} for no texts."
    await _check_prefixes(embedder)


async def _check_prefixes(embedder: Embedder) -> None:
    queries, documents = await embedder.embed_queries(TEXTS[:1]), await embedder.embed_documents(TEXTS[:1])
    space = embedder.fingerprint
    same = space.query_prefix == space.document_prefix
    assert same or not _near(queries, documents), "Prefixes differ, and yet a query equals its document."


async def check_independence(embedder: Embedder) -> None:
    """Check that a text's vector depends neither on its neighbours nor on its place."""
    together = await embedder.embed_documents(TEXTS)
    for position, text in enumerate(TEXTS):
        alone = await embedder.embed_documents([text])
        assert _near(alone[0], together[position]), f"{text!r} has another vector alone than among others."
    backwards = await embedder.embed_documents(TEXTS[::-1])
    assert _near(backwards[::-1], together), "Vectors do not follow the order of the texts."


async def check_limit(embedder: Embedder) -> None:
    """Check that a text of `max_tokens` fits, and that nothing of a longer one is cut off silently."""
    limit = embedder.max_tokens
    assert limit > 0, f"max_tokens is {limit}."
    assert embedder.count_tokens("") == 0, "An empty text has tokens."
    fitting = _text_of(embedder, limit)
    await embedder.embed_documents([fitting])
    longer = fitting + " river" * limit
    assert embedder.count_tokens(longer) > limit, "count_tokens does not grow with the text."
    ends = [f"{longer} about {topic}" for topic in ("mountains", "invoices")]
    first, second = await embedder.embed_queries(ends)
    assert not np.array_equal(first, second), "The end of a long query makes no difference: it was cut."
    try:
        first, second = await embedder.embed_documents(ends)
    except (InputError, RemoteError):
        return
    assert not np.array_equal(first, second), "The end of a long document makes no difference: it was cut."


def _text_of(embedder: Embedder, tokens: int) -> str:
    """Return the longest text of the word `river` that has at most so many tokens."""
    low, high = 1, tokens
    while low < high:
        middle = (low + high + 1) // 2
        fits = embedder.count_tokens(" ".join(["river"] * middle)) <= tokens
        low, high = (middle, high) if fits else (low, middle - 1)
    return " ".join(["river"] * low)


async def check_tokens(embedder: TokenEmbedder, dimension: int) -> None:
    """Check shape, unit length and offsets of token vectors."""
    for text, tokens in zip(TEXTS, await embedder.embed_tokens(TEXTS), strict=True):
        assert tokens.vectors.shape == (len(tokens.offsets), dimension), (
            f"{text!r} has {len(tokens.offsets)} offsets and vectors of shape {tokens.vectors.shape}."
        )
        lengths = np.linalg.norm(tokens.vectors, axis=1)
        assert np.allclose(lengths, 1.0, atol=1e-3), f"{text!r} has token vectors of lengths {lengths}."
        assert all(0 <= start <= end <= len(text) for start, end in tokens.offsets), (
            f"{text!r} has token offsets outside it."
        )
        assert list(tokens.offsets) == sorted(tokens.offsets), f"{text!r} has token offsets out of order."
        assert bool(tokens.offsets) == bool(text), f"{text!r} has {len(tokens.offsets)} tokens."


def _near(first: NDArray[np.float32], second: NDArray[np.float32]) -> bool:
    return bool(np.allclose(first, second, atol=TOLERANCE))
