"""A text as rules see it: in one normal form, without what nobody sees."""

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


def plain(text: str) -> str:
    """Return a text on one line, in normal form NFKC, without characters that are not seen."""
    bare = _INVISIBLE.sub("", _BLANKS.sub(" ", text))
    return _BLANKS.sub(" ", _INVISIBLE.sub("", unicodedata.normalize("NFKC", bare))).strip()


def hides(text: str) -> bool:
    """Tell whether a text holds characters that serve to hide or to turn around what it says.

    Joiners of Persian, Indic scripts and emoji, and soft hyphens, are none of them.
    """
    return _TRICKS.search(text) is not None
