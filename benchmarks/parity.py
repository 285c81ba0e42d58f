"""Tell how far hybrid search finds the same in both stores: python benchmarks/parity.py DATA/scifact

A question set is ingested into the embedded store and into a Postgres of its own. Printed is how many of the
ten best documents, and chunks, of a question both find; below 0.95 of the documents it is a failure.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import anyio
import numpy as np
from server import server

import refdesk
from refdesk.documents import Hit
from refdesk.evaluation.datasets.reading import ingest_data, read_data, sampled, whole_documents

TOP_K = 10
LEAST = 0.95
COLLECTION = "parity"


async def found(library: str, embedder: str, path: Path, split: str, sample: int | None) -> list[list[Hit]]:
    """Ingest a question set into a library, unless it is there, and return the hits of each question."""
    data = sampled(whole_documents(read_data(path, split=split)), sample, 0)
    async with refdesk.aopen(library, embedder=embedder) as desk:
        await ingest_data(desk, data, collection=COLLECTION)
        return [
            list((await desk.search(case.question, collections=COLLECTION, mode="hybrid", top_k=TOP_K)).hits)
            for case in data.cases
        ]


def overlap(here: Sequence[str], there: Sequence[str]) -> float:
    """Return the share of what either finds that both do."""
    wanted = max(len(set(here)), len(set(there)))
    return len(set(here) & set(there)) / wanted if wanted else 1.0


def shares(here: list[list[Hit]], there: list[list[Hit]], name: Callable[[Hit], str]) -> list[float]:
    """Return the overlap of each question."""
    return [
        overlap([name(hit) for hit in ours], [name(hit) for hit in theirs])
        for ours, theirs in zip(here, there, strict=True)
    ]


def compared(here: list[list[Hit]], there: list[list[Hit]]) -> float:
    """Print the overlap of chunks and documents; return that of documents."""
    kinds: dict[str, Callable[[Hit], str]] = {
        "chunks": lambda hit: hit.chunk.chunk_id,
        "documents": lambda hit: hit.source_id,
    }
    for kind, name in kinds.items():
        overlaps = shares(here, there, name)
        whole = np.mean([share == 1 for share in overlaps])
        print(f"{kind:<10} overlap of the best {TOP_K}: {np.mean(overlaps):.4f}; all the same: {whole:.3f}")
    return float(np.mean(overlaps))


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("data", type=Path)
    options.add_argument("--split", default="test")
    options.add_argument("--sample", type=int, help="questions, drawn by chance")
    options.add_argument("--embedder", default="minilm")
    options.add_argument("--library", type=Path, help="the embedded library; kept, so that it is used again")
    options.add_argument("--postgres", help="the URL of a database to be used instead of a server of its own")
    chosen = options.parse_args()
    asked = (chosen.embedder, chosen.data, chosen.split, chosen.sample)
    with tempfile.TemporaryDirectory() as name:
        there = anyio.run(found, str(chosen.library or Path(name) / "library"), *asked)
    if chosen.postgres:
        here = anyio.run(found, chosen.postgres, *asked)
    else:
        with server() as url:
            here = anyio.run(found, url, *asked)
    print(f"{len(here)} questions of {chosen.data.name}")
    return 0 if compared(here, there) >= LEAST else 1


if __name__ == "__main__":
    sys.exit(main())
