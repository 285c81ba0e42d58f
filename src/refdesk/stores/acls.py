"""Who may read, in the control file. Plain functions over an open transaction.

Documents with the same ACL share a set, so that a scope is told by the few sets that name one of its readers.
"""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from refdesk.documents import Scope

_AMONG = "(SELECT value FROM json_each(?))"
"""Takes any number of values as one parameter."""


SEEN = "seen_acls"
"""A table of the connection's own with the sets that its scope may read."""


@dataclass(frozen=True, slots=True)
class Readable:
    """What a scope may read of the documents in its collections; made for one connection."""

    everything: bool
    """Whether that is all: of upkeep, and where no set in the library hides anything from the scope."""

    @property
    def condition(self) -> str:
        """The condition on a document `d`."""
        return "1" if self.everything else f"d.acl IN {SEEN}"


EVERYTHING = Readable(everything=True)
"""For upkeep."""


def readable(connection: sqlite3.Connection, scope: Scope) -> Readable:
    """Return what a scope may read now, for statements on this connection."""
    if scope.upkeep:
        return EVERYTHING
    connection.execute(f"CREATE TEMP TABLE IF NOT EXISTS {SEEN} (acl INTEGER PRIMARY KEY)")
    connection.execute(f"DELETE FROM {SEEN}")
    connection.execute(
        f"INSERT OR IGNORE INTO {SEEN} SELECT acl FROM readers WHERE principal IN {_AMONG}",
        (json.dumps(sorted(scope.readers), ensure_ascii=False),),
    )
    hides = connection.execute(f"SELECT 1 FROM acls WHERE key NOT IN {SEEN} LIMIT 1").fetchone()
    return Readable(everything=hides is None)


def put(connection: sqlite3.Connection, acl: Sequence[str]) -> int:
    """Return the key of the set with these principals, which is added where it is new."""
    given = json.dumps(acl, ensure_ascii=False)
    found = connection.execute("SELECT key FROM acls WHERE principals = ?", (given,)).fetchone()
    if found:
        return int(found[0])
    key = int(connection.execute("INSERT INTO acls (principals) VALUES (?)", (given,)).lastrowid or 0)
    connection.executemany(
        "INSERT OR IGNORE INTO readers (principal, acl) VALUES (?, ?)", [(name, key) for name in acl]
    )
    return key


def load(principals: str) -> tuple[str, ...]:
    """Return an ACL as it was given."""
    return tuple(json.loads(principals))


def forget(connection: sqlite3.Connection) -> None:
    """Delete the sets that no document has."""
    connection.execute("DELETE FROM acls WHERE key NOT IN (SELECT acl FROM documents)")


def keys(connection: sqlite3.Connection, collection: int, seen: Readable) -> list[int]:
    """Return the keys of the documents of a collection that may be read, ascending."""
    found = connection.execute(
        f"SELECT key FROM documents AS d WHERE collection = ? AND {seen.condition} ORDER BY key",
        (collection,),
    )
    return [key for (key,) in found]


def among(connection: sqlite3.Connection, keys: Iterable[int], seen: Readable) -> set[int]:
    """Return those of some documents that may be read."""
    found = connection.execute(
        f"SELECT key FROM documents AS d WHERE key IN {_AMONG} AND {seen.condition}",
        (json.dumps(sorted(set(keys))),),
    )
    return {key for (key,) in found}


def names(connection: sqlite3.Connection, keys: Sequence[int]) -> list[str]:
    """Return the ids of documents."""
    found = connection.execute(
        f"SELECT document_id FROM documents WHERE key IN {_AMONG}", (json.dumps(keys),)
    )
    return [name for (name,) in found]


def named(connection: sqlite3.Connection, collection: int, names: Sequence[str]) -> set[int]:
    """Return the keys of documents of a collection by their ids."""
    found = connection.execute(
        f"SELECT key FROM documents WHERE collection = ? AND document_id IN {_AMONG}",
        (collection, json.dumps(names)),
    )
    return {key for (key,) in found}


def hidden(connection: sqlite3.Connection, seen: Readable, names: Sequence[str] | None = None) -> list[str]:
    """Return the ids of the documents, all or some, that may not be read."""
    if seen.everything:
        return []
    some = "" if names is None else f" AND document_id IN {_AMONG}"
    found = connection.execute(
        "SELECT document_id FROM documents"
        f" WHERE acl IN (SELECT key FROM acls WHERE key NOT IN {SEEN}){some}",
        () if names is None else (json.dumps(names),),
    )
    return [name for (name,) in found]
