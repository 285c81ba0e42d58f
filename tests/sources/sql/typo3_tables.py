"""A TYPO3 installation, and a few lines to fill it: what is not given is as the tables have it by default."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from sqlalchemy import Engine, MetaData, create_engine
from tests.sources.sql.typo3_shapes import tables

from refdesk.sources.sql.connecting import DRIVERS

START = 1_700_000_000
KINDS = ("sqlite-13", "postgres-12", "postgres-13", "mariadb-12", "mariadb-13")
"""Databases, each with the tables of a version."""


@dataclass
class Installation:
    """A TYPO3 database. The clock goes on by a minute with every change."""

    url: str
    engine: Engine
    meta: MetaData
    clock: int = START

    def add(self, table: str, **values: Any) -> int:
        """Add a record and return its uid."""
        self.clock += 60
        given = {"tstamp": self.clock, "crdate": self.clock, **values}
        with self.engine.begin() as connection:
            made = connection.execute(self.meta.tables[table].insert().values(**given))
        assert made.inserted_primary_key is not None
        return int(made.inserted_primary_key[0])

    def change(self, name: str, uid: int, *, touch: bool = True, **values: Any) -> None:
        """Change a record, with its time of change unless it is not touched."""
        self.clock += 60
        given = {**({"tstamp": self.clock} if touch else {}), **values}
        table = self.meta.tables[name]
        with self.engine.begin() as connection:
            connection.execute(table.update().where(table.c.uid == uid).values(**given))

    def page(self, title: str, pid: int, **values: Any) -> int:
        slug = "/" if pid == 0 else "/" + title.lower().replace(" ", "-")
        return self.add("pages", **{"title": title, "pid": pid, "slug": slug, "doktype": 1, **values})

    def translated(self, page: int, title: str, language: int, **values: Any) -> int:
        """Add a page in another language; it lies where its original lies."""
        pages = self.meta.tables["pages"]
        with self.engine.begin() as connection:
            pid = connection.execute(pages.select().where(pages.c.uid == page)).mappings().one()["pid"]
        given = {"l10n_parent": page, "l10n_source": page, "sys_language_uid": language, **values}
        return self.page(title, int(pid), **given)

    def element(self, page: int, text: str, **values: Any) -> int:
        given = {"pid": page, "CType": "text", "bodytext": f"<p>{text}</p>", "sorting": self.clock, **values}
        return self.add("tt_content", **given)

    def group(self, uid: int, title: str, **values: Any) -> int:
        return self.add("fe_groups", uid=uid, title=title, **values)


@contextmanager
def installation(url: str, version: int) -> Iterator[Installation]:
    """Make the tables in an empty database."""
    scheme, _, rest = url.partition(":")
    engine, meta = create_engine(f"{DRIVERS[scheme]}:{rest}"), tables(version)
    try:
        meta.create_all(engine)
        yield Installation(url, engine, meta)
    finally:
        engine.dispose()


@contextmanager
def of_kind(kind: str, request: pytest.FixtureRequest) -> Iterator[Installation]:
    """Make an installation with a root page 1 in a database of a kind."""
    database, version = kind.split("-")
    path = request.getfixturevalue("tmp_path") / "typo3.sqlite"
    url = f"sqlite:///{path}" if database == "sqlite" else request.getfixturevalue(database)
    with installation(url, int(version)) as made:
        assert made.page("Home", 0, is_siteroot=1) == 1
        yield made
