"""What the control file says of sources and terms. Plain functions over an open transaction."""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from refdesk.stores import Entry, Failure, acls
from refdesk.stores import metadata as meta
from refdesk.stores.shelves import Shelf, marks


def entries(connection: sqlite3.Connection, shelf: Shelf) -> dict[str, Entry]:
    """Return the ledger of a collection by source id."""
    rows = connection.execute(
        "SELECT source_id, digest, chunks, metadata, title, url, principals FROM documents"
        " JOIN acls ON acls.key = acl WHERE collection = ? ORDER BY source_id",
        (shelf.key,),
    )
    return {
        source_id: Entry(
            source_id=source_id,
            digest=digest,
            chunks=chunks,
            metadata=meta.load(metadata),
            title=title,
            url=url,
            acl=acls.load(principals),
        )
        for source_id, digest, chunks, metadata, title, url, principals in rows
    }


def failures(connection: sqlite3.Connection, shelf: Shelf) -> dict[str, Failure]:
    """Return the noted failures of a collection by source id."""
    rows = connection.execute(
        "SELECT source_id, reason, message FROM failures WHERE collection = ? ORDER BY source_id",
        (shelf.key,),
    )
    return {
        source_id: Failure(source_id=source_id, reason=reason, message=message)
        for source_id, reason, message in rows
    }


def note_failures(connection: sqlite3.Connection, shelf: Shelf, failed: Sequence[Failure]) -> None:
    connection.executemany(
        "INSERT OR REPLACE INTO failures (collection, source_id, reason, message) VALUES (?, ?, ?, ?)",
        [(shelf.key, one.source_id, one.reason, one.message) for one in failed],
    )


def clear_failures(connection: sqlite3.Connection, shelf: Shelf, source_ids: Iterable[str]) -> int:
    """Delete notes of failures; return how many there were."""
    return connection.executemany(
        "DELETE FROM failures WHERE collection = ? AND source_id = ?",
        [(shelf.key, one) for one in source_ids],
    ).rowcount


def cursors(connection: sqlite3.Connection, shelf: Shelf) -> dict[str, str]:
    """Return how far each followed source has been read."""
    rows = connection.execute("SELECT source, cursor FROM cursors WHERE collection = ?", (shelf.key,))
    return dict(rows.fetchall())


def set_cursor(connection: sqlite3.Connection, shelf: Shelf, source: str, cursor: str) -> None:
    """Note how far a source has been read; an empty cursor removes the note."""
    connection.execute("DELETE FROM cursors WHERE collection = ? AND source = ?", (shelf.key, source))
    if cursor:
        connection.execute("INSERT INTO cursors VALUES (?, ?, ?)", (shelf.key, source, cursor))


def count_terms(connection: sqlite3.Connection, shelf: Shelf, added: Mapping[str, int]) -> None:
    """Add to the number of chunks that hold each term; negative numbers take away."""
    connection.executemany(
        "INSERT INTO terms (collection, term, chunks) VALUES (?, ?, ?)"
        " ON CONFLICT (collection, term) DO UPDATE SET chunks = chunks + excluded.chunks",
        [(shelf.key, term, count) for term, count in added.items() if count],
    )
    connection.executemany(
        "DELETE FROM terms WHERE collection = ? AND term = ? AND chunks <= 0",
        [(shelf.key, term) for term, count in added.items() if count < 0],
    )


def containing(connection: sqlite3.Connection, shelves: Sequence[int], terms: Iterable[str]) -> Counter[str]:
    """Return in how many chunks of the collections each term is."""
    counts: Counter[str] = Counter()
    for term in set(terms):
        (counts[term],) = connection.execute(
            f"SELECT coalesce(sum(chunks), 0) FROM terms WHERE collection IN ({marks(shelves)}) AND term = ?",
            (*shelves, term),
        ).fetchone()
    return counts
