"""Writing systems: where they change within a word, and whose rules hold for each."""

from typing import Final

import regex

CONTINUOUS: Final = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Bopomofo}\p{Hangul}々〆〇ー"
"""Scripts whose characters are syllables or words; written without spaces, or with endings attached."""

CLUSTERED: Final = r"\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
"""Scripts written without spaces between words, whose syllables take several characters."""

UNSPACED: Final = regex.compile(f"[{CONTINUOUS}{CLUSTERED}]")

RUN: Final = regex.compile(
    rf"(?P<continuous>[{CONTINUOUS}]\p{{M}}*)(?:[{CONTINUOUS}]\p{{M}}*)*+"
    rf"|(?P<clustered>[{CLUSTERED}])[{CLUSTERED}\p{{M}}]*+"
    r"|(?P<latin>\p{Latin})[\p{Latin}\p{M}]*+"
    r"|(?P<cyrillic>\p{Cyrillic})[\p{Cyrillic}\p{M}]*+"
    r"|(?P<greek>\p{Greek})[\p{Greek}\p{M}]*+"
    r"|(?P<arabic>\p{Arabic})[\p{Arabic}\p{M}]*+"
    r"|(?P<hebrew>\p{Hebrew})[\p{Hebrew}\p{M}]*+"
    r"|(?P<devanagari>\p{Devanagari})[\p{Devanagari}\p{M}]*+"
    r"|(?P<armenian>\p{Armenian})[\p{Armenian}\p{M}]*+"
    r"|(?P<tamil>\p{Tamil})[\p{Tamil}\p{M}]*+"
    r"|(?P<number>\p{N})[\p{N}\p{M}]*+"
    rf"|(?P<other>[\p{{L}}\p{{M}}])"
    rf"(?:(?![{CONTINUOUS}{CLUSTERED}\p{{Latin}}\p{{Cyrillic}}\p{{Greek}}\p{{Arabic}}\p{{Hebrew}}"
    r"\p{Devanagari}\p{Armenian}\p{Tamil}])[\p{L}\p{M}])*+"
)
"""One run of one writing system; the named group that matched names it."""

DEFAULT_LANGUAGE: Final = {
    "latin": "en",
    "cyrillic": "ru",
    "greek": "el",
    "arabic": "ar",
    "devanagari": "hi",
    "armenian": "hy",
    "tamil": "ta",
}
"""The language that a word is stemmed by where its document's language is not written so."""

_CODES: Final = {
    "cyrillic": "ba be bg cv kk ky mk mn os ru sr tg tt uk",
    "greek": "el",
    "arabic": "ar fa ps sd ug ur",
    "hebrew": "he yi",
    "devanagari": "bho hi kok mai mr ne sa",
    "armenian": "hy",
    "tamil": "ta",
    "other": "am as bn bo dv dz gu ja ka km kn ko lo ml my or pa si te th ti zh und",
}
_NATIVE: Final = {script: frozenset(codes.split()) for script, codes in _CODES.items()}
_NOT_LATIN: Final = frozenset[str]().union(*_NATIVE.values()) - {"sr"}


def language_of(script: str, language: str) -> str:
    """Return the language whose rules hold for a word of this script in a document of that language."""
    native = language not in _NOT_LATIN if script == "latin" else language in _NATIVE.get(script, ())
    return language if native else DEFAULT_LANGUAGE.get(script, language)


def runs(word: str) -> list[tuple[str, str]]:
    """Cut a word where the writing system changes; returns pairs of system and run."""
    if word.isascii() and word.isalpha():
        return [("latin", word)]
    return [(found.lastgroup or "other", found.group()) for found in RUN.finditer(word)]
