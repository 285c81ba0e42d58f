from collections.abc import Awaitable, Callable, Mapping

import pytest

from refdesk.retrieval import search, widen
from refdesk.stores import Reader
from refdesk.testing import HashingEmbedder

pytestmark = pytest.mark.anyio

OpenReader = Callable[[Mapping[str, str]], Awaitable[Reader]]
BOOK = {"book.md": "Line one.\nLine two.\nLine three.\nLine four.\nLine five."}


async def test_hits_are_widened_by_their_neighbours(
    open_reader: OpenReader, embedder: HashingEmbedder
) -> None:
    reader = await open_reader(BOOK)
    hits = (await search(reader, embedder, "three", mode="keyword")).hits
    widened = await widen(reader, hits, before=1, after=1)
    assert [hit.chunk.text for hit in widened] == ["Line two.", "Line three.", "Line four."]
    assert [hit.found_by for hit in widened] == [(), ("keyword",), ()]
    assert [hit.rank for hit in widened] == [0, 1, 0]


async def test_a_neighbour_that_is_a_hit_comes_once(
    open_reader: OpenReader, embedder: HashingEmbedder
) -> None:
    reader = await open_reader(BOOK)
    hits = (await search(reader, embedder, "two three", mode="keyword")).hits
    widened = await widen(reader, hits)
    assert len({hit.chunk.chunk_id for hit in widened}) == len(widened) == 4
    assert sum(hit.keyword_score is not None for hit in widened) == 2
