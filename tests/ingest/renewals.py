"""A collection that is to be embedded anew, and embedders to whom things happen meanwhile."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from tests.ingest.conftest import Bench

from refdesk.chunking import Chunker
from refdesk.documents import DocumentRecord, Scope
from refdesk.embedding import Vectors
from refdesk.errors import RemoteError
from refdesk.events import IngestEvent
from refdesk.ingest import Recipe, Reembedding, Summary
from refdesk.ingest.batch import DOCUMENTS
from refdesk.ingest.writing import Writer
from refdesk.sources import Source
from refdesk.sources.text import Text
from refdesk.stores import Reader, Store
from refdesk.testing import HashingEmbedder

MANY = 2 * DOCUMENTS + 40
"""Documents that take three batches."""
BEFORE_LAST, LAST = f"{MANY - 2:04}", f"{MANY - 1:04}"
LONG = "# Leave\n\n" + "\n\n".join(
    f"Paragraph {number} speaks of leave, at some length." for number in range(40)
)


@dataclass
class Renewal:
    """A bench whose collection is to be embedded with another embedder or recipe."""

    bench: Bench
    embedder: HashingEmbedder
    chunk_size: int | None = None
    token_vectors: bool = False

    def run(self, on_event: Callable[[IngestEvent], None] = lambda event: None) -> Reembedding:
        return Reembedding(
            collection="c",
            store=self.bench.store,
            writer=Writer(store=self.bench.store, embedder=self.embedder, token_vectors=self.token_vectors),
            recipe=self.recipe,
            on_event=on_event,
        )

    @property
    def recipe(self) -> Recipe:
        return Recipe(
            chunker=Chunker(self.embedder.count_tokens, self.embedder.max_tokens, self.chunk_size),
            fingerprint=str(self.embedder.fingerprint),
            token_vectors=self.token_vectors,
        )

    async def reembed(self) -> Summary:
        return await self.run().run()

    async def ingest(self, *sources: Source) -> Summary:
        """Ingest, by default the files of the bench, with the new embedder and recipe."""
        ingestion = self.bench.run(*sources)
        ingestion.recipe = self.recipe
        ingestion.writer = Writer(
            store=self.bench.store, embedder=self.embedder, token_vectors=self.token_vectors
        )
        return await ingestion.run()


def some_files(bench: Bench) -> None:
    bench.file("leave.md", LONG)
    bench.file("travel.txt", "Trains are booked in second class.")
    bench.file(
        "office.html", "<html><title>Office</title><body><h1>Office</h1><p>It closes at six.</p></html>"
    )
    bench.file("table.csv", "city,office\nBerlin,Lindenstrasse 4\nLyon,Rue Neuve 12\n")


def many_texts(count: int = MANY) -> list[Text]:
    return [Text(f"Text number {number}.", source_id=f"{number:04}") for number in range(count)]


async def records(store: Store) -> dict[str, DocumentRecord]:
    return {one.source_id: one for one in await (await store.reader(Scope(("c",)))).documents()}


async def chunk_ids(store: Store) -> dict[str, list[str]]:
    reader = await store.reader(Scope(("c",)))
    return {
        one.source_id: [chunk.chunk_id for chunk in await reader.chunks(one.document_id)]
        for one in await reader.documents()
    }


async def assert_whole(store: Store, embedder: HashingEmbedder) -> None:
    """All chunks are found in the embedder's space, and no others."""
    reader = await store.reader(Scope(("c",)))
    expected = sorted(one for ids in (await chunk_ids(store)).values() for one in ids)
    assert await reader.count() == (len(await records(store)), len(expected))
    assert await _near(reader, embedder, "leave") == expected
    vectors = await reader.vectors(expected)
    assert {len(vector) for vector in vectors.values()} <= {embedder.fingerprint.dimension}
    assert (await store.collection("c")).fingerprint == str(embedder.fingerprint)


async def _near(reader: Reader, embedder: HashingEmbedder, question: str) -> list[str]:
    (vector,) = await embedder.embed_queries([question])
    return sorted(hit.chunk.chunk_id for hit in await reader.vector_search(vector, top_k=9999))


class Breaking(HashingEmbedder):
    """An embedder whose server goes away after some calls."""

    def __init__(self, calls: int, *, dimension: int = 32) -> None:
        super().__init__(dimension=dimension)
        self.calls = calls

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        if self.calls == 0:
            raise RemoteError("The server is gone.", retryable=True)
        self.calls -= 1
        return await super().embed_documents(texts)


class Meanwhile(HashingEmbedder):
    """An embedder during whose work something happens."""

    def __init__(self, *events: Callable[[], Awaitable[object]]) -> None:
        super().__init__(dimension=32)
        self.events = list(events)

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        vectors = await super().embed_documents(texts)
        if self.events:
            await self.events.pop(0)()
        return vectors
