"""Hybrid search finds the same in both stores."""

import random
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, aclosing
from pathlib import Path

import numpy as np
import pytest

from refdesk.analysis import analyse
from refdesk.documents import PUBLIC, Chunk, Document, Scope, chunk_id, document_id
from refdesk.embedding import Embedder
from refdesk.embedding.names import embedder_for
from refdesk.filters import Equals, Filter
from refdesk.results import Results
from refdesk.retrieval.search import search
from refdesk.stores import Store, StoredDocument
from refdesk.stores.lance import open_lance
from refdesk.stores.postgres import open_postgres
from refdesk.testing import HashingEmbedder

pytestmark = pytest.mark.anyio

WHO = ("The librarian", "A student", "The director", "Every guest", "The night guard", "A visiting scholar")
DOES = ("returns", "borrows", "forgets", "catalogues", "restores", "hides", "photographs")
WHAT = ("old maps", "a rare atlas", "two newspapers", "the visitors' book", "letters", "a globe", "films")
WHEN = ("before noon", "in winter", "every Friday", "after the concert", "without asking", "at closing time")
CHOICES = (WHO, DOES, WHAT, WHEN)
ALLOWED = (PUBLIC,), ("staff",), ("staff", PUBLIC)


def sentence(chance: random.Random) -> str:
    return " ".join(chance.choice(some) for some in CHOICES) + "."


async def documents(embedder: Embedder) -> Sequence[StoredDocument]:
    chance = random.Random(5)
    drawn = [[sentence(chance) for _ in range(chance.randint(1, 4))] for _ in range(120)]
    return [await stored(embedder, number, texts) for number, texts in enumerate(drawn)]


async def stored(embedder: Embedder, number: int, texts: Sequence[str]) -> StoredDocument:
    key = document_id("default", f"s{number:03}")
    starts = [sum(len(text) + 1 for text in texts[:each]) for each in range(len(texts))]
    return StoredDocument(
        document=Document(
            collection="default",
            source_id=f"s{number:03}",
            title=f"Note {number}",
            text="\n".join(texts),
            language="en",
            metadata={"shelf": number % 4},
            acl=ALLOWED[number % 3],
        ),
        chunks=tuple(
            Chunk(
                chunk_id=chunk_id(key, position, text),
                document_id=key,
                collection="default",
                position=position,
                start=start,
                end=start + len(text),
                text=text,
            )
            for position, (text, start) in enumerate(zip(texts, starts, strict=True))
        ),
        tokens=tuple(" ".join(analyse(text, "en")) for text in texts),
        vectors=await embedder.embed_documents(texts),
    )


@pytest.fixture
async def stores(postgres: str, tmp_path: Path) -> AsyncIterator[tuple[Store, Store]]:
    async with AsyncExitStack() as stack:
        opened = [
            await stack.enter_async_context(aclosing(store))
            for store in (await open_postgres(postgres), await open_lance(tmp_path / "library"))
        ]
        yield opened[0], opened[1]


def assert_same(here: Results, there: Results) -> None:
    """Compare the hits of two searches; those that score alike but for rounding may change places."""
    assert {hit.chunk for hit in here.hits} == {hit.chunk for hit in there.hits}
    scores = {hit.chunk.chunk_id: (hit.vector_score, hit.keyword_score) for hit in there.hits}
    for hit in here.hits:
        vector, keyword = scores[hit.chunk.chunk_id]
        assert hit.keyword_score == keyword
        assert (hit.vector_score is None) == (vector is None)
        np.testing.assert_allclose(hit.vector_score or 0, vector or 0, atol=1e-5)
    fused = [[hit.fused_score or 0.0 for hit in each.hits] for each in (here, there)]
    np.testing.assert_allclose(fused[0], fused[1], atol=1e-3)


@pytest.mark.parametrize("name", ["hashing", pytest.param("minilm", marks=pytest.mark.model)])
async def test_hybrid_search_finds_the_same(stores: tuple[Store, Store], name: str) -> None:
    embedder: Embedder = HashingEmbedder() if name == "hashing" else embedder_for(name)
    written, space = await documents(embedder), embedder.fingerprint
    for store in stores:
        await store.create("default")
        await store.write("default", written, fingerprint=str(space), dimension=space.dimension)
    chance = random.Random(9)
    filters: Sequence[Filter | None] = (None, Equals("shelf", 2))
    for scope in (Scope(), Scope(principals=("staff",)), Scope(upkeep=True)):
        readers = [await store.reader(scope) for store in stores]
        for number in range(12):
            question, filter = sentence(chance), filters[number % 2]
            here, there = [
                await search(reader, embedder, question, filter=filter, candidates=400) for reader in readers
            ]
            assert len(here.hits) == 10
            assert_same(here, there)
