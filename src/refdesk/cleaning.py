"""Text and values as they are kept: valid, without control characters, and within what a store takes."""

import math
import re
import unicodedata
from dataclasses import dataclass

from refdesk.documents import Metadata, Scalar

_NEWLINES = re.compile("\r\n|[\r\u2028\u2029\x0b\x0c]")
# Terminal escapes among them: text of documents is printed.
_CONTROLS = re.compile(r"[\x01-\x08\x0e-\x1f\x7f]")
# No text has C1 controls; where they stand, Windows text was read as Latin-1.
_C1 = {code: bytes([code]).decode("cp1252", "ignore") for code in range(0x80, 0xA0)}
_HAS_C1 = re.compile(r"[\x80-\x9f]")
# Hard spaces and soft hyphens set lines and mean nothing; search and quotes would stumble over them.
_TYPESETTING_MARKS = re.compile("[\xa0\u202f\u2007\xad\ufeff]")
_SURROGATES = re.compile("[\ud800-\udfff]")
# Controls, direction marks, zero widths, fillers, variation selectors, tags. Some spell whole texts.
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
    "|(?<![\u0590-\u1fff\u2190-\U0001ffff])[\u200c\u200d]|[\u200c\u200d](?![\u0590-\u1fff\u2190-\U0001ffff])"
)


@dataclass(frozen=True, slots=True)
class Cleaned:
    """Text as it is kept, and what was taken out of it."""

    text: str
    warnings: tuple[str, ...] = ()


def clean(text: str) -> Cleaned:
    """Remove what cannot be kept: NUL, controls, lone surrogates, byte order mark; newlines become `\\n`."""
    text = _NEWLINES.sub("\n", text)
    if _HAS_C1.search(text):
        text = text.translate(_C1)
    text = _TYPESETTING_MARKS.sub(lambda mark: "" if mark[0] in "\xad\ufeff" else " ", text)
    warnings = []
    if nul := text.count("\0"):
        text = text.replace("\0", "")
        warnings.append(f"{nul} NUL characters removed")
    for pattern, what in ((_CONTROLS, "control characters"), (_SURROGATES, "lone surrogates")):
        text, count = pattern.subn("", text)
        if count:
            warnings.append(f"{count} {what} removed")
    return Cleaned(unicodedata.normalize("NFC", text), tuple(warnings))


def clean_metadata(metadata: Metadata) -> dict[str, Scalar | tuple[Scalar, ...]]:
    """Clean names and values."""
    return {
        clean(name).text: tuple(map(clean_scalar, value)) if isinstance(value, tuple) else clean_scalar(value)
        for name, value in metadata.items()
    }


def clean_scalar(value: Scalar) -> Scalar:
    """Return a value that every store can keep: cleaned text; numbers that do not fit become text."""
    if isinstance(value, str):
        return clean(value).text
    return str(value) if isinstance(value, int | float) and not fits(value) else value


def fits(number: float) -> bool:
    """Tell a number that 64 bits hold, and that is finite."""
    return math.isfinite(number) if isinstance(number, float) else -(2**63) <= number < 2**63


def visible(text: str) -> str:
    """Return a text without characters that nobody sees: they hide words, and turn around how others look.

    Joiners stay between letters of scripts that are written with them, and between emoji.
    """
    return _UNSEEN.sub("", text)
