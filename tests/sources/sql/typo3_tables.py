"""A TYPO3 installation: pages, content elements and groups as version 12 and 13 create them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Column, Engine, Integer, MetaData, SmallInteger, String, Table, Text, create_engine

START = 1_700_000_000
META = MetaData()


def _numbers(*names: str) -> Iterator[Column[Any]]:
    for name in names:
        yield Column(name, Integer, nullable=False, server_default="0")


def _flags(*names: str) -> Iterator[Column[Any]]:
    for name in names:
        yield Column(name, SmallInteger, nullable=False, server_default="0")


def _lines(*names: str, length: int = 255) -> Iterator[Column[Any]]:
    for name in names:
        yield Column(name, String(length), nullable=False, server_default="")


def _texts(*names: str) -> Iterator[Column[Any]]:
    for name in names:
        yield Column(name, Text)


PAGES = Table(
    "pages",
    META,
    Column("uid", Integer, primary_key=True, autoincrement=True),
    *_numbers(
        "pid", "tstamp", "crdate", "starttime", "endtime", "sorting", "sys_language_uid", "l10n_parent"
    ),
    *_numbers("l10n_source", "t3_origuid", "t3ver_oid", "t3ver_wsid", "perms_userid", "perms_groupid"),
    *_numbers("doktype", "shortcut", "shortcut_mode", "content_from_pid", "mount_pid", "lastUpdated"),
    *_numbers("newUntil", "cache_timeout", "SYS_LASTCHANGED", "media", "tx_impexp_origuid"),
    *_flags(
        "deleted", "hidden", "t3ver_state", "editlock", "is_siteroot", "php_tree_stop", "extendToSubpages"
    ),
    *_flags("nav_hide", "no_search", "l18n_cfg", "mount_pid_ol", "no_index", "no_follow"),
    Column("fe_group", String(255), nullable=False, server_default="0"),
    *_lines("title", "subtitle", "nav_title", "target", "url", "author", "author_email", "module", "layout"),
    *_lines("backend_layout", "seo_title", "cache_tags"),
    *_texts("slug", "TSconfig", "keywords", "description", "abstract", "rowDescription", "l10n_diffsource"),
)
CONTENT = Table(
    "tt_content",
    META,
    Column("uid", Integer, primary_key=True, autoincrement=True),
    *_numbers(
        "pid", "tstamp", "crdate", "starttime", "endtime", "sorting", "sys_language_uid", "l18n_parent"
    ),
    *_numbers("l10n_source", "t3_origuid", "t3ver_oid", "t3ver_wsid", "t3ver_stage", "colPos", "date"),
    *_numbers("image", "assets", "imagewidth", "tx_impexp_origuid"),
    *_flags("deleted", "hidden", "t3ver_state", "editlock", "sectionIndex", "bullets_type"),
    *_flags("table_enclosure", "table_header_position", "table_tfoot", "header_layout"),
    Column("table_delimiter", SmallInteger, nullable=False, server_default="124"),
    Column("fe_group", String(255), nullable=False, server_default="0"),
    *_lines("CType", "header", "header_position", "subheader", "header_link", "frame_class", "list_type"),
    *_texts("bodytext", "records", "pages", "pi_flexform", "rowDescription", "l18n_diffsource"),
)
GROUPS = Table(
    "fe_groups",
    META,
    Column("uid", Integer, primary_key=True, autoincrement=True),
    *_numbers("pid", "tstamp", "crdate"),
    *_flags("deleted", "hidden"),
    *_lines("title"),
    *_texts("subgroup", "description", "TSconfig"),
)


@dataclass
class Installation:
    """A TYPO3 database. The clock goes on by a minute with every change."""

    url: str
    engine: Engine
    clock: int = START

    def add(self, table: Table, **values: Any) -> int:
        """Add a record and return its uid."""
        self.clock += 60
        given = {"tstamp": self.clock, "crdate": self.clock, **values}
        with self.engine.begin() as connection:
            made = connection.execute(table.insert().values(**given))
        assert made.inserted_primary_key is not None
        return int(made.inserted_primary_key[0])

    def change(self, table: Table, uid: int, *, touch: bool = True, **values: Any) -> None:
        """Change a record, with its time of change unless it is not touched."""
        self.clock += 60
        given = {**({"tstamp": self.clock} if touch else {}), **values}
        with self.engine.begin() as connection:
            connection.execute(table.update().where(table.c.uid == uid).values(**given))

    def page(self, title: str, pid: int, **values: Any) -> int:
        slug = "/" if pid == 0 else "/" + title.lower().replace(" ", "-")
        return self.add(PAGES, **{"title": title, "pid": pid, "slug": slug, "doktype": 1, **values})

    def translated(self, page: int, title: str, language: int, **values: Any) -> int:
        """Add a page in another language; it lies where its original lies."""
        with self.engine.begin() as connection:
            pid = connection.execute(PAGES.select().where(PAGES.c.uid == page)).mappings().one()["pid"]
        given = {"l10n_parent": page, "l10n_source": page, "sys_language_uid": language, **values}
        return self.page(title, int(pid), **given)

    def element(self, page: int, text: str, **values: Any) -> int:
        given = {"pid": page, "CType": "text", "bodytext": f"<p>{text}</p>", "sorting": self.clock, **values}
        return self.add(CONTENT, **given)

    def group(self, uid: int, title: str, **values: Any) -> int:
        return self.add(GROUPS, uid=uid, title=title, **values)


@contextmanager
def installation(url: str) -> Iterator[Installation]:
    """Make the tables in an empty database."""
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    try:
        META.create_all(engine)
        yield Installation(url, engine)
    finally:
        engine.dispose()
