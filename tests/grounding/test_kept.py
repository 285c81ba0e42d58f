"""Vectors of evidence that are kept, with an embedder that counts what it is asked for."""

from collections.abc import Sequence

import anyio
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.embedding import TokenVectors, Vectors
from refdesk.grounding.kept import KeptVectors

pytestmark = pytest.mark.anyio


class Counting:
    """One token per character, whose vector is its number; gives way to others while it works."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def embed_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        self.asked += texts
        await anyio.lowlevel.checkpoint()
        return [vectors(text) for text in texts]

    async def embed_documents_with_tokens(self, texts: Sequence[str]) -> tuple[Vectors, list[TokenVectors]]:
        raise NotImplementedError


def vectors(text: str) -> TokenVectors:
    rows = np.array([[ord(sign)] for sign in text], np.float32).reshape(-1, 1)
    return TokenVectors(rows, tuple((place, place + 1) for place in range(len(text))))


def written(found: TokenVectors) -> str:
    return "".join(chr(int(row[0])) for row in found.vectors)


async def test_evidence_is_embedded_once_and_answers_each_time() -> None:
    kept, embedder = KeptVectors(10), Counting()
    for _ in range(2):
        own, evidence = await kept.read("xy", ["ab", "cd", "ab"], embedder)
        assert (written(own), [written(one) for one in evidence]) == ("xy", ["ab", "cd", "ab"])
    assert embedder.asked == ["xy", "ab", "cd", "xy"]


async def test_an_answer_may_be_its_own_evidence() -> None:
    own, [evidence] = await KeptVectors(10).read("ab", ["ab"], Counting())
    assert written(own) == written(evidence) == "ab"


async def test_what_was_not_used_for_longest_is_forgotten() -> None:
    kept, embedder = KeptVectors(4), Counting()
    await kept.read("", ["ab"], embedder)
    await kept.read("", ["cd"], embedder)
    await kept.read("", ["ab"], embedder)
    await kept.read("", ["ef"], embedder)
    embedder.asked.clear()
    await kept.read("", ["ab", "ef"], embedder)
    assert embedder.asked == [""]


async def test_evidence_that_is_longer_than_what_is_kept_is_still_read() -> None:
    kept, long = KeptVectors(4), "abcdefgh"
    _, evidence = await kept.read("x", [long, "ij"], Counting())
    assert [written(one) for one in evidence] == [long, "ij"]
    assert kept.tokens == 2


async def test_lone_surrogates_do_not_reach_the_tokenizer() -> None:
    embedder = Counting()
    own, _ = await KeptVectors().read("a\ud800b", ["\udfff"], embedder)
    assert embedder.asked == ["a\ufffdb", "\ufffd"]
    assert own.offsets[-1] == (2, 3)


TEXTS = st.lists(st.text("abc", max_size=4), max_size=4)


@given(st.lists(TEXTS, max_size=6), st.integers(0, 8))
async def test_calls_at_once_get_what_they_asked_for(calls: list[list[str]], most: int) -> None:
    kept, embedder = KeptVectors(most), Counting()

    async def one(texts: list[str]) -> None:
        own, evidence = await kept.read("xy", texts, embedder)
        assert written(own) == "xy"
        assert [written(found) for found in evidence] == texts

    async with anyio.create_task_group() as group:
        for texts in calls:
            group.start_soon(one, texts)
    assert kept.tokens <= most
