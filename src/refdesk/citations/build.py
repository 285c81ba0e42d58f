"""Make citations: a marker, the exact characters it points to, the page and a link."""

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from refdesk.citations.sentences import Span
from refdesk.citations.support import supporting_spans
from refdesk.citations.templates import Source, filled, source_of, web_address
from refdesk.context import Citation
from refdesk.documents import Hit, Pages, page_at

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
        url=link_to(source_of(hit), page),
        page=page,
        start=start,
        end=end,
        quote=span.of(chunk.text),
    )


def cite_statements(
    marker: int, hit: Hit, statements: Sequence[str], pages: Pages | None = None
) -> tuple[Citation, ...]:
    """Cite the parts of a hit that support statements."""
    return tuple(cite(marker, hit, span, pages) for span in supporting_spans(statements, hit.chunk.text))


def link_to(source: Source, page: int | None, template: str = "") -> str | None:
    """Return an http(s) address of a source, at the page for a PDF.

    It is the document's own, else the one that the template of its collection gives.
    """
    address = web_address(source.url) or (filled(template, source, page) if template else None)
    if address is None:
        return None
    parts = urlsplit(address)
    at_page = page is not None and not parts.fragment and _PDF.search(parts.path)
    return f"{address.removesuffix('#')}#page={page}" if at_page else address
