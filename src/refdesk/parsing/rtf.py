"""RTF as plain text."""

from collections.abc import Callable

from striprtf.striprtf import rtf_to_text

from refdesk.parsing import FileInfo, Parsed
from refdesk.parsing.normalise import clean, tidy


def parse(data: bytes, info: FileInfo) -> Parsed:
    """Read the text. RTF is ASCII; other characters are escaped in it."""
    to_text: Callable[..., str] = rtf_to_text
    cleaned = clean(to_text(data.decode("latin-1"), errors="replace"))
    return Parsed(text=tidy(cleaned.text), warnings=cleaned.warnings)
