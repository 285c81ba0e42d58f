"""Make citations: a marker, the exact characters it points to, the page and a link."""

import re
from urllib.parse import urlsplit

from refdesk.citations.sentences import Span
from refdesk.citations.support import supporting_span
from refdesk.context import Citation
from refdesk.documents import Hit, Pages, page_at

_SCHEMES = ("http", "https", "file")
_PDF = re.compile(r"(?i)\.pdf\Z")


def cite(marker: int, hit: Hit, span: Span, pages: Pages | None = None) -> Citation:
    """Cite `hit.chunk.text[span.start:span.end]` under a marker."""
    chunk = hit.chunk
    start, end = chunk.start + span.start, chunk.start + span.end
    page = page_at((pages or {}).get(chunk.document_id, ()), start) or chunk.page
    return Citation(
        marker=marker,
        chunk_id=chunk.chunk_id,
        document_id=chunk.document_id,
        collection=chunk.collection,
        title=hit.title,
        source_id=hit.source_id,
        url=link_to(hit, page),
        page=page,
        start=start,
        end=end,
        quote=span.of(chunk.text),
    )


def cite_statement(marker: int, hit: Hit, statement: str, pages: Pages | None = None) -> Citation:
    """Cite the part of a hit that supports a statement."""
    return cite(marker, hit, supporting_span(statement, hit.chunk.text), pages)


def link_to(hit: Hit, page: int | None) -> str | None:
    """Return the source's address where it is one that can be opened, at the page for a PDF."""
    if not hit.url:
        return None
    try:
        parts = urlsplit(hit.url)
    except ValueError:
        return None
    if parts.scheme.lower() not in _SCHEMES:
        return None
    at_page = page is not None and not parts.fragment and _PDF.search(parts.path)
    return f"{hit.url.removesuffix('#')}#page={page}" if at_page else hit.url
