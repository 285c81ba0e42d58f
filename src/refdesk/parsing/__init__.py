"""Bytes to text with structure and page numbers.

`ParserPool.parse` (in `pool`) tells the format, and runs its parser in a worker process with a time and
memory limit. A parser is a function `(data, info) -> Parsed`; one file per format holds it, `FORMATS` (in
`formats`) lists them.
"""

from dataclasses import dataclass, field
from typing import Literal

from refdesk.documents import Heading, Metadata, Page

PARSER_VERSION = "2"
"""Changes when the same bytes would give other text."""

Reason = Literal[
    "encrypted", "damaged", "empty", "unsupported", "too_large", "timeout", "memory", "crashed", "binary"
]
"""Why bytes have no text; `ParseError.reason` is one of these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileInfo:
    """What is known of some bytes before they are parsed."""

    name: str
    """File name or last part of the URL; its suffix tells the format where `media_type` does not."""
    media_type: str = ""
    password: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """Text as it is kept: no NUL, newlines as `\\n`, valid Unicode; offsets count its characters."""

    text: str
    title: str = ""
    media_type: str = "text/plain"
    pages: tuple[Page, ...] = ()
    headings: tuple[Heading, ...] = ()
    metadata: Metadata = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseLimits:
    """What one document may cost."""

    seconds: float = 120.0
    memory: int = 1536 * 1024 * 1024
    """Bytes that a worker may take beyond what it needs when idle; enforced on Linux."""
    size: int = 256 * 1024 * 1024
    """Bytes of a document."""
    characters: int = 64 * 1024 * 1024
    """Characters of its text."""
