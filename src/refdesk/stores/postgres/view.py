"""What a reader sees: collections at one generation each, and whose documents it may read."""

from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from psycopg import sql

from refdesk.documents import Scope
from refdesk.errors import StoreError
from refdesk.stores import shelves
from refdesk.stores.postgres.connecting import Connection, rows
from refdesk.stores.postgres.filter_sql import FALSE, Sql, joined
from refdesk.stores.postgres.texts import escaped, plain


@dataclass(frozen=True, slots=True)
class Part:
    """One collection within a scope, as it was when the reader was opened."""

    key: int
    name: str
    generation: int
    chunk_set: int
    """0 before anything is stored."""
    fingerprint: str
    dimension: int
    next_id: int
    indexed: bool
    """Whether there is an index of its vectors."""
    chunks: int
    """Of all its documents, whoever may read them: scores follow from these."""
    tokens: int
    documents: int
    """Those that may be read."""
    seen: int
    """Chunks of those."""

    @property
    def table(self) -> sql.Identifier:
        return sql.Identifier(f"chunks_{self.chunk_set}")

    @property
    def dead(self) -> sql.Identifier:
        return sql.Identifier(f"dead_{self.chunk_set}")

    @property
    def postings(self) -> sql.Identifier:
        return sql.Identifier(f"postings_{self.chunk_set}")


@dataclass(frozen=True, slots=True)
class View:
    """One published state within a scope."""

    parts: tuple[Part, ...]
    readers: tuple[str, ...] | None
    """Principals as ACLs name them; None where ACLs do not count."""
    languages: tuple[str, ...]

    def part(self, collection: int) -> Part:
        return next(part for part in self.parts if part.key == collection)


def readers_of(scope: Scope) -> tuple[str, ...] | None:
    """Return whom ACLs must name to be read in a scope; None for upkeep."""
    return None if scope.upkeep else tuple(sorted(map(escaped, scope.readers)))


def at(alias: str, generation: int) -> Sql:
    """Return the condition that a version was there at a generation."""
    text = f"{alias}.born <= %s AND ({alias}.died IS NULL OR {alias}.died > %s)"
    return Sql(text, (generation, generation))


def visible(collection: int, generation: int, readers: Sequence[str] | None) -> Sql:
    """Return the condition that record `r` is seen: there at that generation, and open to the readers.

    Open to them now too, and in all versions since: who lost the right to read loses it at once.
    """
    there = Sql("r.collection = %s", (collection,)), at("r", generation)
    if readers is None:
        return joined("AND", there)
    then, since = _open_to("r", readers), _open_to("n", readers)
    kept = Sql(
        "(r.died IS NULL OR NOT EXISTS (SELECT 1 FROM records AS n WHERE n.document = r.document"
        f" AND (n.died IS NULL OR n.died > %s) AND NOT {since.text}))",
        (generation, *since.parameters),
    )
    return joined("AND", (*there, then, kept))


def _open_to(alias: str, readers: Sequence[str]) -> Sql:
    """Return the condition that an ACL names one of the readers; many of them are looked up by hash."""
    if len(readers) <= MANY:
        return Sql(f"{alias}.acl && %s::text[]", (list(readers),))
    text = f"EXISTS (SELECT 1 FROM unnest({alias}.acl) AS named WHERE named = ANY(%s::text[]))"
    return Sql(text, (list(readers),))


def seen(view: View, part: Part) -> Sql:
    """Return the condition that record `r` is seen in a part of a view."""
    return visible(part.key, part.generation, view.readers)


def seen_anywhere(view: View) -> Sql:
    """Return the condition that record `r` is seen in a view."""
    return joined("OR", [seen(view, part) for part in view.parts]) if view.parts else FALSE


def live(part: Part) -> Sql:
    """Return the condition that a chunk `c` was there when the reader was opened."""
    died = f"SELECT true FROM dead_{part.chunk_set} AS x WHERE x.id = c.id AND x.died <= %s"
    return Sql(f"c.id < %s AND ({died}) IS NULL", (part.next_id, part.generation))


@dataclass(frozen=True, slots=True)
class Counts:
    """What is counted when a collection is opened."""

    chunks: int
    tokens: int
    documents: int
    seen: int
    languages: Mapping[str, int]
    """Documents by language, of those that may be read."""


Counted = OrderedDict[tuple[object, ...], Counts]
"""Counts by collection, generation and readers: these follow from nothing else."""
REMEMBERED = 64
MANY = 50
"""Readers up to which each is compared with each name of an ACL."""


