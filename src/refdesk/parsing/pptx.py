"""PowerPoint, through markitdown; slides are pages."""

import re
from dataclasses import replace

from markitdown.converters import PptxConverter

from refdesk.documents import Page
from refdesk.parsing import FileInfo, Parsed
from refdesk.parsing.archives import check_archive
from refdesk.parsing.markdown import from_markdown
from refdesk.parsing.normalise import clean, tidy
from refdesk.parsing.office import convert, with_properties

_SLIDE = re.compile(r"^<!-- Slide number: (\d+) -->$", re.MULTILINE)


def parse(data: bytes, info: FileInfo) -> Parsed:
    """Read the slides with titles, tables, charts and notes."""
    check_archive(data)
    # The pieces are cleaned before they are joined, so that the offsets of pages stay right.
    slides = [tidy(clean(slide).text) for slide in _slides(convert(PptxConverter, data, ".pptx"))]
    parsed = from_markdown("\n\n".join(slides))
    return replace(with_properties(parsed, data), pages=_pages(slides))


def _slides(markdown: str) -> list[str]:
    """Split at the marks before slides; a mark out of turn is text of a slide."""
    slides: list[str] = []
    start = 0
    for mark in _SLIDE.finditer(markdown):
        if int(mark[1]) != len(slides) + 1:
            continue
        slides.append("")
        if len(slides) > 1:
            slides[-2] = markdown[start : mark.start()]
        start = mark.end()
    return [*slides[:-1], markdown[start:]]


def _pages(slides: list[str]) -> tuple[Page, ...]:
    pages, start = [], 0
    for number, slide in enumerate(slides, 1):
        pages.append(Page(number, start, start + len(slide)))
        start += len(slide) + 2
    return tuple(pages)
