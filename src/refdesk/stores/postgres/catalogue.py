"""Collections and their sets of chunks. Functions over an open transaction."""

from dataclasses import dataclass
from typing import Any

from psycopg import sql

from refdesk.documents import Collection
from refdesk.errors import EmbeddingMismatch, InputError, StoreError
from refdesk.stores import refusals, shelves
from refdesk.stores.postgres.connecting import Connection, one, rows
from refdesk.stores.postgres.texts import escaped, plain

LONGEST_NAME = 1000
"""Bytes of a collection's name."""
MOST_DIMENSIONS = 16_000
"""Of a vector of pgvector."""


@dataclass(frozen=True, slots=True)
class Place:
    """A collection as writers need it. A collection that was never written to has no set of chunks."""

    key: int
    name: str
    generation: int
    chunk_set: int | None
    fingerprint: str
    dimension: int
    next_id: int


@dataclass(frozen=True, slots=True)
class Made:
    """A set of chunks that is made beside the one that is read."""

    key: int
    fingerprint: str
    dimension: int
    next_id: int


def chunks_table(chunk_set: int) -> sql.Identifier:
    """Return the name of the table with the chunks of a set."""
    return sql.Identifier(f"chunks_{chunk_set}")


def dead_table(chunk_set: int) -> sql.Identifier:
    """Return the name of the table of those chunks of a set that died, with when they did."""
    return sql.Identifier(f"dead_{chunk_set}")


def postings_table(chunk_set: int) -> sql.Identifier:
    """Return the name of the table with the postings of a set."""
    return sql.Identifier(f"postings_{chunk_set}")


CURRENT = "NOT EXISTS (SELECT 1 FROM {dead} AS x WHERE x.id = c.id)"
"""The condition that a chunk `c` has not died."""


def tables(chunk_set: int) -> dict[str, sql.Identifier]:
    """Return the tables with the chunks of a set, by what statements call them."""
    return {"chunks": chunks_table(chunk_set), "dead": dead_table(chunk_set)}


async def create(connection: Connection, name: str, description: str) -> None:
    """Add a collection, or give an existing one the description where that is not empty."""
    if len(name.encode()) > LONGEST_NAME:
        raise InputError(
            f"Cannot create a collection whose name has {len(name.encode())} bytes; {LONGEST_NAME} are"
            " allowed."
        )
    await connection.execute(
        "INSERT INTO collections (name, description) VALUES (%s, %s) ON CONFLICT (name) DO UPDATE"
        " SET description = excluded.description WHERE excluded.description <> ''",
        (escaped(name), escaped(description)),
    )


async def place(connection: Connection, name: str) -> Place:
    """Return a collection. Errors: `NotFound`, with the nearest name."""
    found = await one(
        connection,
        "SELECT c.key, c.generation, s.key, coalesce(s.fingerprint, ''), coalesce(s.dimension, 0),"
        " coalesce(s.next_id, 1)"
        " FROM collections AS c LEFT JOIN chunk_sets AS s ON s.key = c.chunk_set WHERE c.name = %s",
        (escaped(name),),
    )
    if found is None:
        known = await rows(connection, "SELECT name FROM collections WHERE name IS NOT NULL ORDER BY name")
        raise shelves.unknown(name, [plain(each) for (each,) in known])
    key, generation, chunk_set, fingerprint, dimension, next_id = found
    return Place(key, name, generation, chunk_set, plain(fingerprint), dimension, next_id)


_COLLECTION = """
SELECT c.name, c.description, coalesce(s.fingerprint, ''), counted.documents, counted.chunks,
       array(SELECT language FROM records WHERE collection = c.key AND died IS NULL AND language <> 'und'
             GROUP BY language ORDER BY count(*) DESC, language)
FROM collections AS c LEFT JOIN chunk_sets AS s ON s.key = c.chunk_set
CROSS JOIN LATERAL (SELECT count(*) AS documents, coalesce(sum(chunks), 0) AS chunks
                    FROM records WHERE collection = c.key AND died IS NULL) AS counted
WHERE c.name IS NOT NULL AND (%(name)s::text IS NULL OR c.name = %(name)s)
ORDER BY c.name
"""


async def collections(connection: Connection, name: str | None = None) -> tuple[Collection, ...]:
    """Return all collections by name, or one, with counts."""
    asked = {"name": None if name is None else escaped(name)}
    return tuple(_collection(*row) for row in await rows(connection, _COLLECTION, asked))


def _collection(
    name: str, description: str, fingerprint: str, documents: int, chunks: int, languages: list[str]
) -> Collection:
    return Collection(
        name=plain(name),
        description=plain(description),
        fingerprint=plain(fingerprint),
        documents=documents,
        chunks=int(chunks),
        languages=tuple(map(plain, languages)),
    )


def refuse_space(place: Place, fingerprint: str, dimension: int) -> None:
    """Refuse vectors of another space or width. Errors: `EmbeddingMismatch`, `InputError`."""
    refusals.mismatch(Collection(name=place.name, fingerprint=place.fingerprint), fingerprint)
    refuse_dimension(dimension)
    if place.chunk_set is not None and place.dimension != dimension:
        raise EmbeddingMismatch(
            f"The collection {place.name!r} has vectors of {place.dimension} dimensions, these have"
            f" {dimension}.",
            remedy=refusals.reembed(place.name),
        )


def refuse_dimension(dimension: int) -> None:
    """Refuse what no column can hold. Errors: `InputError`."""
    if not 1 <= dimension <= MOST_DIMENSIONS:
        raise InputError(
            f"Cannot keep vectors of {dimension} dimensions in Postgres; 1 to {MOST_DIMENSIONS} are allowed."
        )


async def add_set(
    connection: Connection, collection: int, state: str, fingerprint: str, dimension: int, recipe: str = ""
) -> int:
    """Make a set of chunks with its tables; return its key."""
    refuse_dimension(dimension)
    added = await one(
        connection,
        "INSERT INTO chunk_sets (collection, state, fingerprint, dimension, recipe)"
        " VALUES (%s, %s, %s, %s, %s) RETURNING key",
        (collection, state, escaped(fingerprint), dimension, escaped(recipe)),
    )
    key = int(_given(added)[0])
    await connection.execute("SELECT make_chunks(%s, %s)", (key, dimension))
    return key


def _given(row: tuple[Any, ...] | None) -> tuple[Any, ...]:
    if row is None:
        raise StoreError("The server gave no answer where it must.")
    return row


async def remove_set(connection: Connection, key: int) -> None:
    """Remove a set of chunks with its tables; no reader may hold it."""
    await connection.execute("SELECT drop_chunks(%s)", (key,))
    await connection.execute("DELETE FROM chunk_sets WHERE key = %s", (key,))


async def publish(connection: Connection, collection: int, generation: int) -> None:
    """Make a generation the one that readers open; the last of a write."""
    await connection.execute(
        "UPDATE collections SET generation = %s WHERE key = %s", (generation, collection)
    )
    await connection.execute(
        "INSERT INTO publications (collection, generation) VALUES (%s, %s)", (collection, generation)
    )


async def size(connection: Connection) -> int:
    """Return the bytes of all tables with their indexes."""
    found = await one(
        connection,
        "SELECT sum(pg_total_relation_size(oid))::bigint FROM pg_class"
        " WHERE relnamespace = quote_ident(current_schema())::regnamespace AND relkind = 'r'",
    )
    return int(_given(found)[0])
