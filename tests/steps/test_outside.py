"""What searchers of the user's own return, as hits."""

from datetime import datetime
from typing import Any

import pytest

from refdesk.documents import Hit
from refdesk.errors import StepError
from refdesk.filters import as_filter
from refdesk.steps import Search
from refdesk.steps.outside import hits_of, own_searcher
from refdesk.testing.rerankers import sample_hits
from refdesk.testing.steps import NoLibrary

STEP = Search(id="mine")


def made(**passage: Any) -> Hit:
    [hit] = hits_of([{"id": "p1", "text": "Some text.", **passage}], "wiki", STEP)
    return hit


def test_a_passage_needs_an_id_and_a_text() -> None:
    hit = made()
    assert (hit.rank, hit.title, hit.source_id, hit.url, hit.fused_score) == (1, "p1", "p1", None, None)
    chunk = hit.chunk
    assert (chunk.chunk_id, chunk.document_id, chunk.collection) == ("p1", "p1", "wiki")
    assert (chunk.start, chunk.end, chunk.page) == (0, len("Some text."), None)


def test_all_that_a_passage_may_tell() -> None:
    day = datetime(2026, 1, 2)
    hit = made(
        id=7,
        document_id=3,
        title="Pumps",
        url="https://example.com/3",
        source_id=9,
        score=2,
        metadata={"topic": 1, "tags": ["a", "b"], "day": day, "none": None, "open": True},
        page=2,
        start=40,
        vector=[0.1] * 3,
    )
    assert (hit.chunk.chunk_id, hit.chunk.document_id, hit.source_id) == ("7", "3", "9")
    assert (hit.title, hit.url, hit.fused_score) == ("Pumps", "https://example.com/3", 2.0)
    assert hit.metadata == {"topic": 1, "tags": ("a", "b"), "day": day, "open": True}
    assert (hit.chunk.page, hit.chunk.start, hit.chunk.end) == (2, 40, 50)


def test_null_is_as_absent() -> None:
    empty = dict.fromkeys(("title", "url", "document_id", "source_id", "score", "metadata", "page", "start"))
    assert made(**empty) == made()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("id", None),
        ("id", 1.5),
        ("text", None),
        ("text", 5),
        ("text", b"bytes"),
        ("title", 5),
        ("url", ["https://example.com"]),
        ("score", "best"),
        ("score", float("nan")),
        ("page", 0),
        ("start", -1),
        ("metadata", ["topic"]),
        ("metadata", {"topic": {"deep": 1}}),
    ],
)
def test_a_passage_with_a_wrong_value_is_an_error_that_says_which(key: str, value: Any) -> None:
    with pytest.raises(StepError, match="The searcher returned") as raised:
        made(**{key: value})
    assert raised.value.step == "mine"
    assert value is None or f"Its {key}" in str(raised.value)


@pytest.mark.parametrize("nonsense", [None, 5, "text", b"text", {"id": 1, "text": "x"}, [None], ["text"]])
def test_anything_else_is_an_error(nonsense: Any) -> None:
    with pytest.raises(StepError, match="allowed is a list of hits"):
        hits_of(nonsense, "wiki", STEP)


def test_hits_and_passages_mix_and_are_numbered_in_their_order() -> None:
    hits = sample_hits(["a", "b"])
    found = hits_of(iter([hits[1], {"id": "x", "text": "c"}, hits[0]]), "wiki", STEP)
    assert [(hit.chunk.text, hit.rank) for hit in found] == [("b", 1), ("c", 2), ("a", 3)]
    assert hits_of((), "wiki", STEP) == ()


@pytest.mark.anyio
async def test_what_is_found_has_to_pass_the_filter() -> None:
    async def search(query: str, collection: str) -> list[dict[str, Any]]:
        return [
            {"id": "1", "text": "a", "metadata": {"topic": 1}},
            {"id": "2", "text": "b", "metadata": {"topic": 2}, "title": "Two"},
            {"id": "3", "text": "c"},
        ]

    async def ids(filters: Any) -> list[tuple[str, int]]:
        found = await own_searcher(search, as_filter(filters), STEP, NoLibrary())("q", "wiki")
        return [(hit.chunk.chunk_id, hit.rank) for hit in found]

    assert await ids(None) == [("1", 1), ("2", 2), ("3", 3)]
    assert await ids({"topic": 2}) == [("2", 1)]
    assert await ids({"title": "Two"}) == [("2", 1)]
    assert await ids({"document_id": "3"}) == [("3", 1)]
    assert await ids({"language": "de"}) == []
