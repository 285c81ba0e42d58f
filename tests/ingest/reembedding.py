"""A process that embeds a collection anew, to be killed by the tests.

    python reembedding.py LIBRARY COLLECTION DIMENSION

prints the source of each document as it is acknowledged.
"""

import sys

import anyio

from refdesk.chunking import Chunker
from refdesk.events import IngestEvent, SourceFinished
from refdesk.ingest import Recipe, Reembedding
from refdesk.ingest.writing import Writer
from refdesk.stores.lance import open_lance
from refdesk.testing import HashingEmbedder


def tell(event: IngestEvent) -> None:
    if isinstance(event, SourceFinished):
        sys.stdout.write(f"{event.source_id}\n")
        sys.stdout.flush()


async def main(library: str, collection: str, dimension: int) -> None:
    store, embedder = await open_lance(library), HashingEmbedder(dimension=dimension)
    recipe = Recipe(
        chunker=Chunker(embedder.count_tokens, embedder.max_tokens), fingerprint=str(embedder.fingerprint)
    )
    writer = Writer(store=store, embedder=embedder)
    run = Reembedding(collection=collection, store=store, writer=writer, recipe=recipe, on_event=tell)
    await run.run()


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], sys.argv[2], int(sys.argv[3]))
