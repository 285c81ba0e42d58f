"""Bytes to text as it is kept: decoded and cleaned. Every offset is counted after this."""

import codecs
import re

from charset_normalizer import from_bytes

from refdesk.cleaning import Cleaned as Cleaned
from refdesk.cleaning import clean as clean
from refdesk.errors import ParseError

SAMPLE = 64 * 1024
"""Bytes that are looked at to guess an encoding."""

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_BLANK_LINES = re.compile(r"\n[ \t]*\n(?:[ \t]*\n)+")


def read_text(data: bytes, *, declared: str = "") -> Cleaned:
    """Decode and clean. `declared` is the encoding that the document itself names.

    Errors: `ParseError` with reason `binary` where the bytes are no text in any encoding.
    """
    decoded = decode(data, declared=declared)
    cleaned = clean(decoded.text)
    return Cleaned(cleaned.text, decoded.warnings + cleaned.warnings)


def tidy(text: str) -> str:
    """Shorten runs of blank lines to one and trim the ends; for text that a converter made."""
    return _BLANK_LINES.sub("\n\n", text).strip()


def decode(data: bytes, *, declared: str = "") -> Cleaned:
    """Decode: byte order mark, else UTF-8, else the declared encoding, else the most likely one."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _decode_lossy(data, encoding)
    wide = _wide(data[:SAMPLE])
    if wide:
        return _decode_lossy(data, wide, note=f"no byte order mark; read as {wide}")
    if looks_binary(data[:SAMPLE]):
        raise _binary()
    try:
        return Cleaned(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        around = data[max(0, error.start - SAMPLE // 2) :][:SAMPLE]
        return _decode_other(data, around, declared)


def looks_binary(sample: bytes) -> bool:
    """Tell bytes that are no text: more than one in ten is a control code."""
    controls = sum(sample.count(code) for code in (*range(9), *range(14, 27), *range(28, 32)))
    return controls * 10 > len(sample)


def _wide(sample: bytes) -> str:
    """Tell UTF-16 without a mark by its zeros, the high bytes of Latin letters."""
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    most, least = max(even, odd), min(even, odd)
    if most * 8 < len(sample) or least * 10 > most or not most:
        return ""
    encoding = "utf-16-le" if odd > even else "utf-16-be"
    return "" if looks_binary(sample.decode(encoding, "replace").encode()) else encoding


def _decode_other(data: bytes, around: bytes, declared: str) -> Cleaned:
    """Decode what is not valid UTF-8; `around` has the first invalid byte."""
    if declared and _is_text_codec(declared):
        return _decode_lossy(data, declared, note=f"read as {declared}, which the document names")
    if _mostly_utf8(around):
        return _decode_lossy(data, "utf-8")
    best = from_bytes(around).best()
    if best is None:
        raise _binary()
    return _decode_lossy(data, best.encoding, note=f"not UTF-8; read as {best.encoding}, which is a guess")


def _mostly_utf8(sample: bytes) -> bool:
    """Tell UTF-8 with a few damaged bytes: wrong characters are rare among those beyond ASCII."""
    text = sample.decode("utf-8", "replace")
    wrong = text.count("\ufffd")
    beyond_ascii = sum(1 for character in text if character > "\x7f")
    return beyond_ascii - wrong > 10 * wrong


def _decode_lossy(data: bytes, encoding: str, *, note: str = "") -> Cleaned:
    text = data.decode(encoding, "replace")
    warnings = [note] if note else []
    if wrong := text.count("\ufffd"):
        warnings.append(f"{wrong} characters could not be read as {encoding}")
    return Cleaned(text, tuple(warnings))


def _is_text_codec(name: str) -> bool:
    try:
        b"a".decode(name, "replace")
    except (LookupError, ValueError):
        return False
    return True


def _binary() -> ParseError:
    return ParseError("The bytes are no text in any known encoding.", reason="binary")
