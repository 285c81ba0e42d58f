"""PDF: the text of each page with its number; headings from the outline where they stand in the text."""

import itertools
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from refdesk.documents import Heading, Page, Scalar
from refdesk.errors import ParseError
from refdesk.parsing import FileInfo, Parsed
from refdesk.parsing.archives import encrypted
from refdesk.parsing.normalise import clean, tidy

MAX_HEADINGS = 5000

_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})
# pdfium writes U+FFFE or U+0002 for a hyphen that divides a word at the end of a line.
_DIVISION = re.compile("[\ufffe\x02][ \t]*(?:\r?\n)?")
_NO_TITLE = re.compile(r"untitled|^(microsoft (word|powerpoint|excel) - )?\S+\.\w{2,5}$", re.IGNORECASE)
_DATE = re.compile(r"D:(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?")


def parse(data: bytes, info: FileInfo) -> Parsed:
    """Read the pages one after the other. Errors: `ParseError`, reason `encrypted` or `damaged`."""
    document = _open(data, info)
    try:
        document.init_forms()
        return _read(document, info)
    finally:
        document.close()


def _open(data: bytes, info: FileInfo) -> pdfium.PdfDocument:
    # A password is offered to many files; those that need none refuse a wrong one and open without.
    for password in (info.password, None) if info.password else (None,):
        try:
            return pdfium.PdfDocument(data, password=password)
        except pdfium.PdfiumError as error:
            if error.err_code not in (pdfium_c.FPDF_ERR_PASSWORD, pdfium_c.FPDF_ERR_SECURITY):
                raise ParseError(f"{info.name!r} is not a readable PDF: {error}", reason="damaged") from error
    raise encrypted(f"{info.name!r}, a PDF")


def _read(document: pdfium.PdfDocument, info: FileInfo) -> Parsed:
    texts, unread = _texts(document)
    if not any(texts):
        message = f"{info.name!r} has no text on its {len(texts)} pages; they are blank or scanned."
        raise ParseError(message, reason="empty", remedy="Add a text layer with an OCR program.")
    starts = itertools.accumulate((len(text) + 2 for text in texts), initial=0)
    pages = tuple(
        Page(number, start, start + len(text))
        for number, (text, start) in enumerate(zip(texts, starts, strict=False), 1)
    )
    described = document.get_metadata_dict(skip_empty=True)
    return Parsed(
        text="\n\n".join(texts),
        title=_title(described.get("Title", "")),
        pages=pages,
        headings=tuple(_headings(document, texts, pages)),
        metadata=_metadata(described),
        warnings=(*_page_warnings(texts, unread), *_attachments(document)),
    )


def _texts(document: pdfium.PdfDocument) -> tuple[list[str], list[int]]:
    """Return the text of every page, and the numbers of those that could not be read."""
    texts, unread = [], []
    for index in range(len(document)):
        try:
            texts.append(_page_text(document, index))
        except pdfium.PdfiumError:
            texts.append("")
            unread.append(index + 1)
    return texts, unread


def _page_text(document: pdfium.PdfDocument, index: int) -> str:
    # Closed at once: hundreds of open pages are much memory.
    page = document[index]
    try:
        if pdfium_c.FPDFPage_GetAnnotCount(page):
            page = _with_annotations(document, page, index)
        text_page = page.get_textpage()
        try:
            raw = text_page.get_text_range()
        finally:
            text_page.close()
    finally:
        page.close()
    return tidy(clean(_DIVISION.sub("", raw).translate(_LIGATURES)).text)


def _with_annotations(document: pdfium.PdfDocument, page: pdfium.PdfPage, index: int) -> pdfium.PdfPage:
    """Return the page with what is filled into its forms and written on it as part of its text."""
    pdfium_c.FPDFPage_Flatten(page, pdfium_c.FLAT_NORMALDISPLAY)
    page.close()
    return document[index]


def _page_warnings(texts: Sequence[str], unread: Sequence[int]) -> Iterator[str]:
    if unread:
        yield f"pages that could not be read: {_ranges(unread)}"
    blank = [number for number, text in enumerate(texts, 1) if not text and number not in set(unread)]
    if blank:
        yield f"pages without text, blank or scanned: {_ranges(blank)}"


def _ranges(numbers: Sequence[int]) -> str:
    """Write page numbers shortly: `1-3, 7`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1] = [runs[-1][0], number]
        else:
            runs.append([number, number])
    return ", ".join(f"{first}" if first == last else f"{first}-{last}" for first, last in runs)


def _attachments(document: pdfium.PdfDocument) -> Iterator[str]:
    if count := document.count_attachments():
        yield f"{count} attached files were not read"


def _headings(document: pdfium.PdfDocument, texts: Sequence[str], pages: Sequence[Page]) -> list[Heading]:
    """Locate the entries of the outline; what does not stand on its page is no heading."""
    found: dict[int, Heading] = {}
    for level, title, index in itertools.islice(_outline(document), MAX_HEADINGS):
        if (at := _locate(title, texts[index])) is not None:
            start = pages[index].start + at
            found.setdefault(start, Heading(min(level + 1, 6), title, start))
    return [found[start] for start in sorted(found)]


def _outline(document: pdfium.PdfDocument) -> Iterator[tuple[int, str, int]]:
    """Yield level, title and page index of the outline's entries that lead to a page."""
    for entry in document.get_toc():
        title = " ".join(clean(entry.get_title()).text.split())
        destination = entry.get_dest()
        index = destination.get_index() if destination else None
        if title and index is not None and 0 <= index < len(document):
            yield entry.level, title, index


def _locate(title: str, text: str) -> int | None:
    """Return where a line holds the title, with or without a number before it; words may be wrapped."""
    words = r"\s+".join(map(re.escape, title.split()))
    match = re.search(rf"(?:^|\n)[ \t]*(?:[\divxA-Z]+(?:\.\d+)*[.)]?[ \t]+)?({words})", text)
    return match.start(1) if match else None


def _title(title: str) -> str:
    """Return the title, unless it is what a program filled in."""
    title = " ".join(clean(title).text.split())
    return "" if _NO_TITLE.search(title) else title


def _metadata(described: dict[str, str]) -> dict[str, Scalar]:
    named = (("author", "Author"), ("subject", "Subject"), ("keywords", "Keywords"))
    metadata: dict[str, Scalar] = {
        key: value for key, name in named if (value := clean(described.get(name, "")).text.strip())
    }
    if created := _date(described.get("CreationDate", "")):
        metadata["created"] = created
    return metadata


def _date(text: str) -> datetime | None:
    """Read a PDF date as UTC; its zone is often wrong and left aside."""
    match = _DATE.match(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups())
    try:
        return datetime(year, month or 1, day or 1, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
