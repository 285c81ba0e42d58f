"""Measure searches of those who may read little or much: python benchmarks/permissions.py [--documents 5000]

Each document names one to three of 50 groups, and some a rarer one; a reader is opened for every question.
Both stores, chunks and questions as in benchmarks/postgres.py.
"""

import argparse
import random
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import anyio
from server import server

from postgres import BATCH, CHUNKS, NAME, QUERIES, TOP_K, Corpus, timed
from refdesk.documents import Scope
from refdesk.stores import Store, StoredDocument
from refdesk.stores.lance import open_lance
from refdesk.stores.postgres import open_postgres

GROUPS = 50
RARE = {"one in a hundred": 100, "one in a thousand": 1_000}
SCOPES = {
    "everything, unasked": Scope(upkeep=True),
    "all of it": Scope(principals=("everyone",)),
    "25 of 50 groups": Scope(principals=tuple(f"group {number}" for number in range(25))),
    "one of 50 groups": Scope(principals=("group 7",)),
    **{name: Scope(principals=(name,)) for name in RARE},
}


def restricted(corpus: Corpus, number: int) -> StoredDocument:
    """Return a document that names who may read it."""
    drawn = random.Random(number)
    groups = (f"group {each}" for each in drawn.sample(range(GROUPS), drawn.randint(1, 3)))
    rare = (name for name, each in RARE.items() if number % each == 0)
    stored = corpus.document(number)
    return replace(stored, document=replace(stored.document, acl=("everyone", *groups, *rare)))


async def fill(store: Store, corpus: Corpus, documents: int) -> None:
    await store.create(NAME)
    for first in range(0, documents, BATCH):
        some = [restricted(corpus, number) for number in range(first, min(first + BATCH, documents))]
        await store.write(NAME, some, fingerprint="bench", dimension=corpus.dimension)
    await store.optimise()


async def ask(name: str, store: Store, corpus: Corpus) -> None:
    vectors, words = corpus.vectors(QUERIES), [corpus.words(4) for _ in range(QUERIES)]
    for who, scope in SCOPES.items():
        documents, _ = await (await store.reader(scope)).count()

        async def near(number: int, scope: Scope = scope) -> None:
            await (await store.reader(scope)).vector_search(vectors[number], top_k=TOP_K)

        async def worded(number: int, scope: Scope = scope) -> None:
            await (await store.reader(scope)).keyword_search(words[number], top_k=TOP_K)

        searches: dict[str, Callable[[int], Awaitable[None]]] = {"vector": near, "4 words": worded}
        for kind, search in searches.items():
            print(
                f"{name:<9} {who:<20} {documents:>7} documents  {kind:<8} {await timed(search)}", flush=True
            )


async def measure(url: str, folder: Path, documents: int, dimension: int) -> None:
    print(f"{documents * CHUNKS} chunks of {dimension} dimensions, top {TOP_K}", flush=True)
    stores: dict[str, Store] = {"postgres": await open_postgres(url), "embedded": await open_lance(folder)}
    for name, store in stores.items():
        corpus = Corpus(dimension)
        await fill(store, corpus, documents)
        await ask(name, store, corpus)
        await store.aclose()


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--documents", type=int, default=5_000)
    options.add_argument("--dimension", type=int, default=384)
    chosen = options.parse_args()
    with server() as url, tempfile.TemporaryDirectory(prefix="refdesk-") as name:
        anyio.run(measure, url, Path(name) / "library", chosen.documents, chosen.dimension)


if __name__ == "__main__":
    main()
