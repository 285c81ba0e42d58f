"""The statements around a query: some columns, from some point on, in order. Values are parameters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from refdesk.plugins import load_extra
from refdesk.sources.sql import selects

ROWS = "refdesk_rows"
DELETED = "refdesk_deleted"
"""The column of a condition that tells what is gone."""


@dataclass(frozen=True)
class Query:
    """One SELECT whose columns are known, as a subquery."""

    text: str
    parameters: Mapping[str, Any]
    names: tuple[str, ...]
    deleted_sql: str = ""
    loose: frozenset[str] = frozenset()
    """Columns whose order says nothing about case or accents, so that different values may be equal."""

    @cached_property
    def _sql(self) -> Any:
        return load_extra("sqlalchemy", "sql")

    @cached_property
    def _rows(self) -> Any:
        columns = [self._sql.column(name) for name in self.names]
        return bound(self.text, self.parameters).columns(*columns).subquery(ROWS)

    def _column(self, name: str) -> Any:
        return self._rows.c[name]

    def select(self, names: Sequence[str]) -> Any:
        """Return a statement for some columns of all rows, with what tells whether they are gone."""
        wanted = [self._column(name) for name in names]
        if self.deleted_sql:
            wanted.append(self._sql.literal_column(f"({self.deleted_sql}\n)").label(DELETED))
        return self._sql.select(*wanted).select_from(self._rows)

    def count(self, *conditions: Any) -> Any:
        """Return a statement that counts rows."""
        return self._sql.select(self._sql.func.count()).select_from(self._rows).where(*conditions)

    def present(self, names: Sequence[str]) -> Any:
        return self._sql.and_(self._sql.true(), *(self._column(name).is_not(None) for name in names))

    def absent(self, names: Sequence[str]) -> Any:
        return self._sql.or_(self._sql.false(), *(self._column(name).is_(None) for name in names))

    def since(self, name: str, value: Any) -> Any:
        return self._column(name) >= value

    def ordered(self, statement: Any, names: Sequence[str], limit: int) -> Any:
        return statement.order_by(*(column for column, _ in self._places(names, names))).limit(limit)

    def after(self, names: Sequence[str], values: Sequence[Any]) -> Any:
        """Return the condition that a row comes later than one with these values."""
        places = self._places(names, values)
        same = [column == value for column, value in places]
        later = [column > value for column, value in places]
        return self._sql.or_(*(self._sql.and_(*same[:at], one) for at, one in enumerate(later)))

    def _places(self, names: Sequence[str], values: Sequence[Any]) -> list[tuple[Any, Any]]:
        """Return what rows are ordered by, each with a value: columns, then the bytes of loose ones."""
        bytewise = [at for at, name in enumerate(names) if name in self.loose]
        columns = [(self._column(name), value) for name, value in zip(names, values, strict=True)]
        return columns + [tuple(self._bytes(one) for one in columns[at]) for at in bytewise]

    def _bytes(self, value: Any) -> Any:
        """Return a text's bytes in the character set of the connection, whatever that of the column is."""
        given = self._sql.literal(value) if isinstance(value, str) else value
        return self._sql.cast(self._sql.cast(given, self._sql.String), self._sql.LargeBinary)

    def among(self, names: Sequence[str], keys: Sequence[Sequence[Any]]) -> Any:
        """Return the condition that a row has one of these keys."""
        if len(names) == 1:
            return self._column(names[0]).in_([key[0] for key in keys])
        columns = [self._column(name) for name in names]
        return self._sql.or_(
            *(self._sql.and_(*(c == v for c, v in zip(columns, key, strict=True))) for key in keys)
        )


def bound(text: str, parameters: Mapping[str, Any]) -> Any:
    """Return a query of somebody's as a statement, with its own parameters."""
    statement = load_extra("sqlalchemy", "sql").text(selects.prepared(text))
    return statement.bindparams(**{name: parameters[name] for name in selects.parameters(text)})


def nothing_of(text: str, parameters: Mapping[str, Any]) -> Any:
    """Return a statement that gives the columns of a query and no rows."""
    sql = load_extra("sqlalchemy", "sql")
    rows = bound(text, parameters).columns().subquery(ROWS)
    return sql.select(sql.text("*")).select_from(rows).where(sql.false())
