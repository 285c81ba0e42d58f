"""PDF: pages, outline, passwords, pages without text."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from refdesk.documents import Heading
from refdesk.errors import ParseError
from refdesk.parsing import FileInfo
from refdesk.parsing.pool import ParserPool

pytestmark = pytest.mark.anyio

MakePdf = Callable[..., bytes]
PDF = FileInfo(name="a.pdf")


async def test_pages_are_spans_of_the_text(make_pdf: MakePdf, pool: ParserPool) -> None:
    parsed = await pool.parse(make_pdf(["First page\nsecond line", "", "Third"]), PDF)
    texts = [parsed.text[page.start : page.end] for page in parsed.pages]
    assert texts == ["First page\nsecond line", "", "Third"]
    assert [page.number for page in parsed.pages] == [1, 2, 3]
    assert parsed.media_type == "application/pdf"
    assert parsed.warnings == ("pages without text, blank or scanned: 2",)


async def test_the_outline_gives_headings_where_they_stand(make_pdf: MakePdf, pool: ParserPool) -> None:
    pages = ["Contents\nLeave 2", "1.2 Leave\nYou get 30 days.", "Pay"]
    outline = [("Leave", 1), ("Pay", 2), ("Not in the text", 2), ("You", 1)]
    parsed = await pool.parse(make_pdf(pages, outline=outline), PDF)
    assert parsed.headings == (
        Heading(1, "Leave", parsed.text.index("1.2 Leave") + 4),
        Heading(1, "You", parsed.text.index("You")),
        Heading(1, "Pay", parsed.text.index("Pay")),
    )


@pytest.mark.parametrize(
    ("title", "expected"),
    [("Staff handbook", "Staff handbook"), ("Microsoft Word - draft.doc", ""), ("untitled", ""), ("", "")],
)
async def test_titles_that_programs_fill_in_do_not_count(
    title: str, expected: str, make_pdf: MakePdf, pool: ParserPool
) -> None:
    parsed = await pool.parse(make_pdf(["x"], info={"Title": title}), PDF)
    assert parsed.title == expected


async def test_metadata(make_pdf: MakePdf, pool: ParserPool) -> None:
    info = {"Author": "Ada", "CreationDate": "D:20240305101500+01'00'"}
    parsed = await pool.parse(make_pdf(["x"], info=info), PDF)
    assert parsed.metadata == {"author": "Ada", "created": datetime(2024, 3, 5, 10, 15, tzinfo=UTC)}


async def test_an_impossible_date_is_left_out(make_pdf: MakePdf, pool: ParserPool) -> None:
    parsed = await pool.parse(make_pdf(["x"], info={"CreationDate": "D:20249999"}), PDF)
    assert "created" not in parsed.metadata


@pytest.mark.parametrize("password", ["", "wrong"])
async def test_without_its_password_a_pdf_is_encrypted(
    password: str, make_pdf: MakePdf, pool: ParserPool
) -> None:
    with pytest.raises(ParseError) as caught:
        await pool.parse(make_pdf(["Secret"], password="open"), FileInfo(name="a.pdf", password=password))
    assert caught.value.reason == "encrypted"


async def test_with_its_password_a_pdf_is_read(make_pdf: MakePdf, pool: ParserPool) -> None:
    data = make_pdf(["Secret"], password="open")
    assert (await pool.parse(data, FileInfo(name="a.pdf", password="open"))).text == "Secret"


async def test_a_scanned_pdf_asks_for_text_recognition(make_pdf: MakePdf, pool: ParserPool) -> None:
    with pytest.raises(ParseError, match="2 pages") as caught:
        await pool.parse(make_pdf(["", ""]), PDF)
    assert caught.value.reason == "empty"
    assert "OCR" in caught.value.remedy


async def test_words_divided_at_line_ends_are_joined(make_pdf: MakePdf, pool: ParserPool) -> None:
    parsed = await pool.parse(make_pdf(["an exam-\nple of it"]), PDF)
    assert "example" in parsed.text


async def test_a_pdf_is_told_by_its_bytes(make_pdf: MakePdf, pool: ParserPool) -> None:
    parsed = await pool.parse(b"junk\n" + make_pdf(["inside"]), FileInfo(name="scan"))
    assert (parsed.text, parsed.media_type) == ("inside", "application/pdf")
