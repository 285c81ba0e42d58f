"""Collections whose chunks are made anew, in the control file. Plain functions over an open transaction."""

import sqlite3
import uuid
from collections.abc import Iterable

from refdesk.stores import refusals, shelves
from refdesk.stores.shelves import Shelf


def begin(
    connection: sqlite3.Connection, of: Shelf, fingerprint: str, dimension: int, recipe: str, *, at: float
) -> int:
    """Return the key of the successor that is made in this way; one that is made in another goes."""
    found = connection.execute(
        "SELECT key FROM collections WHERE successor_of = ? AND (fingerprint, dimension, recipe) = (?, ?, ?)",
        (of.key, fingerprint, dimension, recipe),
    ).fetchone()
    if found:
        return int(found[0])
    discard(connection, of, at=at)
    added = connection.execute(
        "INSERT INTO collections (description, folder, fingerprint, dimension, recipe, successor_of)"
        " VALUES ('', ?, ?, ?, ?, ?)",
        (f"{uuid.uuid4().hex}.lance", fingerprint, dimension, recipe, of.key),
    )
    return int(added.lastrowid or 0)


def discard(connection: sqlite3.Connection, of: Shelf, *, at: float) -> None:
    """Delete the successor of a collection, if there is one."""
    folders = connection.execute(
        "SELECT folder FROM collections WHERE successor_of = ?", (of.key,)
    ).fetchall()
    connection.execute("DELETE FROM collections WHERE successor_of = ?", (of.key,))
    for (folder,) in folders:
        shelves.leave(connection, folder, at=at)


def successor(connection: sqlite3.Connection, of: Shelf, key: int) -> Shelf:
    """Return a successor, by the name of its collection. Errors: `StoreError` where it is gone."""
    found = connection.execute(
        "SELECT key, ?, folder, fingerprint, dimension, version, generation, exact FROM collections"
        " WHERE key = ? AND successor_of = ?",
        (of.name, key, of.key),
    ).fetchone()
    if found is None:
        raise refusals.no_successor(of.name)
    return Shelf(*found)


def of(connection: sqlite3.Connection, shelf: Shelf) -> Shelf | None:
    """Return the successor of a collection, None where there is none."""
    found = connection.execute("SELECT key FROM collections WHERE successor_of = ?", (shelf.key,)).fetchone()
    return successor(connection, shelf, found[0]) if found else None


def missing(connection: sqlite3.Connection, of: Shelf) -> tuple[str, ...]:
    """Return the sources of a collection that its successor lacks."""
    rows = connection.execute(
        "SELECT source_id FROM documents WHERE collection = ?"
        " AND NOT EXISTS (SELECT 1 FROM remade WHERE document = documents.key) ORDER BY source_id",
        (of.key,),
    )
    return tuple(source_id for (source_id,) in rows)


def note(
    connection: sqlite3.Connection, made: Shelf, document: int, *, digest: str, chunks: int, tokens: int
) -> None:
    """Note that the chunks of a document have been made anew."""
    connection.execute(
        "INSERT OR REPLACE INTO remade (document, successor, digest, chunks, tokens) VALUES (?, ?, ?, ?, ?)",
        (document, made.key, digest, chunks, tokens),
    )


def unnote(connection: sqlite3.Connection, documents: Iterable[int]) -> None:
    """Count documents as missing again."""
    connection.executemany("DELETE FROM remade WHERE document = ?", [(key,) for key in documents])


def noted(connection: sqlite3.Connection, made: Shelf) -> dict[int, int]:
    """Return how many chunks a successor has of each of its documents, by document key."""
    return dict(
        connection.execute("SELECT document, chunks FROM remade WHERE successor = ?", (made.key,)).fetchall()
    )


def succeed(
    connection: sqlite3.Connection, of: Shelf, made: Shelf, version: int, *, exact: bool, at: float
) -> None:
    """Put a successor in the place of its collection; the old folder is left to its readers."""
    connection.execute(
        "UPDATE documents SET (digest, chunks, tokens) ="
        " (SELECT digest, chunks, tokens FROM remade WHERE document = documents.key) WHERE collection = ?",
        (of.key,),
    )
    connection.execute("DELETE FROM terms WHERE collection = ?", (of.key,))
    connection.execute("UPDATE terms SET collection = ? WHERE collection = ?", (of.key, made.key))
    connection.execute("DELETE FROM collections WHERE key = ?", (made.key,))
    connection.execute(
        "UPDATE collections SET folder = ?, fingerprint = ?, dimension = ?, version = ?, exact = ?,"
        " generation = ? WHERE key = ?",
        (
            *(made.folder, made.fingerprint, made.dimension, version, version if exact else -1),
            *(max(of.generation, made.generation) + 1, of.key),
        ),
    )
    shelves.leave(connection, of.folder, at=at)
