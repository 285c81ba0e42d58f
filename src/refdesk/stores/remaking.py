"""Making the chunks of a collection anew, step by step; the caller of a writing step holds the write lock.

The new chunks go into a folder of their own, with a version that is published for later steps only. One
transaction of the control file puts them in the place of the old ones.
"""

import sqlite3
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from refdesk.errors import StoreError
from refdesk.stores import (
    StoredDocument,
    bm25,
    control,
    indexes,
    ledger,
    records,
    refusals,
    shelves,
    successors,
    tables,
    writer,
)
from refdesk.stores.engine import Table
from refdesk.stores.shelves import Shelf
from refdesk.stores.tables import Tables


def begin(folder: Path, collection: str, fingerprint: str, dimension: int, recipe: str) -> int:
    """Return the key of the successor; see `Store.remake`."""
    with control.writing(folder) as connection:
        shelf = shelves.shelf(connection, collection)
        return successors.begin(connection, shelf, fingerprint, dimension, recipe, at=time.time())


def discard(folder: Path, collection: str, key: int) -> None:
    """Give up a successor; see `Remake.discard`."""
    with control.writing(folder) as connection:
        shelf, _ = _both(connection, collection, key)
        successors.discard(connection, shelf, at=time.time())


def missing(connection: sqlite3.Connection, collection: str, key: int) -> tuple[str, ...]:
    """Return the sources that a successor lacks; see `Remake.missing`."""
    shelf, _ = _both(connection, collection, key)
    return successors.missing(connection, shelf)


def _both(connection: sqlite3.Connection, collection: str, key: int) -> tuple[Shelf, Shelf]:
    shelf = shelves.shelf(connection, collection)
    return shelf, successors.successor(connection, shelf, key)


def write(
    folder: Path, chunks: Tables, collection: str, key: int, documents: Sequence[StoredDocument]
) -> None:
    """Add chunks to a successor; see `Remake.write`."""
    refusals.twice([stored.document.source_id for stored in documents])
    with control.reading(folder) as connection:
        shelf, made = _both(connection, collection, key)
        for stored in documents:
            refusals.malformed(stored, collection, made.dimension)
        keys = _unchanged(connection, shelf, documents)
    current = [stored for stored in documents if stored.document.source_id in keys]
    if not current:
        return
    version, terms = writer.write_chunks(
        chunks, made, current, keys, replaced=list(keys.values()), dimension=made.dimension
    )
    writer.sync(folder)
    with control.writing(folder) as connection:
        for stored in current:
            _note(connection, made, keys[stored.document.source_id], stored)
        ledger.count_terms(connection, made, terms)
        shelves.publish(connection, made, version, at=time.time())


def _unchanged(
    connection: sqlite3.Connection, shelf: Shelf, documents: Sequence[StoredDocument]
) -> dict[str, int]:
    """Return the keys of those documents that are stored just so, but for their digest."""
    found = records.keys(connection, shelf, (stored.document.source_id for stored in documents))
    given = {stored.document.source_id: stored.document for stored in documents}
    return {
        source_id: key
        for source_id, key in found.items()
        if (known := records.document(connection, key)) == replace(given[source_id], digest=known.digest)
    }


def _note(connection: sqlite3.Connection, made: Shelf, key: int, stored: StoredDocument) -> None:
    tokens = sum(len(bm25.split(each)) for each in stored.tokens)
    digest = stored.document.digest
    successors.note(connection, made, key, digest=digest, chunks=len(stored.chunks), tokens=tokens)


def switch(folder: Path, chunks: Tables, collection: str, key: int) -> bool:
    """Put a successor in the place of its collection, counted and with its indexes; see `Remake.switch`."""
    _take_out_unnoted(folder, chunks, collection, key)
    with control.reading(folder) as connection:
        shelf, made = _both(connection, collection, key)
        if successors.missing(connection, shelf):
            return False
        expected = sum(successors.noted(connection, made).values())
    table = chunks.recovered(made.folder, made.version)
    exact = table is not None and indexes.optimise(table, chunks.limits, ranks_exactly=made.ranks_exactly)
    _refuse_miscount(collection, table, expected)
    writer.sync(folder)
    with control.writing(folder) as connection:
        version = table.version if table is not None else 0
        successors.succeed(connection, shelf, made, version, exact=exact, at=time.time())
    if table is not None:
        indexes.clean(table, ())  # no reader has seen its older versions
    return True


def tidy(folder: Path, chunks: Tables, *, wiping: bool) -> None:
    """Take what was replaced or deleted out of chunks that are being made; with `wiping` also from files."""
    with control.reading(folder) as connection:
        found = [(shelf, successors.of(connection, shelf)) for shelf in shelves.all_shelves(connection)]
    for shelf, made in found:
        if made is not None:
            _take_out_unnoted(folder, chunks, shelf.name, made.key)
            if wiping:
                _wipe(folder, chunks, shelf.name, made.key)


def _wipe(folder: Path, chunks: Tables, collection: str, key: int) -> None:
    """Leave nothing of removed chunks in the files of a successor."""
    with control.reading(folder) as connection:
        _, made = _both(connection, collection, key)
    table = chunks.recovered(made.folder, made.version)
    if table is None:
        return
    limits = replace(chunks.limits, deleted=0.0)
    exact = indexes.optimise(table, limits, ranks_exactly=made.ranks_exactly)
    writer.sync(folder)
    with control.writing(folder) as connection:
        shelves.publish(connection, made, table.version, at=time.time(), exact=exact)
    indexes.clean(table, ())  # no reader sees its versions


def _take_out_unnoted(folder: Path, chunks: Tables, collection: str, key: int) -> None:
    """Remove chunks of documents that were replaced or deleted since, or whose chunks are not all there."""
    with control.reading(folder) as connection:
        _, made = _both(connection, collection, key)
        noted = successors.noted(connection, made)
    wrong = _differing(noted, _held(chunks.recovered(made.folder, made.version)))
    if not wrong:
        return
    _, version, terms = writer.delete_chunks(chunks, made, wrong)
    writer.sync(folder)
    with control.writing(folder) as connection:
        ledger.count_terms(connection, made, terms)
        successors.unnote(connection, wrong)
        shelves.publish(connection, made, version, at=time.time())


def _held(table: Table | None) -> Counter[int]:
    """Count the chunks of each document, by document key."""
    if table is None:
        return Counter()
    return Counter(tables.scan(table, ["doc_key"])["doc_key"].to_pylist())


def _differing(noted: Mapping[int, int], held: Mapping[int, int]) -> list[int]:
    return sorted(key for key in noted.keys() | held.keys() if noted.get(key, 0) != held.get(key, 0))


def _refuse_miscount(collection: str, table: Table | None, expected: int) -> None:
    held = table.count_rows() if table is not None else 0
    if held != expected:
        raise StoreError(
            f"The new chunks of {collection!r} are {held}, not {expected} as written; the old ones stay.",
            remedy=refusals.reembed(collection),
        )
