"""Whether a text holds some words, however they are written."""

import unicodedata

import regex

_LETTERS = regex.compile(r"[\p{L}\p{N}]+")
_UNSEEN = regex.compile(r"[\p{Cf}\p{Mn}]+")
_UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")
_TELLING = 6
"""Letters from which on words are found also where the blanks between them are gone or more."""


def held_in(words: str, text: str) -> bool:
    """Tell whether words stand in a text as a whole: case, accents and signs between them do not count."""
    wanted = plain(words)
    if _UNSPACED.search(wanted):
        return _together(wanted) in _together(plain(text))
    return bool(wanted) and f" {wanted} " in f" {plain(text)} "


def hidden_in(words: str, text: str) -> bool:
    """Tell whether words stand in a text, also spelled apart, run together, or inside of others."""
    wanted = _together(plain(words))
    return held_in(words, text) or (len(wanted) >= _TELLING and wanted in _together(plain(text)))


def plain(text: str) -> str:
    """Return the words of a text in lower case, without accents and characters that nobody sees."""
    bare = _UNSEEN.sub("", unicodedata.normalize("NFKD", text)).casefold()
    return " ".join(_LETTERS.findall(bare))


def _together(plain_text: str) -> str:
    return plain_text.replace(" ", "")
