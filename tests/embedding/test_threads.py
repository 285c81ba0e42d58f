"""Counting the tokens of whole batches leaves the event loop free."""

from collections.abc import Sequence
from threading import current_thread, main_thread

import pytest

from refdesk.embedding import Vectors
from refdesk.embedding.e5 import E5Embedder
from refdesk.embedding.sentence_transformers import SentenceTransformersEmbedder
from refdesk.errors import InputError
from refdesk.testing import HashingEmbedder

pytestmark = pytest.mark.anyio

seen: list[str] = []


def note() -> int:
    """Note the thread and return more tokens than any text may have."""
    seen.append("loop" if current_thread() is main_thread() else "worker")
    return 9


class Counting:
    """An embedder without a model, which gets as far as the count."""

    max_tokens = 3

    def __init__(self) -> None:
        seen.clear()

    def count_tokens(self, text: str) -> int:
        return note() if len(text) > 1 else 1


class E5(Counting, E5Embedder):
    """Without weights."""


class SentenceTransformers(Counting, SentenceTransformersEmbedder):
    """Without torch."""

    def __init__(self) -> None:
        super().__init__()
        self._fingerprint = HashingEmbedder().fingerprint
        self._query_prefix = ""

    def _run(self, texts: Sequence[str]) -> Vectors:
        raise InputError("No model.")


@pytest.mark.parametrize("embedder", [E5, SentenceTransformers])
async def test_documents_are_counted_in_a_thread(embedder: type[E5]) -> None:
    with pytest.raises(InputError, match="Text 1 of 2 has 9 tokens"):
        await embedder().embed_documents(["too long", "too long"])
    assert seen == ["worker", "worker"]


async def test_queries_are_cut_in_a_thread() -> None:
    with pytest.raises(InputError, match="No model"):
        await SentenceTransformers().embed_queries(["long"])
    assert set(seen) == {"worker"}
