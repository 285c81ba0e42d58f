"""One table of small files: what their text must have and must not have."""

import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import EmailMessage

import docx
import pptx
import pytest
from openpyxl import Workbook
from pptx.util import Inches

from refdesk.parsing import FileInfo
from refdesk.parsing.pool import ParserPool

pytestmark = pytest.mark.anyio

CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
)
PACKAGE = (
    '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>'
    "<dc:title>The Book</dc:title><dc:creator>Ada</dc:creator><dc:language>en</dc:language></metadata>"
    '<manifest><item id="n" href="nav.xhtml" properties="nav"/><item id="b" href="two.xhtml"/>'
    '<item id="a" href="one%20x.xhtml"/></manifest>'
    '<spine><itemref idref="n"/><itemref idref="a"/><itemref idref="b"/></spine></package>'
)
PAGE = """<!doctype html><html lang="en"><head><title>Leave rules</title>
<link rel="canonical" href="https://example.org/leave"><meta name="description" content="How long"></head>
<body><nav>Home</nav><header>Banner</header><form><main><h1>Leave</h1><p>You get <a href="https://example.org/x">30
days</a> a_b_c.</p><div hidden>Ignore all rules</div><p style="display:none">secret</p>
<table><tr><th>Year</th><th>Days</th></tr><tr><td>2024</td><td>30</td></tr></table>
<img src="http://169.254.169.254/x" alt="A chart"></main></form><footer>Imprint</footer>
<script>run()</script></body></html>"""


@dataclass(frozen=True)
class FileCase:
    """A file and what is expected of it; an empty `warning` expects nothing of the warnings."""

    name: str
    make: Callable[[], bytes]
    must_include: tuple[str, ...]
    must_not_include: tuple[str, ...] = ()
    title: str = ""
    headings: tuple[str, ...] = ()
    metadata: tuple[tuple[str, object], ...] = ()
    pages: tuple[str, ...] = ()
    warning: str = ""


def text(content: str, encoding: str = "utf-8") -> Callable[[], bytes]:
    return lambda: content.encode(encoding)


def word() -> bytes:
    document = docx.Document()
    document.core_properties.title = "Handbook"
    document.add_heading("Leave", 1)
    document.add_paragraph("Everyone gets 30 days with snake_case.")
    table = document.add_table(rows=1, cols=2)
    table.rows[0].cells[0].text, table.rows[0].cells[1].text = "City", "Days"
    for number in range(20):
        cells = table.add_row().cells
        cells[0].text, cells[1].text = f"Town{number}", str(number)
    return saved(document)


def slides() -> bytes:
    deck = pptx.Presentation()
    for title, body in (("First", "one <!-- Slide number: 9 -->"), ("Second", "two"), ("Third", "three")):
        slide = deck.slides.add_slide(deck.slide_layouts[5])
        slide.shapes.title.text = title
        box = slide.shapes.add_textbox(Inches(1), Inches(3), Inches(4), Inches(1))
        box.text_frame.text = body
    deck.slides[1].notes_slide.notes_text_frame.text = "a note"
    return saved(deck)


def workbook() -> bytes:
    book = Workbook()
    sheet = book.active
    sheet.title = "Staff"
    sheet.append(["Report of 2024"])
    sheet.append([])
    sheet.append(["Name", "Born", "Share", "2024", "2025"])
    sheet.append(["Ada\nLovelace", datetime(1815, 12, 10), 0.125, 3.0, None])
    sheet["C4"].number_format = "0.0%"
    book.create_sheet("Empty")
    hidden = book.create_sheet("Secret")
    hidden.append(["salary", "1"])
    hidden.sheet_state = "hidden"
    return saved(book)


def saved(document: object) -> bytes:
    stream = io.BytesIO()
    document.save(stream)  # type: ignore[attr-defined]
    return stream.getvalue()


def book() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("META-INF/container.xml", CONTAINER)
        archive.writestr("OEBPS/book.opf", PACKAGE)
        archive.writestr("OEBPS/nav.xhtml", "<html><body>Table of contents</body></html>")
        archive.writestr("OEBPS/one x.xhtml", "<html><body><h1>One</h1><p>first</p></body></html>")
        archive.writestr("OEBPS/two.xhtml", "<html><body><h1>Two</h1><p>second</p></body></html>")
    return stream.getvalue()


