"""Writes to a library, step by step; the caller holds the write lock.

Chunks first, then the sync, then one transaction of the control file that publishes them: whatever
happens in between, readers and the next writer see the state before.
"""

import ctypes
import os
import sqlite3
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from pathlib import Path

from pyarrow.compute import Expression

from refdesk.documents import DeleteReceipt
from refdesk.errors import NotFound, StoreError
from refdesk.stores import (
    Entry,
    Failure,
    StoredDocument,
    acls,
    bm25,
    control,
    indexes,
    ledger,
    records,
    refusals,
    rows,
    shelves,
    tables,
)
from refdesk.stores.engine import Table
from refdesk.stores.shelves import Shelf
from refdesk.stores.tables import Tables


def write(
    folder: Path,
    chunks: Tables,
    collection: str,
    documents: Sequence[StoredDocument],
    *,
    fingerprint: str,
    dimension: int,
) -> None:
    """Add or replace documents; see `Store.write`."""
    for stored in documents:
        refusals.malformed(stored, collection, dimension)
    refusals.twice([stored.document.source_id for stored in documents])
    with control.reading(folder) as connection:
        shelf = shelves.shelf(connection, collection)
        refusals.mismatch(shelf, fingerprint)
        known = records.keys(connection, shelf, (stored.document.source_id for stored in documents))
        keys = known | _new_keys(documents, known, records.next_key(connection))
    version, terms = write_chunks(
        chunks, shelf, documents, keys, replaced=list(known.values()), dimension=dimension
    )
    sync(folder)
    with control.writing(folder) as connection:
        shelves.set_space(connection, shelf, fingerprint, dimension)
        for stored in documents:
            _put(connection, shelf, keys[stored.document.source_id], stored)
        ledger.count_terms(connection, shelf, terms)
        ledger.clear_failures(connection, shelf, keys)
        shelves.publish(connection, shelf, version, at=time.time())


def _new_keys(documents: Sequence[StoredDocument], known: Mapping[str, int], first: int) -> dict[str, int]:
    new = [stored.document.source_id for stored in documents if stored.document.source_id not in known]
    return dict(zip(new, range(first, first + len(new)), strict=True))


def write_chunks(
    chunks: Tables,
    shelf: Shelf,
    documents: Sequence[StoredDocument],
    keys: Mapping[str, int],
    *,
    replaced: Sequence[int],
    dimension: int,
) -> tuple[int, Counter[str]]:
    """Write the rows; return the version to publish and how the term counts change."""
    generation = shelf.generation + 1
    table = chunks.recovered(shelf.folder, shelf.version)
    terms = bm25.containing(bm25.split(tokens) for stored in documents for tokens in stored.tokens)
    if table is not None and replaced:
        terms.subtract(_terms(table, replaced))
    if any(stored.chunks for stored in documents):
        table = chunks.append(
            shelf.folder, rows.table(documents, keys, generation=generation, dimension=dimension)
        )
    if table is None:
        return 0, terms
    if replaced:
        tables.delete(table, tables.older(replaced, generation))
    indexes.shorten_tail(table, chunks.limits)
    return table.version, terms


def _terms(table: Table, keys: Sequence[int]) -> Counter[str]:
    return bm25.containing(bm25.split(tokens) for tokens in _tokens(table, tables.only(keys)))


def _tokens(table: Table, condition: Expression | None = None) -> list[str]:
    """Return the tokens of the chunks that meet a condition, of all for None."""
    found: list[str] = tables.scan(table, ["tokens"], condition)["tokens"].to_pylist()
    return found


def _put(connection: sqlite3.Connection, shelf: Shelf, key: int, stored: StoredDocument) -> None:
    tokens = sum(len(bm25.split(each)) for each in stored.tokens)
    records.put(connection, shelf, key, stored.document, chunks=len(stored.chunks), tokens=tokens)


