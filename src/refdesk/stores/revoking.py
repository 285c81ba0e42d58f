"""What was taken away from a reader since it was opened: it shows an old state, but not all to everyone."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from refdesk.documents import Scope
from refdesk.stores import acls


@dataclass(slots=True)
class Watch:
    """Looks at the newest state through a connection of its own, once after each write of others."""

    connection: sqlite3.Connection
    scope: Scope
    revoked: set[int] = field(default_factory=set)
    """Keys of documents that the reader's state lets the scope read, and the newest does not."""
    _version: int = -1

    def __post_init__(self) -> None:
        self.sees_a_write()

    def sees_a_write(self) -> bool:
        """Tell whether another connection has written since this was asked last; upkeep need not know."""
        if self.scope.upkeep:
            return False
        known = self._version
        (self._version,) = self.connection.execute("PRAGMA data_version").fetchone()
        return known != self._version

    def look(self, state: sqlite3.Connection, parts: Mapping[int, Sequence[int] | None]) -> None:
        """Bring `revoked` up to date.

        `parts` has what the reader's state lets the scope read by collection, None for all documents.
        """
        self.connection.execute("BEGIN")
        try:
            self.revoked = set(self._revoked(state, parts))
        finally:
            self.connection.execute("COMMIT")

    def _revoked(self, state: sqlite3.Connection, parts: Mapping[int, Sequence[int] | None]) -> Iterator[int]:
        now = acls.readable(self.connection, self.scope)
        for collection, keys in parts.items():
            names = None if keys is None else acls.names(state, keys)
            yield from acls.named(state, collection, acls.hidden(self.connection, now, names))
