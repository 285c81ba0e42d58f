"""A writer that numbered editions can be told from, run as a process of its own and killed by the tests.

    python editions.py LIBRARY FIRST PREFIX

writes edition after edition, beginning with FIRST, and prints the number of each that was acknowledged.
Edition `n` replaces three sources and deletes one, both chosen by `n` alone.
"""

import random
import sys
from itertools import count

import anyio

from refdesk.stores import Store, StoredDocument
from refdesk.stores.opening import open_store
from refdesk.testing.stores.samples import COLLECTION, DIMENSION, FINGERPRINT, sample

SOURCES = 12


def batch(number: int, prefix: str) -> list[StoredDocument]:
    """Return what an edition writes."""
    names = random.Random(number).sample(range(SOURCES), 3)
    return [_document(f"{prefix}{name}", number) for name in names]


def _document(source_id: str, number: int) -> StoredDocument:
    return sample(source_id, *(f"words {source_id} {number} {part}" for part in range(1 + number % 4)))


def deleted(number: int, prefix: str) -> str:
    """Return the source that an edition deletes, if it is there."""
    return f"{prefix}{random.Random(number).choice(range(SOURCES))}"


def texts_after(number: int, prefix: str) -> dict[str, list[str]]:
    """Return the chunks of all sources after editions 1 to `number`, whole: written, and then deleted."""
    state: dict[str, list[str]] = {}
    for edition in range(1, number + 1):
        state |= {
            stored.document.source_id: [chunk.text for chunk in stored.chunks]
            for stored in batch(edition, prefix)
        }
        state.pop(deleted(edition, prefix), None)
    return state


async def publish(store: Store, number: int, prefix: str) -> None:
    """Write one edition; maintenance comes with every fifth."""
    await store.write(COLLECTION, batch(number, prefix), fingerprint=FINGERPRINT, dimension=DIMENSION)
    if deleted(number, prefix) in await store.entries(COLLECTION):
        await store.delete(COLLECTION, [deleted(number, prefix)])
    if number % 5 == 0:
        await store.optimise()


async def main(library: str, first: int, prefix: str) -> None:
    store = await open_store(library)
    await store.create(COLLECTION)
    for number in count(first):
        await publish(store, number, prefix)
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], int(sys.argv[2]), sys.argv[3])
