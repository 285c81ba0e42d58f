"""Collections in the control file. Plain functions over an open transaction."""

import difflib
import sqlite3
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from refdesk.documents import Collection
from refdesk.errors import NotFound


@dataclass(frozen=True, slots=True)
class Shelf:
    """A collection as writers and readers need it: where its chunks are, in which space, which version."""

    key: int
    name: str
    folder: str
    fingerprint: str
    dimension: int
    version: int
    generation: int
    exact: int

    @property
    def ranks_exactly(self) -> bool:
        """Whether the text index orders by BM25 of just these chunks."""
        return self.exact == self.version


def create(connection: sqlite3.Connection, name: str, description: str) -> None:
    """Add a collection, or give an existing one the description where that is not empty."""
    connection.execute(
        "INSERT INTO collections (name, description, folder) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE"
        " SET description = excluded.description WHERE excluded.description <> ''",
        (name, description, f"{uuid.uuid4().hex}.lance"),
    )


def shelf(connection: sqlite3.Connection, name: str) -> Shelf:
    """Return a collection. Errors: `NotFound`, with the nearest name."""
    found = connection.execute(
        "SELECT key, name, folder, fingerprint, dimension, version, generation, exact FROM collections"
        " WHERE name = ?",
        (name,),
    ).fetchone()
    if found is None:
        raise unknown(name, [one.name for one in all_shelves(connection)])
    return Shelf(*found)


def all_shelves(connection: sqlite3.Connection) -> tuple[Shelf, ...]:
    """Return all collections, without successors."""
    names = connection.execute("SELECT name FROM collections WHERE name IS NOT NULL ORDER BY name").fetchall()
    return tuple(shelf(connection, name) for (name,) in names)


def unknown(name: str, known: Sequence[str]) -> NotFound:
    """Return the error for a collection that does not exist, with the nearest name."""
    nearest = difflib.get_close_matches(name, known, n=1)
    if nearest:
        remedy = f"Did you mean {nearest[0]!r}?"
    elif known:
        remedy = f"There are: {', '.join(sorted(known))}. Name one, or set REFDESK_COLLECTION."
    else:
        remedy = "There is no collection yet; ingest something first: refdesk ingest PATH"
    return NotFound(f"There is no collection {name!r}.", remedy=remedy)


_COLLECTION = (
    "SELECT c.name, c.description, c.fingerprint, count(d.key), coalesce(sum(d.chunks), 0), c.key"
    " FROM collections AS c LEFT JOIN documents AS d ON d.collection = c.key"
)


def collections(connection: sqlite3.Connection) -> tuple[Collection, ...]:
    """Return all collections by name, with counts of all documents, whoever may read them."""
    rows = connection.execute(
        f"{_COLLECTION} WHERE c.name IS NOT NULL GROUP BY c.key ORDER BY c.name"
    ).fetchall()
    return tuple(_collection(connection, *row) for row in rows)


def collection(connection: sqlite3.Connection, name: str) -> Collection:
    """Return a collection with counts. Errors: `NotFound`, with the nearest name."""
    key = shelf(connection, name).key
    return _collection(
        connection, *connection.execute(f"{_COLLECTION} WHERE c.key = ? GROUP BY c.key", (key,)).fetchone()
    )


def _collection(
    connection: sqlite3.Connection,
    name: str,
    description: str,
    fingerprint: str,
    documents: int,
    chunks: int,
    key: int,
) -> Collection:
    return Collection(
        name=name,
        description=description,
        fingerprint=fingerprint,
        documents=documents,
        chunks=chunks,
        languages=languages(connection, key),
    )


def languages(connection: sqlite3.Connection, collection: int) -> tuple[str, ...]:
    """Return the known languages of all documents, most frequent first."""
    rows = connection.execute(
        "SELECT language FROM documents WHERE collection = ? AND language <> 'und'"
        " GROUP BY language ORDER BY count(*) DESC, language",
        (collection,),
    )
    return tuple(language for (language,) in rows)


def marks(values: Sequence[object]) -> str:
    """Return the parameters of an SQL list."""
    return ", ".join("?" * len(values))


def set_space(connection: sqlite3.Connection, shelf: Shelf, fingerprint: str, dimension: int) -> None:
    """Note the embedding space of a collection."""
    connection.execute(
        "UPDATE collections SET fingerprint = ?, dimension = ? WHERE key = ?",
        (fingerprint, dimension, shelf.key),
    )


def publish(
    connection: sqlite3.Connection, shelf: Shelf, version: int, *, at: float, exact: bool = False
) -> None:
    """Make a version of the chunks the one that readers open; the last statement of a write."""
    connection.execute(
        "INSERT OR REPLACE INTO superseded (folder, version, at) SELECT folder, version, ? FROM collections"
        " WHERE key = ? AND version NOT IN (0, ?)",
        (at, shelf.key, version),
    )
    connection.execute(
        "UPDATE collections SET version = ?, exact = ?, generation = generation + 1 WHERE key = ?",
        (version, version if exact else -1, shelf.key),
    )


def remove(connection: sqlite3.Connection, shelf: Shelf, *, at: float) -> None:
    """Delete a collection and its successor, with all that the control file holds of them."""
    folders = connection.execute(
        "SELECT folder FROM collections WHERE ? IN (key, successor_of)", (shelf.key,)
    ).fetchall()
    connection.execute("DELETE FROM collections WHERE key = ?", (shelf.key,))
    for (folder,) in folders:
        leave(connection, folder, at=at)


def leave(connection: sqlite3.Connection, folder: str, *, at: float) -> None:
    """Note that a folder is needed no more except by readers; `dropped` names it when they are gone."""
    connection.execute("DELETE FROM superseded WHERE folder = ?", (folder,))
    connection.execute("INSERT INTO superseded (folder, version, at) VALUES (?, 0, ?)", (folder, at))


def dropped(connection: sqlite3.Connection, *, before: float) -> list[str]:
    """Return the folders that were left before a time."""
    rows = connection.execute("SELECT folder FROM superseded WHERE version = 0 AND at < ?", (before,))
    return [folder for (folder,) in rows]


def kept(connection: sqlite3.Connection, shelf: Shelf, *, since: float) -> set[int]:
    """Return the versions that readers may hold: those that were replaced since a time."""
    rows = connection.execute(
        "SELECT version FROM superseded WHERE folder = ? AND at >= ?", (shelf.folder, since)
    )
    return {version for (version,) in rows}


def forget(connection: sqlite3.Connection, *, before: float) -> None:
    """Delete the notes of versions and folders that are gone."""
    connection.execute("DELETE FROM superseded WHERE at < ?", (before,))
