"""Text to tokens: the same rules for documents and for queries."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from refdesk.analysis.folding import ACCENTS_MATTER, fold, normalise
from refdesk.analysis.identifiers import piece_tokens
from refdesk.analysis.languages import UNDETERMINED, plausible_languages

ANALYSER_VERSION: Final = "1"
"""Changes whenever the tokens of some text change; part of what a stored document is compared by."""

_CACHED_LENGTH: Final = 40


def analyse(text: str, language: str) -> list[str]:
    """Return the tokens of a document, in its language (ISO 639-1, or `und`).

    A token has no whitespace and at most 39 bytes of UTF-8, which is what the full-text index keeps.
    """
    tokens: list[str] = []
    for piece in text.split():
        tokens += _cached(piece, language) if len(piece) <= _CACHED_LENGTH else _piece_tokens(piece, language)
    return tokens


def analyse_query(text: str, languages: Sequence[str]) -> list[str]:
    """Return the distinct tokens of a query to documents in these languages, frequent ones first.

    The tokens are those of every language that the query may be in.
    """
    chosen = plausible_languages(text, languages) or [UNDETERMINED]
    return list(dict.fromkeys(token for language in chosen for token in _typed(text, language)))


def _typed(text: str, language: str) -> list[str]:
    tokens = analyse(text, language)
    if language not in ACCENTS_MATTER:
        return tokens
    bare = {plain for token in tokens if (plain := fold(token, "latin")) != token}
    return [token for token in tokens if token not in bare]


def _piece_tokens(piece: str, language: str) -> tuple[str, ...]:
    return tuple(token for part in normalise(piece).split() for token in piece_tokens(part, language))


_cached = lru_cache(maxsize=1 << 16)(_piece_tokens)