def delete(folder: Path, chunks: Tables, collection: str, source_ids: Sequence[str]) -> DeleteReceipt:
    """Delete documents and notes of failures; see `Store.delete`."""
    with control.reading(folder) as connection:
        shelf = shelves.shelf(connection, collection)
        keys = records.keys(connection, shelf, source_ids)
        noted = ledger.failures(connection, shelf)
    refusals.unknown_sources(collection, [one for one in source_ids if one not in keys and one not in noted])
    removed, version, terms = delete_chunks(chunks, shelf, list(keys.values()))
    sync(folder)
    with control.writing(folder) as connection:
        documents = records.remove(connection, keys.values())
        ledger.count_terms(connection, shelf, terms)
        failures = ledger.clear_failures(connection, shelf, source_ids)
        shelves.publish(connection, shelf, version, at=time.time())
    return DeleteReceipt(
        collection=collection,
        documents=documents,
        ledger=documents,
        failures=failures,
        source_ids=tuple(dict.fromkeys(source_ids)),
        **asdict(removed),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """What some rows of a table hold: each a chunk with its vector, and what keyword search finds it by."""

    chunks: int = 0
    vectors: int = 0
    full_text: int = 0


def _rows(tokens: Sequence[str]) -> Rows:
    return Rows(chunks=len(tokens), vectors=len(tokens), full_text=sum(map(bool, tokens)))


def delete_chunks(chunks: Tables, shelf: Shelf, keys: Sequence[int]) -> tuple[Rows, int, Counter[str]]:
    """Delete the rows of documents; return what went, the version to publish, how the term counts change."""
    table = chunks.recovered(shelf.folder, shelf.version)
    terms: Counter[str] = Counter()
    if table is None or not keys:
        return Rows(), table.version if table else 0, terms
    before = _tokens(table, tables.only(keys))
    terms.subtract(bm25.containing(bm25.split(tokens) for tokens in before))
    tables.delete(table, tables.only(keys))
    after = Counter(_tokens(table, tables.only(keys)))
    return _rows(list((Counter(before) - after).elements())), table.version, terms


def create(folder: Path, name: str, description: str) -> None:
    """Create a collection; see `Store.create`."""
    with control.writing(folder) as connection:
        shelves.create(connection, name, description)


def drop(folder: Path, chunks: Tables, name: str) -> DeleteReceipt:
    """Delete a collection; its folder goes when no reader can hold it any more."""
    with control.writing(folder) as connection:
        shelf, gone = shelves.shelf(connection, name), shelves.collection(connection, name)
        sources = tuple(ledger.entries(connection, shelf))
        failures = len(ledger.failures(connection, shelf))
        removed = _held(chunks, shelf, gone.chunks)
        shelves.remove(connection, shelf, at=time.time())
    return DeleteReceipt(
        collection=name,
        documents=gone.documents,
        ledger=len(sources),
        failures=failures,
        source_ids=sources,
        **asdict(removed),
    )


def _held(chunks: Tables, shelf: Shelf, known: int) -> Rows:
    """Count what a collection holds; of a damaged one, which can still be dropped, by what is known of it."""
    if not shelf.version:
        return Rows()
    try:
        return _rows(_tokens(chunks.at(shelf.folder, shelf.version)))
    except StoreError:
        return Rows(chunks=known)


def update(folder: Path, collection: str, entries: Sequence[Entry]) -> None:
    """Change what is known of documents besides their text; see `Store.update`."""
    for entry in entries:
        refusals.acl(entry.source_id, entry.acl)
    with control.writing(folder) as connection:
        shelf = shelves.shelf(connection, collection)
        keys = records.keys(connection, shelf, (entry.source_id for entry in entries))
        for entry in entries:
            if entry.source_id not in keys:
                raise NotFound(f"There is no document {entry.source_id!r} in the collection {collection!r}.")
            records.update(connection, keys[entry.source_id], entry)
        ledger.clear_failures(connection, shelf, keys)


def note_failures(folder: Path, collection: str, failed: Sequence[Failure]) -> None:
    """Note failures; see `Store.record_failures`."""
    with control.writing(folder) as connection:
        ledger.note_failures(connection, shelves.shelf(connection, collection), failed)


def clear_failures(folder: Path, collection: str, source_ids: Sequence[str]) -> None:
    """Remove notes of failures; see `Store.clear_failures`."""
    with control.writing(folder) as connection:
        ledger.clear_failures(connection, shelves.shelf(connection, collection), source_ids)


def set_cursor(folder: Path, collection: str, source: str, cursor: str) -> None:
    """Note how far a source has been read; see `Store.set_cursor`."""
    with control.writing(folder) as connection:
        ledger.set_cursor(connection, shelves.shelf(connection, collection), source, cursor)


def optimise(folder: Path, chunks: Tables, retention: timedelta) -> None:
    """Bring the indexes up to date and remove what no reader can hold; see `Store.optimise`."""
    before = time.time() - retention.total_seconds()
    limits = chunks.limits if retention else replace(chunks.limits, deleted=0.0)
    with control.reading(folder) as connection:
        everything = shelves.all_shelves(connection)
        dropped = shelves.dropped(connection, before=before)
        kept = {shelf.key: shelves.kept(connection, shelf, since=before) for shelf in everything}
    for shelf in everything:
        table = chunks.recovered(shelf.folder, shelf.version)
        if table is not None:
            exact = indexes.optimise(table, limits, ranks_exactly=shelf.ranks_exactly)
            sync(folder)
            _publish(folder, shelf, table.version, exact=exact)
            indexes.clean(table, kept[shelf.key] | {shelf.version})
    for name in dropped:
        chunks.drop(name)
    with control.writing(folder) as connection:
        shelves.forget(connection, before=before)
        acls.forget(connection)


def _publish(folder: Path, shelf: Shelf, version: int, *, exact: bool) -> None:
    if (version, exact) != (shelf.version, shelf.ranks_exactly):
        with control.writing(folder) as connection:
            shelves.publish(connection, shelf, version, at=time.time(), exact=exact)


def sync(folder: Path) -> None:
    """Bring all that was written below a folder to the disk; Lance itself does not."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        library = ctypes.CDLL(None, use_errno=True)
        if not hasattr(library, "syncfs"):
            os.sync()
        elif library.syncfs(descriptor) != 0:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code), str(folder))
    finally:
        os.close(descriptor)
