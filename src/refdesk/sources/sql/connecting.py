"""A database that is only read: which one, how it is opened, and errors without passwords."""

import os
import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote

from refdesk.addresses import secrets_of, without_user
from refdesk.errors import SourceError
from refdesk.plugins import load_extra
from refdesk.sources.sql import selects
from refdesk.sources.sql.statements import bound

VARIABLE = re.compile(r"\$\{(\w+)\}")
DRIVERS: Mapping[str, str] = {
    "postgresql": "postgresql+psycopg",
    "postgres": "postgresql+psycopg",
    "mysql": "mysql+pymysql",
    "mariadb": "mysql+pymysql",
    "sqlite": "sqlite",
}
"""What a URL may begin with, and what SQLAlchemy is told."""
TYPES: Mapping[str, str] = {"postgresql": "psycopg", "mysql": "pymysql"}
STREAMED = 500
"""Rows that are fetched from the server at once."""
PACKET = 2**30
"""Bytes that MySQL can send as one row; a server may allow less."""
EXTRA = "sql"


def variables(url: str) -> tuple[str, ...]:
    """Return the environment variables that a URL names and that are not set."""
    return tuple(name for name in VARIABLE.findall(url) if name not in os.environ)


def filled(url: str) -> str:
    """Put in the environment variables; in user and password, signs that mean something are encoded."""
    user, at, rest = url.rpartition("@")
    encoded = VARIABLE.sub(lambda found: quote(os.environ.get(found[1], ""), safe=""), user)
    return encoded + at + VARIABLE.sub(lambda found: os.environ.get(found[1], ""), rest)


def dialect(url: str) -> str:
    """Return which of the three a URL names, empty for another."""
    driver = DRIVERS.get(url.partition(":")[0].partition("+")[0], "")
    return driver.partition("+")[0]


def place(url: str) -> str:
    """Return where a database is, without user, password and options."""
    return without_user(url).partition("?")[0]


class Lost(SourceError):
    """The connection broke; another may do."""


@dataclass
class Connection:
    """One database; see `plan.Database`. Every call opens a connection that can only read, and closes it."""

    url: str
    """With its variables put in."""
    remedy: str = "Check the query and the server."
    """What to do where a query fails."""

    @property
    def dialect(self) -> str:
        return dialect(self.url)

    def columns(self, table: str) -> frozenset[str]:
        with self.reading() as connection:
            inspector = load_extra("sqlalchemy", EXTRA).inspect(connection)
            found = inspector.get_columns(table) if inspector.has_table(table) else ()
            return frozenset(column["name"] for column in found)

    def rows(self, query: str, parameters: Mapping[str, Any] | None = None) -> Iterator[dict[str, Any]]:
        """Yield the rows of a query as they come. Errors: `SourceError`."""
        given = dict(parameters or {})
        for reason, remedy in selects.faults(query, given):
            raise SourceError(f"Cannot read {place(self.url)!r} so: {reason}", remedy=remedy)
        yield from self.stream(bound(query, given))

    def stream(self, statement: Any) -> Iterator[dict[str, Any]]:
        """Yield the rows of a statement; the server sends some at a time. Errors: `SourceError`, `Lost`."""
        with self.reading() as connection:
            result = connection.execution_options(yield_per=STREAMED).execute(statement)
            cursor = result.cursor
            try:
                for row in result.mappings():
                    yield dict(row)
            finally:
                _close(cursor)

    def names(self, statement: Any) -> tuple[str, ...]:
        """Return the columns of a statement."""
        with self.reading() as connection:
            return tuple(connection.execute(statement).keys())

    def loose(self, statement: Any) -> frozenset[str]:
        """Return the columns of a statement that are text in MySQL, where `a` and `A` may be equal."""
        if self.dialect != "mysql":
            return frozenset()
        kinds = load_extra("pymysql.constants.FIELD_TYPE", EXTRA)
        texts = (kinds.VARCHAR, kinds.VAR_STRING, kinds.STRING, kinds.BLOB)
        with self.reading() as connection:
            columns = connection.execute(statement).cursor.description
            return frozenset(column[0] for column in columns if column[1] in texts)

    def one(self, statement: Any) -> Any:
        """Return the one value that a statement gives."""
        with self.reading() as connection:
            return connection.execute(statement).scalar_one()

    @contextmanager
    def reading(self) -> Iterator[Any]:
        """Open a transaction that can only read. Errors: `SourceError` without passwords; `Lost`."""
        sqlalchemy = load_extra("sqlalchemy", EXTRA)
        engine, connection = self.engine, None
        try:
            with engine.connect() as connection:
                yield connection
                connection.rollback()
        except sqlalchemy.exc.SQLAlchemyError as error:
            raise self._failed(error, opened=connection is not None) from None

    def _failed(self, error: Exception, *, opened: bool) -> SourceError:
        said = " ".join(str(getattr(error, "orig", None) or error).split())[:500].rstrip(".")
        for secret in secrets_of(self.url):
            said = said.replace(secret, "***")
        where = place(self.url)
        if not opened:
            remedy = "Check `url:`, and that the server can be reached."
            return SourceError(f"Cannot open the database {where!r}: {said}.", remedy=remedy)
        kind = Lost if getattr(error, "connection_invalidated", False) else SourceError
        return kind(f"Cannot read the database {where!r}: {said}.", remedy=self.remedy)

    @cached_property
    def engine(self) -> Any:
        """Make the engine; it opens nothing yet. Errors: `MissingExtra`, `SourceError`."""
        sqlalchemy = load_extra("sqlalchemy", EXTRA)
        if driver := TYPES.get(self.dialect):
            load_extra(driver, EXTRA)
        scheme, _, rest = self.url.partition(":")
        try:
            url = sqlalchemy.make_url(f"{DRIVERS[scheme.partition('+')[0]]}:{rest}")
        except (sqlalchemy.exc.ArgumentError, ValueError):
            message = f"The address {place(self.url)!r} cannot be read."
            raise SourceError(message, remedy="Percent-encode signs in its password.") from None
        if self.dialect == "sqlite":
            return _sqlite(sqlalchemy, url)
        pool = {"poolclass": sqlalchemy.pool.NullPool}
        if self.dialect == "mysql":
            engine = sqlalchemy.create_engine(url, connect_args=_mysql(), **pool)
            sqlalchemy.event.listen(engine, "do_connect", _in_utf8)
            sqlalchemy.event.listen(engine, "connect", _read_whole)
        else:
            engine = sqlalchemy.create_engine(url, execution_options={"postgresql_readonly": True}, **pool)
            sqlalchemy.event.listen(engine, "connect", _take_any_time)
        return engine