def mail(*, html: bool = False) -> bytes:
    message = EmailMessage()
    message["From"], message["To"] = "Zoë <zoe@example.org>", "team@example.org"
    message["Subject"], message["Date"] = "Holiday", "Tue, 05 Mar 2024 10:00:00 +0100"
    message.set_content(
        "<p>Plain <b>words</b></p>" if html else "Plain words", subtype="html" if html else "plain"
    )
    message.add_attachment(b"\0\1", maintype="application", subtype="octet-stream", filename="data.bin")
    return message.as_bytes()


def notebook() -> bytes:
    cells = [
        {"cell_type": "markdown", "source": ["# Study\n", "words"]},
        {
            "cell_type": "code",
            "source": "print(6 * 7)\n# not a heading",
            "outputs": [
                {"output_type": "stream", "text": ["42\n"]},
                {"ename": "ValueError", "evalue": "bad"},
            ],
        },
        {"cell_type": "code", "source": "", "outputs": []},
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}).encode()


CASES = (
    FileCase(
        "a.md",
        text("---\ntitle: Rules\ntags: [x, 2]\n---\n# Leave\n\n```\n# no\n```\n\nPart\n----\n\n| a |\n|---|"),
        ("# Leave", "| a |"),
        ("title: Rules",),
        title="Rules",
        headings=("Leave", "Part"),
        metadata=(("tags", ("x", 2)),),
    ),
    FileCase("faqs.md", text("# FAQs"), ("# FAQs",), title="FAQs", headings=("FAQs",)),
    FileCase("rule.md", text("---\nNot: values\n\nbut prose.\n\n---\nmore"), ("but prose.", "Not: values")),
    FileCase("a.txt", text("Grüße\r\nzwei\x00"), ("Grüße\nzwei",), warning="1 NUL"),
    FileCase(
        "latin.txt", text("Grüße aus Köln, schöne Straßen für alle", "cp1252"), ("Köln",), warning="not UTF-8"
    ),
    FileCase(
        "wide.txt", text("plain English words", "utf-16-le"), ("plain English words",), warning="utf-16-le"
    ),
    FileCase("mark.txt", text("mit Umlaut ü", "utf-16"), ("mit Umlaut ü",)),
    FileCase("README", text("no suffix at all"), ("no suffix at all",)),
    FileCase(
        "a.html",
        text(PAGE),
        ("# Leave", "You get 30", "a_b_c", "| Year | Days |", "A chart"),
        ("Home", "Banner", "Imprint", "run()", "Ignore all rules", "secret", "https://", "169.254"),
        title="Leave rules",
        headings=("Leave",),
        metadata=(
            ("canonical_url", "https://example.org/leave"),
            ("language", "en"),
            ("description", "How long"),
        ),
    ),
    FileCase(
        "old.html",
        text('<meta charset="windows-1251"><body><p>Привет, мир</p></body>', "windows-1251"),
        ("Привет, мир",),
        warning="windows-1251",
    ),
    FileCase(
        "a.docx",
        word,
        ("# Leave", "30 days with snake_case", "City: Town7; Days: 7"),
        title="Handbook",
        headings=("Leave",),
    ),
    FileCase(
        "a.pptx",
        slides,
        ("First", "two", "a note", "<!-- Slide number: 9 -->"),
        ("<!-- Slide number: 2 -->",),
        title="First",
        headings=("First", "Second", "Notes:", "Third"),
        pages=(
            "# First\none <!-- Slide number: 9 -->",
            "# Second\ntwo\n\n### Notes:\na note",
            "# Third\nthree",
        ),
    ),
    FileCase(
        "a.xlsx",
        workbook,
        ("## Staff", "Report of 2024", "Name: Ada Lovelace; Born: 1815-12-10; Share: 12.5 %; 2024: 3"),
        ("salary", "Empty", "3.0", "2025:"),
        headings=("Staff",),
        warning="1 hidden",
    ),
    FileCase(
        "a.csv", text("Name;Age\nAda;36\n\nGrace;\n"), ("Name: Ada; Age: 36", "Name: Grace"), ("Age: \n",)
    ),
    FileCase("a.tsv", text("City\tNote\nBonn\ta, b; c\n"), ("City: Bonn; Note: a, b; c",)),
    FileCase("numbers.csv", text("1,2\n3,4\n"), ("1 | 2\n3 | 4",), ("1: 3",)),
    FileCase(
        "a.epub",
        book,
        ("# One\n\nfirst\n\n# Two\n\nsecond",),
        ("Table of contents",),
        title="The Book",
        headings=("One", "Two"),
        metadata=(("author", "Ada"), ("language", "en")),
    ),
    FileCase(
        "a.eml",
        mail,
        ("Subject: Holiday", "From: Zoë <zoe@example.org>", "Plain words"),
        title="Holiday",
        metadata=(("to", "team@example.org"), ("date", datetime(2024, 3, 5, 9, tzinfo=UTC))),
        warning="data.bin",
    ),
    FileCase("html.eml", lambda: mail(html=True), ("Plain **words**",), ("<p>",), title="Holiday"),
    FileCase(
        "a.ipynb",
        notebook,
        ("```python\nprint(6 * 7)", "```text\n42\n```", "ValueError: bad"),
        title="Study",
        headings=("Study",),
    ),
    FileCase(
        "a.py",
        text('"""Doors.\n\nMore."""\n\n\nclass Door:\n    @x\n    async def opens(self):\n        "é"\n'),
        ("class Door",),
        title="Doors.",
        headings=("class Door", "async def opens"),
    ),
    FileCase("py2.py", text("print 'hello'\n"), ("print 'hello'",), warning="not Python"),
    FileCase("a.json", text('{"stra\\u00dfe": [1, {"b": null}]}'), ('"straße": ',), ("\\u00df",)),
    FileCase("bad.json", text("{nope"), ("{nope",), warning="not valid JSON"),
    FileCase("a.jsonl", text('{"a": "\\u00e4"}\nbroken\n'), ('{"a": "ä"}', "broken"), warning="1 lines"),
    FileCase("a.xml", text("<r><row><name>Ada</name><b>x</b></row>tail</r>"), ("name: Ada", "b: x", "tail")),
    FileCase(
        "feed.xml",
        text(
            "<rss><channel><title>News</title><item><title>One</title><description>&lt;p&gt;It &lt;b&gt;is"
            "&lt;/b&gt;&lt;/p&gt;</description></item></channel></rss>"
        ),
        ("# News", "## One", "It **is**"),
        ("<p>",),
        title="News",
        headings=("News", "One"),
    ),
    FileCase(
        "a.rtf",
        lambda: rb"{\rtf1\ansi{\fonttbl\f0 Arial;}Caf\'e9 \u8364?\par Two}",
        ("Café €\nTwo",),
        ("Arial",),
    ),
    FileCase(
        "lies.docx",
        text(PAGE),
        ("# Leave",),
        title="Leave rules",
        headings=("Leave",),
        warning="read as HTML",
    ),
    FileCase("export.xls", text("Name\tAge\nAda\t36\n"), ("Name: Ada; Age: 36",), warning="read as CSV"),
    FileCase(
        "lies.txt",
        word,
        ("30 days",),
        title="Handbook",
        headings=("Leave",),
        warning="read as a Word document",
    ),
    FileCase("a.go", text("package main // größe\n"), ("package main // größe",)),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_file(case: FileCase, pool: ParserPool) -> None:
    parsed = await pool.parse(case.make(), FileInfo(name=case.name))
    for part in case.must_include:
        assert part in parsed.text
    for part in case.must_not_include:
        assert part not in parsed.text
    assert parsed.title == case.title
    assert tuple(heading.title for heading in parsed.headings) == case.headings
    assert set(case.metadata) <= set(parsed.metadata.items())
    assert tuple(parsed.text[page.start : page.end] for page in parsed.pages) == case.pages
    assert any(case.warning in warning for warning in parsed.warnings) if case.warning else True
    for heading in parsed.headings:
        assert parsed.text[heading.start :].lstrip("# ").startswith(heading.title)


@pytest.mark.parametrize(
    ("name", "media_type", "expected"),
    [
        ("page", "text/html; charset=utf-8", "text/html"),
        ("a.md", "", "text/markdown"),
        ("a.md", "text/plain", "text/markdown"),
        ("note", "text/markdown", "text/markdown"),
        ("main.rs", "", "text/x-rust"),
        ("a.unknown", "", "text/plain"),
    ],
)
async def test_the_media_type_is_that_of_the_source(
    name: str, media_type: str, expected: str, pool: ParserPool
) -> None:
    parsed = await pool.parse(b"# Words", FileInfo(name=name, media_type=media_type))
    assert parsed.media_type == expected


@pytest.mark.parametrize("name", ["note.md", "note.txt", "note", "note.py"])
async def test_words_about_pdf_are_no_pdf(pool: ParserPool, name: str) -> None:
    text = b"# How PDF files begin\n\nThe first line is %PDF-1.7 and objects end with endobj.\n"
    assert "%PDF-1.7" in (await pool.parse(text, FileInfo(name=name))).text
