"""Where one of the two searches of a question fails."""

from collections.abc import Sequence
from typing import Any, cast

import anyio
import numpy as np
import pytest
from tests.retrieval.conftest import OpenReader

from refdesk.embedding import Embedder, Vectors
from refdesk.errors import InputError, LimitReached, NotFound, RemoteError, SettingsError, StoreError
from refdesk.retrieval import search
from refdesk.retrieval.arms import within
from refdesk.stores import Reader
from refdesk.testing import HashingEmbedder

pytestmark = pytest.mark.anyio

TEXTS = {"leave": "Leave is 30 days.", "trains": "Trains are booked early."}
DOWN = RemoteError("The server is down.", retryable=True)


class Failing(HashingEmbedder):
    """Raises what it is given, or waits."""

    def __init__(self, error: BaseException | None = None) -> None:
        super().__init__()
        self.error = error

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        if self.error is None:
            await anyio.sleep_forever()
        raise cast(Exception, self.error)


class Wordless:
    """A reader without keyword search."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reader, name)

    async def keyword_search(self, *_: Any, **__: Any) -> Any:
        raise StoreError("No index of words.")


async def found(
    reader: Any, embedder: Embedder | Exception, question: str = "days of leave", **options: Any
) -> Any:
    return await search(reader, embedder, question, lenient=True, **options)


@pytest.mark.parametrize("fusion", ["rrf", "zscore"])
@pytest.mark.parametrize("given", [Failing(DOWN), DOWN, Failing(ZeroDivisionError())])
async def test_the_other_arm_is_enough(given: Any, fusion: Any, open_reader: OpenReader) -> None:
    reader = await open_reader(TEXTS)
    results = await found(reader, given, fusion=fusion)
    alone = await search(reader, HashingEmbedder(), "days of leave", mode="keyword")
    assert [hit.chunk for hit in results.hits] == [hit.chunk for hit in alone.hits]
    assert all(hit.vector_score is None for hit in results.hits)
    vector, keyword = results.explanation.arms
    assert vector.error in ("The server is down.", "ZeroDivisionError")
    assert (vector.name, vector.found, keyword.error) == ("vector", 0, "")
    assert results.explanation.fusion is None
    assert results.mode == "hybrid"


@pytest.mark.parametrize("fusion", ["rrf", "zscore"])
async def test_vectors_are_enough(fusion: Any, open_reader: OpenReader) -> None:
    reader = await open_reader(TEXTS)
    results = await found(Wordless(reader), HashingEmbedder(), fusion=fusion)
    alone = await search(reader, HashingEmbedder(), "days of leave", mode="vector")
    assert [hit.chunk for hit in results.hits] == [hit.chunk for hit in alone.hits]
    assert [arm.error for arm in results.explanation.arms] == ["", "No index of words."]


async def test_without_both_nothing_was_searched(open_reader: OpenReader) -> None:
    reader = Wordless(await open_reader(TEXTS))
    with pytest.raises(StoreError, match=r"vector: The server is down; keyword: No index of words\.$"):
        await found(reader, DOWN)


async def test_an_arm_that_takes_too_long_has_failed(open_reader: OpenReader) -> None:
    reader = await open_reader(TEXTS)
    results = await found(reader, Failing(), arm_seconds=0.05)
    assert results.explanation.arms[0].error == "The vector arm of the search took longer than 0.05 seconds."
    assert results.hits
    with pytest.raises(LimitReached, match=r"0\.05 seconds"):
        await search(reader, Failing(), "days of leave", arm_seconds=0.05)


async def test_a_limit_from_outside_is_no_failure_of_an_arm(open_reader: OpenReader) -> None:
    reader = await open_reader(TEXTS)
    with anyio.move_on_after(0.05) as scope:
        await found(reader, Failing(), arm_seconds=60)
    assert scope.cancelled_caught


@pytest.mark.parametrize("mode", ["vector", "keyword"])
async def test_where_there_is_one_arm_it_may_not_fail(mode: Any, open_reader: OpenReader) -> None:
    reader = Wordless(await open_reader(TEXTS))
    with pytest.raises((RemoteError, StoreError)):
        await found(reader, DOWN, mode=mode)


@pytest.mark.parametrize("error", [InputError("odd"), SettingsError("odd"), NotFound("odd")])
async def test_what_would_fail_again_is_not_passed_over(error: Exception, open_reader: OpenReader) -> None:
    reader = await open_reader(TEXTS)
    for given in (error, Failing(error)):
        with pytest.raises(type(error)):
            await found(reader, given)


async def test_an_arm_must_not_fail_unless_that_is_wanted(open_reader: OpenReader) -> None:
    reader = await open_reader(TEXTS)
    for given in (DOWN, Failing(DOWN)):
        with pytest.raises(RemoteError):
            await search(reader, given, "days of leave")


async def test_words_that_are_none_are_why_nothing_was_found(open_reader: OpenReader) -> None:
    reader = await open_reader(TEXTS)
    results = await found(reader, DOWN, "?!")
    assert results.explanation.reason == "no_tokens"
    assert (await found(reader, DOWN, "zebra")).explanation.reason == "no_match"


async def test_within_time() -> None:
    async with within(None, "It"):
        pass
    async with within(60, "It"):
        pass
    with pytest.raises(LimitReached, match=r"It took longer than 0\.01 seconds"):
        async with within(0.01, "It"):
            await anyio.sleep_forever()


async def test_nothing_of_it_touches_whole_searches(open_reader: OpenReader) -> None:
    reader, embedder = await open_reader(TEXTS), HashingEmbedder()
    whole = await search(reader, embedder, "days of leave")
    lenient = await found(reader, embedder, arm_seconds=60)
    assert [(hit.chunk, hit.fused_score) for hit in whole.hits] == [
        (hit.chunk, hit.fused_score) for hit in lenient.hits
    ]
    assert np.isfinite([hit.fused_score for hit in lenient.hits if hit.fused_score is not None]).all()