async def open_view(connection: Connection, scope: Scope, counted: Counted | None = None) -> View:
    """Note what is published; `counted` remembers counts. Errors: `NotFound` for an unknown collection."""
    readers, known = readers_of(scope), OrderedDict() if counted is None else counted
    parts, languages = list[Part](), Counter[str]()
    for name in dict.fromkeys(scope.collections):
        shelf = await _shelf(connection, name)
        counts = await _counts(connection, shelf, readers, known)
        parts.append(_part(shelf, counts))
        languages.update(counts.languages)
    ordered = sorted(languages, key=lambda each: (-languages[each], each))
    return View(tuple(parts), readers, tuple(each for each in ordered if each != "und"))


_SHELF = """
SELECT c.key, c.name, c.generation, coalesce(s.key, 0), coalesce(s.fingerprint, ''), coalesce(s.dimension, 0),
  coalesce(s.next_id, 0), EXISTS (
    SELECT 1 FROM pg_index AS i JOIN pg_class AS x ON x.oid = i.indexrelid
    WHERE i.indrelid = to_regclass('chunks_' || s.key) AND i.indisvalid
      AND x.relname = 'chunks_' || s.key || '_by_vector'
  )
FROM collections AS c LEFT JOIN chunk_sets AS s ON s.key = c.chunk_set WHERE c.name = %s
"""


async def _shelf(connection: Connection, name: str) -> tuple[Any, ...]:
    found = await rows(connection, _SHELF, (escaped(name),))
    if found:
        return found[0]
    known = await rows(connection, "SELECT name FROM collections WHERE name IS NOT NULL ORDER BY name")
    raise shelves.unknown(name, [plain(each) for (each,) in known])


def _part(shelf: tuple[Any, ...], counts: Counts) -> Part:
    key, name, generation, chunk_set, fingerprint, dimension, next_id, indexed = shelf
    return Part(
        key=key,
        name=plain(name),
        generation=generation,
        chunk_set=chunk_set,
        fingerprint=plain(fingerprint),
        dimension=dimension,
        next_id=next_id,
        indexed=indexed,
        chunks=counts.chunks,
        tokens=counts.tokens,
        documents=counts.documents,
        seen=counts.seen,
    )


async def _counts(
    connection: Connection, shelf: tuple[Any, ...], readers: Sequence[str] | None, counted: Counted
) -> Counts:
    key, generation = shelf[0], shelf[2]
    named = (key, generation, readers)
    if named not in counted:
        counted[named] = await _count(connection, key, generation, readers)
    counted.move_to_end(named)
    while len(counted) > REMEMBERED:
        counted.popitem(last=False)
    return counted[named]


async def _count(connection: Connection, key: int, generation: int, readers: Sequence[str] | None) -> Counts:
    allowed, there = visible(key, generation, readers), at("r", generation)
    statement = (
        "SELECT language, sum(chunks)::bigint, sum(tokens)::bigint, count(*) FILTER (WHERE seen),"
        " coalesce(sum(chunks) FILTER (WHERE seen), 0)::bigint"
        f" FROM (SELECT r.language, r.chunks, r.tokens, {allowed.text} AS seen FROM records AS r"
        f" WHERE r.collection = %s AND {there.text}) AS counted GROUP BY language"
    )
    found = await rows(connection, statement, (*allowed.parameters, key, *there.parameters))
    return Counts(
        chunks=sum(row[1] for row in found),
        tokens=sum(row[2] for row in found),
        documents=sum(row[3] for row in found),
        seen=sum(row[4] for row in found),
        languages={plain(row[0]): row[3] for row in found if row[3]},
    )


async def refuse_passed(connection: Connection, view: View) -> None:
    """Refuse to read a state of which some may have been removed. Errors: `StoreError`."""
    written = [part for part in view.parts if part.generation]
    keys, generations = [part.key for part in written], [part.generation for part in written]
    statement = (
        "SELECT p.collection FROM publications AS p"
        " JOIN unnest(%s::bigint[], %s::bigint[]) AS v (key, number)"
        " ON p.collection = v.key AND p.generation = v.number"
    )
    kept = {key for (key,) in await rows(connection, statement, (keys, generations))}
    for part in written:
        if part.key not in kept:
            raise StoreError(
                f"The state of the collection {part.name!r} that this reader reads was replaced long ago, and"
                " is not kept any more.",
                remedy="Open a new reader.",
            )


async def is_newest(connection: Connection, view: View) -> bool:
    """Tell whether nothing was written since a view was opened."""
    keys = [part.key for part in view.parts]
    found = await rows(connection, "SELECT key, generation FROM collections WHERE key = ANY(%s)", (keys,))
    return dict(found) == {part.key: part.generation for part in view.parts}
