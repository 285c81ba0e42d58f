"""Measure the embedded store: python benchmarks/store.py [--rows 20000] [--folder DIR] [--json]

Texts of 100 words drawn from a Zipf-like list, 8 chunks per document, 384 random dimensions, one client.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import numpy as np

from refdesk.documents import PUBLIC, Chunk, Document, Scope, chunk_id, document_id
from refdesk.filters import Equals, Filter, In
from refdesk.stores import Reader, StoredDocument
from refdesk.stores.lance import LanceStore, open_lance

DIMENSION = 384
CHUNKS = 8
WORDS = 100
VOCABULARY = 50_000
BATCH = 64
"""Documents per write."""
QUERIES = 100
NAME = "default"

COLD = """
import time; start = time.perf_counter()
import anyio, numpy as np, sys
from refdesk.stores.lance import open_lance
from refdesk.documents import Scope
imported = time.perf_counter()
async def main():
    reader = await (await open_lance(sys.argv[1], read_only=True)).reader(Scope())
    opened = time.perf_counter()
    await reader.vector_search(np.ones(384, np.float32) / 384**0.5, top_k=20)
    await reader.keyword_search(["w1", "w500"], top_k=20)
    return opened
opened = anyio.run(main)
print(imported - start, opened - imported, time.perf_counter() - opened)
"""


class Corpus:
    """Draws documents; the same seed gives the same ones."""

    def __init__(self, seed: int = 0) -> None:
        self.random = np.random.default_rng(seed)
        weights = 1 / (np.arange(VOCABULARY) + 10.0)
        self.cumulated = np.cumsum(weights / weights.sum())

    def words(self, count: int) -> list[str]:
        drawn = np.searchsorted(self.cumulated, self.random.random(count)).clip(max=VOCABULARY - 1)
        return [f"w{number}" for number in drawn]

    def vectors(self, count: int) -> np.ndarray:
        drawn = self.random.standard_normal((count, DIMENSION), dtype=np.float32)
        return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)

    def document(self, number: int) -> StoredDocument:
        texts = [" ".join(self.words(WORDS)) for _ in range(CHUNKS)]
        source = f"source {number}"
        key, start, chunks = document_id(NAME, source), 0, []
        for position, text in enumerate(texts):
            chunks.append(
                Chunk(
                    chunk_id=chunk_id(key, position, text),
                    document_id=key,
                    collection=NAME,
                    position=position,
                    start=start,
                    end=start + len(text),
                    text=text,
                )
            )
            start += len(text) + 1
        return StoredDocument(
            document=Document(
                collection=NAME,
                source_id=source,
                title=source,
                text="\n".join(texts),
                metadata={"half": number % 2, "hundredth": number % 100},
                acl=(PUBLIC,),
            ),
            chunks=tuple(chunks),
            tokens=tuple(texts),
            vectors=self.vectors(CHUNKS),
        )


async def ingest(store: LanceStore, documents: list[StoredDocument]) -> list[float]:
    """Write in batches; return the seconds of each."""
    spent = []
    for first in range(0, len(documents), BATCH):
        began = time.perf_counter()
        await store.write(NAME, documents[first : first + BATCH], fingerprint="bench", dimension=DIMENSION)
        spent.append(time.perf_counter() - began)
    return spent


async def timed(ask: Callable[[], Awaitable[object]]) -> dict[str, float]:
    """Return p50 and p95 in milliseconds."""
    await ask()
    spent = []
    for _ in range(QUERIES):
        began = time.perf_counter()
        await ask()
        spent.append(1000 * (time.perf_counter() - began))
    return {"p50_ms": round(float(np.median(spent)), 1), "p95_ms": round(float(np.quantile(spent, 0.95)), 1)}


async def queries(reader: Reader, corpus: Corpus, documents: int) -> dict[str, dict[str, float]]:
    many = In("source_id", tuple(f"source {number}" for number in range(0, documents, 2)))
    filters: dict[str, Filter | None] = {
        "no filter": None,
        "50 %": Equals("half", 1),
        "1 %": Equals("hundredth", 7),
        "one document": Equals("source_id", "source 7"),
        f"{len(many.values)} ids": many,
    }
    found = {}
    for name, filter in filters.items():
        found[f"vector, {name}"] = await timed(
            lambda filter=filter: reader.vector_search(corpus.vectors(1)[0], top_k=20, filter=filter)
        )
        found[f"keyword, {name}"] = await timed(
            lambda filter=filter: reader.keyword_search(corpus.words(4), top_k=20, filter=filter)
        )
    (hit,) = await reader.vector_search(corpus.vectors(1)[0], top_k=1)
    found["neighbours"] = await timed(lambda: reader.neighbours(hit.chunk))
    ids = [hit.chunk.chunk_id for hit in await reader.vector_search(corpus.vectors(1)[0], top_k=25)]
    found["vectors of 25 chunks"] = await timed(lambda: reader.vectors(ids))
    return found


async def measure(folder: Path, rows: int) -> dict[str, object]:
    store, corpus = await open_lance(folder), Corpus()
    await store.create(NAME)
    documents = [corpus.document(number) for number in range(rows // CHUNKS)]
    result: dict[str, object] = {"rows": rows}
    spent = await ingest(store, documents)
    result["ingest rows/s"] = round(rows / sum(spent))
    result["write of one batch, p50 ms"] = round(1000 * float(np.median(spent)))
    result["before optimise"] = await queries(await store.reader(Scope()), corpus, len(documents))
    began = time.perf_counter()
    await store.optimise()
    result["optimise s"] = round(time.perf_counter() - began, 2)
    result["after optimise"] = await queries(await store.reader(Scope()), corpus, len(documents))
    result["replace one document"] = await timed(
        lambda: store.write(NAME, [corpus.document(3)], fingerprint="bench", dimension=DIMENSION)
    )
    result["peak RSS MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return result


def cold(folder: Path) -> dict[str, float]:
    """Return the seconds that a new process needs to import, open, and search for the first time."""
    command = [sys.executable, "-c", COLD, str(folder)]
    runs = [
        subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() for _ in range(5)
    ]
    names = ("import s", "open s", "first two searches s")
    return dict(zip(names, np.median(np.array(runs, float), axis=0).round(3).tolist(), strict=True))


def megabytes(folder: Path) -> int:
    return round(sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6)


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--rows", type=int, default=20_000)
    options.add_argument("--folder", type=Path)
    options.add_argument("--json", action="store_true")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = chosen.folder or Path(temporary) / "library"
        result = anyio.run(measure, folder, chosen.rows) | {"disk MB": megabytes(folder)}
        result["new process"] = cold(folder)
    if chosen.json:
        sys.stdout.write(json.dumps(result, indent=2) + "\n")
        return
    for name, value in result.items():
        if not isinstance(value, dict):
            sys.stdout.write(f"{name:<40}{value}\n")
            continue
        sys.stdout.write(f"{name}\n")
        for each, figures in value.items():
            sys.stdout.write(f"  {each:<38}{figures}\n")


if __name__ == "__main__":
    main()
