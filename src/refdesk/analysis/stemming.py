"""Word forms to stems, by Snowball (Porter 1980, Porter 2001, https://snowballstem.org)."""

import threading
from typing import Final

import Stemmer

LONGEST: Final = 64
"""Longer words are left as they are: no language inflects them, and stemmers take quadratic time."""

_SNOWBALL: Final = {
    "latin": {
        "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "en": "english", "eo": "esperanto",
        "es": "spanish", "et": "estonian", "eu": "basque", "fi": "finnish", "fr": "french", "ga": "irish",
        "hu": "hungarian", "id": "indonesian", "it": "italian", "lt": "lithuanian", "nb": "norwegian",
        "nl": "dutch", "nn": "norwegian", "no": "norwegian", "pl": "polish", "pt": "portuguese",
        "ro": "romanian", "sr": "serbian", "st": "sesotho", "sv": "swedish", "tr": "turkish",
    },
    "cyrillic": {"ru": "russian", "sr": "serbian"},
    "greek": {"el": "greek"},
    "arabic": {"ar": "arabic", "fa": "persian"},
    "hebrew": {"yi": "yiddish"},
    "devanagari": {"hi": "hindi", "ne": "nepali"},
    "armenian": {"hy": "armenian"},
    "tamil": {"ta": "tamil"},
}  # fmt: skip
_local = threading.local()


def stem(word: str, script: str, language: str) -> str:
    """Return the stem of a lower-case word, or the word where its language has no stemmer."""
    algorithm = _SNOWBALL.get(script, {}).get(language)
    if algorithm is None or len(word) > LONGEST:
        return word
    return str(_stemmer(algorithm).stemWord(word)) or word


def _stemmer(algorithm: str) -> Stemmer.Stemmer:
    # A stemmer keeps the word it works on in itself, so each thread has its own.
    kept: dict[str, Stemmer.Stemmer] = _local.__dict__.setdefault("stemmers", {})
    if algorithm not in kept:
        kept[algorithm] = Stemmer.Stemmer(algorithm, 0)
    return kept[algorithm]
