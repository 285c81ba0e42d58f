"""Citations: exact quotes, pages and links."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refdesk.citations.build import cite, cite_statements, link_to
from refdesk.citations.sentences import Span
from refdesk.citations.templates import source_of
from refdesk.documents import Chunk, Document, Hit, Page, chunk_id

TEXT = "Cover.\n\nFirst page ends. The second page says that leave is 30 days. It ends."
PAGES = (Page(1, 0, 25), Page(2, 25, len(TEXT)))


def hit_of(document: Document, start: int, end: int, page: int | None = None) -> Hit:
    text = document.text[start:end]
    chunk = Chunk(
        chunk_id=chunk_id(document.document_id, 0, text),
        document_id=document.document_id,
        collection=document.collection,
        position=0,
        start=start,
        end=end,
        text=text,
        page=page,
    )
    return Hit(chunk=chunk, title=document.title, url=document.url, source_id=document.source_id)


def document(text: str = TEXT, url: str | None = "https://host.example/a.pdf") -> Document:
    return Document(collection="c", source_id="a.pdf", title="A", text=text, url=url, pages=PAGES)


def test_the_page_is_that_of_the_quote() -> None:
    source = document()
    hit = hit_of(source, 8, len(TEXT), page=1)
    pages = {source.document_id: source.pages}
    [found] = cite_statements(1, hit, ["Leave is 30 days"], pages)
    assert found.quote == "The second page says that leave is 30 days."
    assert (found.page, found.url) == (2, "https://host.example/a.pdf#page=2")
    assert source.text[found.start : found.end] == found.quote
    assert cite_statements(1, hit, ["Leave is 30 days"])[0].page == 1


@settings(max_examples=200, deadline=None)
@given(
    st.text(max_size=200),
    st.lists(st.text(max_size=40), min_size=1, max_size=3),
    st.integers(0, 50),
    st.integers(0, 200),
)
def test_the_quote_is_the_document(text: str, statements: list[str], start: int, length: int) -> None:
    source = document(text)
    hit = hit_of(source, min(start, len(text)), min(start + length, len(text)))
    for found in cite_statements(3, hit, statements):
        assert source.text[found.start : found.end] == found.quote
        assert hit.chunk.start <= found.start <= found.end <= hit.chunk.end


@pytest.mark.parametrize(
    ("url", "page", "link"),
    [
        ("https://host.example/a.PDF", 3, "https://host.example/a.PDF#page=3"),
        ("file:///tmp/a%20b.pdf", 3, None),
        ("ftp://host.example/a.pdf", 3, None),
        ("https://host.example/a.pdf#page=9", 3, "https://host.example/a.pdf#page=9"),
        ("https://host.example/a.pdf?v=1", 3, "https://host.example/a.pdf?v=1#page=3"),
        ("https://host.example/a.html", 3, "https://host.example/a.html"),
        ("https://host.example/a.pdf", None, "https://host.example/a.pdf"),
        ("javascript:alert(1)", None, None),
        ("data:text/html,x", None, None),
        ("https://[broken", None, None),
        ("relative/path.pdf", 1, None),
        (None, 1, None),
    ],
)
def test_links(url: str | None, page: int | None, link: str | None) -> None:
    assert link_to(source_of(hit_of(document(url=url), 0, 6)), page) == link


def test_statements_of_different_sentences_are_cited_apart() -> None:
    text = "Leave is 30 days. The kitchen closes at six. Trains are booked in second class."
    hit = hit_of(document(text), 0, len(text))
    found = cite_statements(1, hit, ["Book trains in second class", "thirty days of leave", "unrelated"])
    assert [one.quote for one in found] == ["Trains are booked in second class.", "Leave is 30 days."]
    [joined] = cite_statements(1, hit, ["The kitchen closes", "Leave is 30 days", "closes at six"])
    assert joined.quote == "Leave is 30 days. The kitchen closes at six."


def test_pages_and_offsets() -> None:
    assert cite(1, hit_of(document(), 8, 24), Span(0, 5)).quote == "First"
