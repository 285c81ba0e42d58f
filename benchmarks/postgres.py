"""Measure the store in Postgres beside the embedded one: python benchmarks/postgres.py [--chunks 20000]

By default 425,000 chunks of 1,024 dimensions, which takes ten minutes, or 20,000 where the disk is too small.
Vectors lie around 1,000 points, texts are 60 words drawn from a Zipf-like list, 8 chunks per document, one
client. Recall is that of the 25 nearest, told from all vectors.
"""

import argparse
import shutil
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import numpy as np
from numpy.typing import NDArray
from server import server

from refdesk.documents import PUBLIC, Chunk, Document, Scope, chunk_id
from refdesk.filters import Equals, Filter
from refdesk.stores import Reader, Store, StoredDocument
from refdesk.stores.lance import open_lance
from refdesk.stores.postgres import open_postgres

NAME = "default"
CHUNKS, WORDS, VOCABULARY = 8, 60, 50_000
MANY, FEW = 425_000, 20_000
NEEDED = 20_000_000_000
"""Bytes of disk that `MANY` chunks take while they are written."""
BATCH = 256
"""Documents per write."""
POINTS, SPREAD = 1_000, 0.8
QUERIES, TOP_K = 100, 25
SHARES = {"half": 2, "hundredth": 100, "thousandth": 1_000}

Vectors = NDArray[np.float32]


@dataclass
class Corpus:
    """Draws documents and questions; the same seed gives the same ones."""

    dimension: int
    seed: int = 0
    points: Vectors = field(init=False)

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(self.seed)
        self.points = self.random.standard_normal((POINTS, self.dimension), dtype=np.float32)
        weights = 1 / (np.arange(VOCABULARY) + 10.0)
        self.cumulated = np.cumsum(weights / weights.sum())

    def words(self, count: int) -> list[str]:
        drawn = np.searchsorted(self.cumulated, self.random.random(count)).clip(max=VOCABULARY - 1)
        return [f"w{number}" for number in drawn]

    def vectors(self, count: int) -> Vectors:
        """Draw unit vectors near one of the points each."""
        noise = self.random.standard_normal((count, self.dimension), dtype=np.float32)
        drawn = self.points[self.random.integers(POINTS, size=count)] + SPREAD * noise
        return np.asarray(drawn / np.linalg.norm(drawn, axis=1, keepdims=True), np.float32)

    def document(self, number: int) -> StoredDocument:
        texts = [" ".join(self.words(WORDS)) for _ in range(CHUNKS)]
        source = f"source {number}"
        document = Document(
            collection=NAME,
            source_id=source,
            title=source,
            text="\n".join(texts),
            metadata={name: number % each for name, each in SHARES.items()},
            acl=(PUBLIC,),
        )
        return StoredDocument(
            document=document,
            chunks=tuple(_chunks(document, texts)),
            tokens=tuple(texts),
            vectors=self.vectors(CHUNKS),
        )


def _chunks(document: Document, texts: list[str]) -> Iterator[Chunk]:
    start = 0
    for position, text in enumerate(texts):
        yield Chunk(
            chunk_id=chunk_id(document.document_id, position, text),
            document_id=document.document_id,
            collection=NAME,
            position=position,
            start=start,
            end=start + len(text),
            text=text,
        )
        start += len(text) + 1


@dataclass
class Nearest:
    """Keeps the nearest chunks of each question while the chunks go by."""

    queries: Vectors
    scores: Vectors = field(init=False)
    ids: NDArray[np.object_] = field(init=False)

    def __post_init__(self) -> None:
        self.scores = np.full((len(self.queries), TOP_K), -2, np.float32)
        self.ids = np.full((len(self.queries), TOP_K), "", object)

    def add(self, documents: list[StoredDocument]) -> None:
        vectors = np.concatenate([each.vectors for each in documents])
        names = np.array([chunk.chunk_id for each in documents for chunk in each.chunks], object)
        scores = np.hstack([self.scores, self.queries @ vectors.T])
        ids = np.hstack([self.ids, np.broadcast_to(names, (len(self.queries), len(names)))])
        best = np.argsort(-scores, axis=1)[:, :TOP_K]
        self.scores, self.ids = (np.take_along_axis(each, best, 1) for each in (scores, ids))


