"""Different spellings of one word to one form."""

import unicodedata
from typing import Final

import regex

ACCENTS_MATTER: Final = frozenset({"vi"})
"""Languages whose accents tell words apart: texts are found by both forms, queries use what was typed."""

_PUNCTUATION: Final = str.maketrans(
    dict.fromkeys("’ʼ‘´`′＇ʹ՚׳", "'") | dict.fromkeys("‐‑‒–−﹣－", "-") | {"\u200b": " "}
)
_INVISIBLE: Final = regex.compile(r"[\p{Cf}\p{Cc}\p{Cs}\p{Co}\p{Me}\p{Variation_Selector}]+")
_MARK_FLOOD: Final = regex.compile(r"\p{M}{33,}+")

_LETTERS: Final = str.maketrans(
    {
        "ø": "o", "đ": "d", "ł": "l", "ħ": "h", "ŧ": "t", "ı": "i", "ŋ": "n", "ð": "d",
        "æ": "ae", "œ": "oe", "þ": "th", "ĸ": "k", "ə": "e",
        "ё": "е", "ѐ": "е", "ѝ": "и", "ς": "σ",
        "أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي", "ی": "ي", "ې": "ي", "ک": "ك", "ۀ": "ه", "ة": "ه",
        "ـ": None,
    }
)  # fmt: skip
_DECOMPOSED: Final = frozenset({"latin", "greek"})
_STRIPPED: Final = {
    "cyrillic": regex.compile(r"[\u0300-\u0305\u0307\u030B-\u036F]+"),
    "arabic": regex.compile(r"[\u0610-\u061A\u064B-\u0652\u0656-\u065F\u0670\u06D6-\u06ED]+"),
    "hebrew": regex.compile(r"[\u0591-\u05BD\u05BF-\u05C7]+"),
    "devanagari": regex.compile(r"[\u093C\u0951-\u0954]+"),
}
_NASAL: Final = regex.compile("ङ्(?=[क-ङ])|ञ्(?=[च-ञ])|ण्(?=[ट-ण])|न्(?=[त-न])|म्(?=[प-म])")
_ARABIC: Final = str.maketrans("یک", "يك", "ـ")
_PERSIAN: Final = str.maketrans("يك", "یک", "ـ")


def normalise(piece: str) -> str:
    """Give equivalent characters one code; spaces in the result are boundaries. Letter case is kept."""
    if piece.isascii():
        return _INVISIBLE.sub("", piece) if not piece.isprintable() else piece
    # Python orders combining marks in quadratic time; no word has that many.
    tamed = _MARK_FLOOD.sub("", piece)
    return unicodedata.normalize("NFKC", _INVISIBLE.sub("", tamed.translate(_PUNCTUATION)))


def lower(word: str, language: str) -> str:
    """Lower the case, by Turkish rules for Turkic languages."""
    if language in ("tr", "az"):
        word = word.replace("I", "ı").replace("İ", "i")
    return unicodedata.normalize("NFC", word.casefold().replace("i̇", "i"))


def digits(number: str) -> str:
    """Write decimal digits of every script as 0-9."""
    if number.isascii():
        return number
    return "".join(str(unicodedata.decimal(sign, sign)) for sign in number)


def before_stemming(word: str, script: str, language: str) -> str:
    """Drop what a stemmer would stumble over: marks that only help pronunciation, letters of a neighbour."""
    if word.isascii() or script not in _STRIPPED:
        return word
    bare = unicodedata.normalize("NFC", _STRIPPED[script].sub("", unicodedata.normalize("NFD", word)))
    if script == "devanagari":
        return _NASAL.sub("ं", bare.replace("ँ", "ं"))
    return bare.translate(_PERSIAN if language == "fa" else _ARABIC) if script == "arabic" else bare


def fold(word: str, script: str) -> str:
    """Drop accents and spelling variants that readers leave out; vowel signs and й stay."""
    if word.isascii():
        return word
    if script in _DECOMPOSED:
        bare = (sign for sign in unicodedata.normalize("NFD", word) if not unicodedata.combining(sign))
        word = "".join(bare)
    return word.translate(_LETTERS)