def _close(cursor: Any) -> None:
    """Close a cursor, which a broken connection would leave open."""
    try:
        cursor.close()
    except Exception:  # PyMySQL wants to read the rest first, now and when the result is thrown away
        if (rest := getattr(cursor, "_result", None)) is not None:
            rest.unbuffered_active = False


def _mysql() -> Mapping[str, Any]:
    """Return how MySQL is asked: for all of Unicode, and bits as numbers."""
    converters = load_extra("pymysql.converters", EXTRA)
    bit = load_extra("pymysql.constants.FIELD_TYPE", EXTRA).BIT
    return {"charset": "utf8mb4", "conv": {**converters.conversions, bit: _bits}}


def _in_utf8(dialect: Any, record: Any, positional: Any, given: dict[str, Any]) -> None:
    """Hand a password over as servers compare it; PyMySQL would make Latin-1 of a text."""
    if isinstance(given.get("password"), str):
        given["password"] = given["password"].encode()


def _bits(value: bytes) -> int:
    return int.from_bytes(value, "big")


def _read_whole(connection: Any, record: Any) -> None:
    """Let nothing be written, and GROUP_CONCAT cut nothing off: half of a list of groups is another list."""
    with connection.cursor() as cursor:
        cursor.execute("SET SESSION TRANSACTION READ ONLY")
        cursor.execute(f"SET SESSION group_concat_max_len = {PACKET}")


def _take_any_time(connection: Any, record: Any) -> None:
    """Let times that Python has none for, such as `infinity`, come as text: one must not stop the others."""
    loaders = load_extra("psycopg.types.datetime", EXTRA)
    for name in ("Date", "Timestamp", "Timestamptz"):
        connection.adapters.register_loader(name.lower(), _or_text(getattr(loaders, f"{name}Loader")))


def _or_text(loader: Any) -> type:
    """Return a loader that gives the text of what the usual one cannot read."""
    psycopg = load_extra("psycopg", EXTRA)

    def load(self: Any, data: Any) -> Any:
        try:
            return loader.load(self, data)
        except psycopg.DataError:
            return bytes(data).decode()

    return type(f"{loader.__name__}OrText", (loader,), {"load": load})


def _sqlite(sqlalchemy: Any, url: Any) -> Any:
    """Open a file so that it is neither made nor changed."""
    if not url.database or not os.path.isfile(url.database):
        raise SourceError(f"There is no SQLite file {url.database or ''!r}.", remedy="Check `url:`.")
    address = f"{Path(url.database).absolute().as_uri()}?mode=ro"

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(address, uri=True, check_same_thread=False)
        connection.text_factory = lambda value: value.decode("utf-8", "replace")
        connection.execute("PRAGMA query_only = ON")
        return connection

    return sqlalchemy.create_engine("sqlite://", creator=connect, poolclass=sqlalchemy.pool.NullPool)