async def filled(stores: dict[str, Store], corpus: Corpus, chunks: int, nearest: Nearest) -> None:
    """Write the same chunks into all stores; print how long it took."""
    spent = dict.fromkeys(stores, 0.0)
    for first in range(0, chunks // CHUNKS, BATCH):
        documents = [corpus.document(number) for number in range(first, min(first + BATCH, chunks // CHUNKS))]
        nearest.add(documents)
        for name, store in stores.items():
            began = time.perf_counter()
            await store.write(NAME, documents, fingerprint="bench", dimension=corpus.dimension)
            spent[name] += time.perf_counter() - began
    for name, seconds in spent.items():
        print(f"{name:<12} write {seconds:8.1f} s, {chunks / seconds:8.0f} chunks/s", flush=True)


async def timed(ask: Callable[[int], Awaitable[object]]) -> str:
    """Return p50 and p95."""
    await ask(0)
    spent = []
    for number in range(QUERIES):
        began = time.perf_counter()
        await ask(number)
        spent.append(1000 * (time.perf_counter() - began))
    p50, p95 = np.quantile(spent, [0.5, 0.95])
    return f"p50 {p50:8.1f} ms   p95 {p95:8.1f} ms"


async def searched(name: str, reader: Reader, corpus: Corpus, nearest: Nearest) -> None:
    """Print how long searches take, and how many of the nearest are found."""
    filters: dict[str, Filter | None] = {"all": None}
    filters |= {f"1 of {each}": Equals(key, 0) for key, each in SHARES.items()}
    recalled = list[float]()

    async def near(number: int, filter: Filter | None) -> None:
        hits = await reader.vector_search(nearest.queries[number], top_k=TOP_K, filter=filter)
        if filter is None:
            found = {hit.chunk.chunk_id for hit in hits}
            recalled.append(len(found.intersection(nearest.ids[number])) / TOP_K)

    for share, filter in filters.items():
        figures = await timed(lambda number, filter=filter: near(number, filter))  # type: ignore[misc]
        note = "" if filter else f"   recall {np.mean(recalled):.3f}"
        print(f"{name:<12} vector top {TOP_K}, {share:<10} {figures}{note}", flush=True)
    for words in (4, 10):
        asked = [corpus.words(words) for _ in range(QUERIES)]
        figures = await timed(lambda number, asked=asked: reader.keyword_search(asked[number], top_k=TOP_K))  # type: ignore[misc]
        print(f"{name:<12} {words:>2} words top {TOP_K}            {figures}", flush=True)


def has_room(folder: Path | None) -> bool:
    """Tell whether the disk takes `MANY` chunks in both stores."""
    return shutil.disk_usage(folder or tempfile.gettempdir()).free > NEEDED


async def measure(url: str, folder: Path, chunks: int, dimension: int) -> None:
    corpus = Corpus(dimension)
    nearest = Nearest(corpus.vectors(QUERIES))
    stores: dict[str, Store] = {"postgres": await open_postgres(url), "embedded": await open_lance(folder)}
    print(f"{chunks} chunks of {dimension} dimensions", flush=True)
    for store in stores.values():
        await store.create(NAME)
    await filled(stores, corpus, chunks, nearest)
    for name, store in stores.items():
        began = time.perf_counter()
        await store.optimise()
        print(f"{name:<12} optimise {time.perf_counter() - began:8.1f} s", flush=True)
    for name, store in stores.items():
        began = time.perf_counter()
        reader = await store.reader(Scope())
        print(f"{name:<12} open a reader {1000 * (time.perf_counter() - began):8.1f} ms", flush=True)
        await searched(name, reader, corpus, nearest)
        await store.aclose()


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--chunks", type=int)
    options.add_argument("--dimension", type=int, default=1_024)
    options.add_argument("--folder", type=Path, help="where both libraries are for a while; by default, /tmp")
    chosen = options.parse_args()
    chunks = chosen.chunks or (MANY if has_room(chosen.folder) else FEW)
    with (
        server(chosen.folder) as url,
        tempfile.TemporaryDirectory(prefix="refdesk-", dir=chosen.folder) as name,
    ):
        anyio.run(measure, url, Path(name) / "library", chunks, chosen.dimension)


if __name__ == "__main__":
    main()
