"""The words: ids, digests and pages."""

from refdesk.documents import Page, chunk_id, document_id, page_at


def test_pages_of_chunks() -> None:
    pages = (Page(1, 0, 10), Page(2, 12, 30), Page(3, 32, 50))
    assert [page_at(pages, offset) for offset in (0, 9, 11, 12, 31, 32, 49)] == [1, 1, 1, 2, 2, 3, 3]
    assert page_at((), 3) is None


def test_ids_come_from_their_parts_alone() -> None:
    assert document_id("c", "a") == document_id("c", "a") != document_id("c", "b")
    assert document_id("ab", "c") != document_id("a", "bc")
    assert chunk_id("d", 0, "x") == chunk_id("d", 0, "x") != chunk_id("d", 1, "x")
