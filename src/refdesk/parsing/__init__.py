"""Bytes to text with structure and page numbers.

`parse` picks a parser by media type and runs it in a worker process with a time and memory limit.
A parser is a function `(data, info) -> Parsed`; one file per format holds it, `FORMATS` lists them.
"""

from dataclasses import dataclass, field

from refdesk.documents import Heading, Metadata, Page


@dataclass(frozen=True, slots=True, kw_only=True)
class FileInfo:
    """What is known of some bytes before they are parsed."""

    name: str
    """File name or last part of the URL; its suffix tells the format where `media_type` does not."""
    media_type: str = ""
    password: str = ""


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
