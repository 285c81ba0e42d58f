"""What Office documents have in common: their own properties, and Markdown as markitdown writes it."""

import io
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from zipfile import ZipFile

from defusedxml import ElementTree
from markitdown import DocumentConverter, StreamInfo

from refdesk.documents import Scalar
from refdesk.parsing import Parsed
from refdesk.parsing.archives import open_archive
from refdesk.parsing.normalise import clean, tidy
from refdesk.parsing.tables import unroll_long_tables

_PROPERTIES = "docProps/core.xml"
_DC = "{http://purl.org/dc/elements/1.1/}"
_FIELDS = ((f"{_DC}title", "title"), (f"{_DC}creator", "author"), (f"{_DC}subject", "subject"))
_CREATED = "{http://purl.org/dc/terms/}created"
_OPTIONS = {"escape_asterisks": False, "escape_underscores": False, "table_infer_header": True}
# Bounded, so that a line of brackets does not take quadratic time.
_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\([^)\n]{0,2000}\)")
_NAMELESS_IMAGE = re.compile(r"!\[(?:Picture|Image|Grafik|Bild|Graphic) ?\d*\]\([^)\n]{0,2000}\)")


def convert(converter: Callable[[], DocumentConverter], data: bytes, suffix: str) -> str:
    """Return Markdown of a document: only the words of links and images, long tables row by row."""
    result = converter().convert(io.BytesIO(data), StreamInfo(extension=suffix), **_OPTIONS)
    words = _LINK.sub(r"\1", _NAMELESS_IMAGE.sub("", result.markdown))
    return unroll_long_tables(tidy(words))


def with_properties(parsed: Parsed, data: bytes) -> Parsed:
    """Add title, author, subject and date of the document's own properties."""
    with open_archive(data) as archive:
        metadata = _properties(archive)
    title = str(metadata.pop("title", "")) or parsed.title
    return replace(parsed, title=title, metadata=metadata)


def _properties(archive: ZipFile) -> dict[str, Scalar]:
    if _PROPERTIES not in archive.namelist():
        return {}
    root = ElementTree.fromstring(archive.read(_PROPERTIES))
    found: dict[str, Scalar] = {
        key: text for tag, key in _FIELDS if (text := clean(root.findtext(tag) or "").text.strip())
    }
    if created := _moment(root.findtext(_CREATED) or ""):
        found["created"] = created
    return found


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
