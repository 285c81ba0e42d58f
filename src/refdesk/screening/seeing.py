"""A text as rules see it: in one normal form and letter case, without what nobody sees."""

import unicodedata

import regex

_BLANKS = regex.compile(r"[\s\x1c-\x1f\x85]+")
_INVISIBLE = regex.compile(r"[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cc}\p{Cs}\p{Co}]")
_TRICKS = regex.compile(
    r"[\u202a-\u202e\u2066-\u2069]"  # direction overrides and isolates
    r"|(?<![\U0001f3f4\U000e0020-\U000e007f])[\U000e0000-\U000e007f]"  # tags, but for flags of regions
    r"|[\p{Cc}--[\t\n\v\f\r\x85]]|(?<=\p{L})[\u200b\u2060-\u2064\ufeff](?=\p{L})"
    r"|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{3,}",
    regex.VERSION1,
)
_MARK_FLOOD = regex.compile(r"(\p{M}{8})\p{M}+")
"""More marks than any letter has; Python orders them in quadratic time."""
_ALIKE = str.maketrans(dict.fromkeys("’‘ʼ`´′", "'") | dict.fromkeys("‐‑‒–—−", "-") | {"ı": "i"})


def plain(text: str) -> str:
    """Return a text on one line, in normal form NFKC, without characters that are not seen."""
    bare = _MARK_FLOOD.sub(r"\1", _INVISIBLE.sub("", _BLANKS.sub(" ", text)))
    return _BLANKS.sub(" ", _INVISIBLE.sub("", unicodedata.normalize("NFKC", bare))).strip()


def folded(text: str) -> str:
    """Return a text as patterns see it: plain, letter case aside, apostrophes and hyphens of one kind.

    Letter case is put aside as Unicode does it (`ẞ` is `ss`); i with and without its dot are one letter,
    since capitals do not tell them apart.
    """
    return _dotless(plain(_dotless(plain(text))))


def _dotless(text: str) -> str:
    lowered = unicodedata.normalize("NFD", text).casefold().replace("i̇", "i")
    return unicodedata.normalize("NFKC", lowered).translate(_ALIKE)


def hides(text: str) -> bool:
    """Tell whether a text holds characters that serve to hide or to turn around what it says.

    Joiners of Persian, Indic scripts and emoji, and soft hyphens, are none of them.
    """
    return _TRICKS.search(text) is not None
