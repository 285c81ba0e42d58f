"""Chunks slice back to their document, never exceed the embedder, and lose no text."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refdesk.chunking import Chunker, embedded_text
from refdesk.documents import Document, Heading
from refdesk.errors import InputError

LIMIT = 40


def count_words(text: str) -> int:
    """Count as a tokenizer might: five characters a token, at least one a word."""
    return sum(1 + len(word) // 5 for word in text.split())


def document(
    text: str, *, media_type: str = "text/markdown", title: str = "A title", **fields: object
) -> Document:
    return Document(
        collection="c",
        source_id="s",
        title=title,
        text=text,
        media_type=media_type,
        **fields,  # type: ignore[arg-type]
    )


CHUNKER = Chunker(count_words, LIMIT)
TEXTS = st.text(alphabet=st.sampled_from("ab #\n.|`-*[]中文数ก à\t"), max_size=2000)


@given(text=TEXTS, media_type=st.sampled_from(["text/markdown", "text/plain", "application/pdf"]))
@settings(max_examples=200, deadline=None)
def test_chunks_slice_back_and_fit(text: str, media_type: str) -> None:
    whole = document(text, media_type=media_type)
    chunks = CHUNKER.chunks(whole)
    for chunk in chunks:
        assert whole.text[chunk.start : chunk.end] == chunk.text
        embedded = embedded_text(whole.title, chunk, count_words, LIMIT)
        assert embedded.endswith(chunk.text)
        assert count_words(embedded) <= LIMIT


@given(text=TEXTS)
@settings(max_examples=200, deadline=None)
def test_chunks_cover_the_text_in_order(text: str) -> None:
    chunks = CHUNKER.chunks(document(text))
    covered = "".join(chunk.text for chunk in chunks)
    assert "".join(covered.split()) == "".join(text.split())
    assert [chunk.position for chunk in chunks] == list(range(len(chunks)))
    assert all(one.end <= two.start for one, two in pairwise(chunks))


def test_repeated_text_has_exact_starts() -> None:
    text = "chunk " * 100
    chunks = CHUNKER.chunks(document(text, media_type="text/plain"))
    assert len({chunk.start for chunk in chunks}) == len(chunks) > 1
    assert len({chunk.chunk_id for chunk in chunks}) == len(chunks)


def test_chinese_without_spaces_is_split() -> None:
    text = "人工智能检索系统" * 250
    chunker = Chunker(len, LIMIT)
    chunks = chunker.chunks(document(text, media_type="text/plain", title=""))
    assert max(len(chunk.text) for chunk in chunks) <= LIMIT
    assert "".join(chunk.text for chunk in chunks) == text


def test_a_tokenizer_that_counts_joins_higher_is_halved() -> None:
    def greedy(text: str) -> int:
        return len(text) if len(text) <= 20 else 3 * len(text)

    chunks = Chunker(greedy, LIMIT).chunks(document("x" * 300, media_type="text/plain", title=""))
    assert max(greedy(chunk.text) for chunk in chunks) <= LIMIT
    assert "".join(chunk.text for chunk in chunks) == "x" * 300


def test_heading_path_and_context_line() -> None:
    text = "# Guide\n\nIntro words here.\n\n## Leave\n\n" + "Employees get thirty days of leave. " * 20
    headings = (Heading(1, "Guide", 0), Heading(2, "Leave", text.index("## Leave")))
    chunks = CHUNKER.chunks(document(text, title="Handbook", headings=headings))
    last = chunks[-1]
    assert last.heading_path == ("Guide", "Leave")
    assert embedded_text("Handbook", last, count_words, LIMIT).startswith("Handbook > Guide > Leave\n")
    assert chunks[0].heading_path == ("Guide",)
    assert embedded_text("Handbook", chunks[0], count_words, LIMIT).startswith("Handbook\n# Guide")


def test_a_title_longer_than_the_embedder_is_shortened_not_the_chunk() -> None:
    whole = document("word " * 200, title="long title " * 100)
    for chunk in CHUNKER.chunks(whole):
        embedded = embedded_text(whole.title, chunk, count_words, LIMIT)
        assert count_words(embedded) <= LIMIT
        assert embedded.endswith(chunk.text)


def test_document_with_one_heading_is_one_chunk() -> None:
    assert [chunk.text for chunk in CHUNKER.chunks(document("# FAQs"))] == ["# FAQs"]


def test_documents_without_text_have_no_chunks() -> None:
    assert CHUNKER.chunks(document("")) == ()
    assert CHUNKER.chunks(document(" \n\t\n")) == ()


@pytest.mark.parametrize("size", [1, 15, 41])
def test_impossible_sizes_are_refused(size: int) -> None:
    with pytest.raises(InputError, match="16 to 40 tokens"):
        Chunker(count_words, LIMIT, size)


def test_an_embedder_with_no_room_is_refused() -> None:
    with pytest.raises(InputError, match="at least 16"):
        Chunker(count_words, 8)
