"""The URL of a library in Postgres: what psycopg takes of it, our own parameter, and how it is shown."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

from refdesk.errors import InputError

SCHEMA = "refdesk"
LONGEST_NAME = 63
"""Bytes that Postgres keeps of a name."""
PORTS = r"[0-9,]*"
DEFAULTS: Mapping[str, str | int] = {"application_name": "refdesk", "connect_timeout": 10}
FIXED: Mapping[str, str | int] = {"client_encoding": "UTF8"}
ENCODE = (
    "Write special characters of user and password as %XX: `@` as %40, `/` as %2F, `:` as %3A, `#` as %23."
)


@dataclass(frozen=True, slots=True)
class Address:
    """Where a library is. `str` of it shows no password."""

    parameters: Mapping[str, str | int]
    schema: str
    shown: str

    def __str__(self) -> str:
        return self.shown

    def __repr__(self) -> str:
        return f"Address({self.shown!r})"


def read_address(url: str) -> Address:
    """Read a URL such as postgresql://user@host/database?schema=refdesk. Errors: `InputError`."""
    try:
        parts = urlsplit(url)
    except ValueError:
        raise _unreadable() from None
    if _is_broken(parts):
        raise _unreadable()
    asked = parse_qsl(parts.query, keep_blank_values=True)
    names = [value for key, value in asked if key == "schema"]
    schema = _checked(names[-1] if names else SCHEMA)
    rest = urlencode([pair for pair in asked if pair[0] != "schema"])
    try:
        given = conninfo_to_dict(f"postgresql://{parts.netloc}{parts.path}?{rest}")
    except (ProgrammingError, UnicodeError):  # its message may quote a part of the password
        raise _unreadable() from None
    if not re.fullmatch(PORTS, str(given.get("port") or "")):
        raise _unreadable()
    named = {key: value for key, value in given.items() if value is not None}
    parameters = {**DEFAULTS, **named, **FIXED}
    return Address(parameters, schema, _shown(parameters, schema))


def _is_broken(parts: SplitResult) -> bool:
    """Tell whether a character of a password has ended what it is in: then it would be taken for a host."""
    misplaced = "@" in parts.path or (parts.netloc.count("@") != 1 and "@" in parts.netloc + parts.query)
    return misplaced or bool(parts.fragment)


def _unreadable() -> InputError:
    return InputError(
        "The URL of the library cannot be read; postgresql://USER:PASSWORD@HOST:PORT/DATABASE is expected,"
        " with parameters of libpq and `schema` after a `?`.",
        remedy=ENCODE,
    )


def _checked(schema: str) -> str:
    reserved = schema.startswith("pg_") or schema in ("public", "information_schema")
    if schema and not reserved and "\0" not in schema and len(schema.encode()) <= LONGEST_NAME:
        return schema
    raise InputError(
        f"Cannot keep a library in the schema {schema!r}; a name of its own is needed, of 1 to {LONGEST_NAME}"
        " bytes, not `public` and not beginning with `pg_`.",
        remedy=f"Name it in the URL: ?schema={SCHEMA}",
    )


def _shown(parameters: Mapping[str, str | int], schema: str) -> str:
    host = str(parameters.get("host", ""))
    aside = {"host": host if host.startswith("/") else "", "schema": "" if schema == SCHEMA else schema}
    user = f"{parameters['user']}@" if "user" in parameters else ""
    port = f":{parameters['port']}" if "port" in parameters else ""
    query = "&".join(f"{name}={value}" for name, value in aside.items() if value)
    place = f"{'' if aside['host'] else host}{port}/{parameters.get('dbname', '')}"
    return f"postgresql://{user}{place}{'?' if query else ''}{query}"
