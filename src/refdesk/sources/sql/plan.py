"""What a preset hands to the SQL source: what is read, and how a row becomes a document."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

Row = Mapping[str, Any]
"""Column to value."""


class Database(Protocol):
    """A database that is only read."""

    @property
    def dialect(self) -> str:
        """`postgresql`, `mysql` (MariaDB too) or `sqlite`."""
        ...

    def columns(self, table: str) -> frozenset[str]:
        """Return the columns of a table, none where there is no such table."""
        ...

    def rows(self, query: str, parameters: Mapping[str, Any] = ...) -> Iterator[dict[str, Any]]:
        """Yield the rows of one SELECT, which may name its parameters as `:name`. Errors: `SourceError`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One run over a database."""

    query: str
    """One SELECT; what its conditions leave out is gone."""
    map: Mapping[str, Any]
    """What each column is, as below `map:` in a file."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    finish: Callable[[Row], Row] | None = None
    """Changes a row before it is mapped. Errors: `SourceError`, and the row fails by itself.

    Not called where only ids and ACLs are read: those, `deleted` and `updated_at` are columns of the query.
    """
    adds: tuple[str, ...] = ()
    """Columns that `finish` adds."""
    principals: Callable[[Database], Iterable[tuple[str, Sequence[str]]]] | None = None
    """Yields ids, as `map` makes them, with who may read each; instead of `map`'s `acl`."""


class Preset(Protocol):
    """A database whose tables are known: a frozen dataclass, its fields the options."""

    kind: ClassVar[str]

    def plan(self, database: Database) -> Plan:
        """Look at the tables and say what is read. Errors: `SourceError` where it is not such a database."""
        ...
