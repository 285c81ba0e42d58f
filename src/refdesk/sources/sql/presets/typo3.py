"""Pages of a TYPO3 site with their content elements, as visitors see them, in each language.

A page in a language is a document. Elements that fewer may read than their page are a document of their own
for each restriction, at the same address, so that a document has one ACL. Who may read what is worked out
here, in `typo3_access`; what is visible at all is a matter of the query, in `typo3_sql`, so that the walk
over ids removes what is hidden, and what a start or end time has hidden since.
"""

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal
from urllib.parse import urlsplit

from refdesk.errors import SourceError
from refdesk.sources.sql.plan import Database, Plan, Row
from refdesk.sources.sql.presets.typo3_access import readers
from refdesk.sources.sql.presets.typo3_html import Element, page_html
from refdesk.sources.sql.presets.typo3_shape import Mode, Shape
from refdesk.sources.sql.presets.typo3_sql import access_query, documents_query

RECORD = ("uid", "pid", "tstamp", "deleted", "hidden", "starttime", "endtime", "fe_group", "sys_language_uid")
VERSIONED = ("t3ver_oid", "t3ver_wsid", "t3ver_state")
PAGES = (
    *RECORD,
    *VERSIONED,
    "doktype",
    "l10n_parent",
    "title",
    "slug",
    "subtitle",
    "abstract",
    "description",
)
CONTENT = (*RECORD, *VERSIONED, "CType", "colPos", "sorting", "bodytext", "l18n_parent")
"""Columns of version 12 and 13 without which there is no telling what is shown to whom."""
FALLBACKS: Mapping[str, Mode] = {"strict": "strict", "fallback": "mixed", "free": "free"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """A language of a site, as its configuration in TYPO3 has it."""

    id: int
    """`languageId` there."""
    base: str
    """Its address, or the path below the site's, such as `/de/`."""
    language: str = ""
    """ISO 639-1 code; empty to tell it by the text."""
    fallback: Literal["strict", "fallback", "free"] = "strict"
    """`fallbackType` there: which elements a translated page shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A site: the tree below a page."""

    root: int
    """`rootPageId` in its configuration."""
    base: str
    """Its address, such as `https://www.example.org/`."""
    languages: tuple[Language, ...] = (Language(id=0, base="/"),)
    """Those that are read; the first one is usually `{id: 0, base: /}`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Typo3:
    """The sites of an installation."""

    kind: ClassVar[str] = "typo3"

    sites: tuple[Site, ...]
    """The sites that are read."""
    columns: tuple[int, ...] = ()
    """Values of `colPos` whose elements are read; empty for all."""
    unsearchable: bool = False
    """Also read pages that the site keeps out of searches: `no_search` and `no_index`."""

    def plan(self, database: Database) -> Plan:
        """Look at the tables. Errors: `SourceError` where this is no TYPO3 installation."""
        addresses = _addresses(self.sites)
        shape = _shape(self, database)
        return Plan(
            query=documents_query(shape),
            parameters=shape.parameters,
            map=_MAP,
            finish=partial(_finished, addresses),
            adds=("text", "url", "language"),
            principals=partial(_principals, shape),
        )


_MAP: Mapping[str, Any] = {
    "id": "id",
    "text": "text",
    "title": "title",
    "url": "url",
    "language": "language",
    "media_type": {"value": "text/html"},
    "updated_at": "changed",
    "version": "version",
    "metadata": {
        "page_uid": "page",
        "language_uid": "language_uid",
        "site": "site",
        "changed_at": {"column": "written", "type": "date"},
    },
}


def _addresses(sites: Sequence[Site]) -> Mapping[tuple[int, int], tuple[str, str]]:
    """Return the address and code of each language of each site. Errors: `SourceError`."""
    if not sites:
        raise SourceError("The preset 'typo3' has no site.", remedy="Write `sites:` with `root` and `base`.")
    found: dict[tuple[int, int], tuple[str, str]] = {}
    for site in sites:
        for one in site.languages:
            base = one.base if "://" in one.base else site.base.rstrip("/") + "/" + one.base.strip("/")
            if urlsplit(base).scheme not in ("http", "https") or not urlsplit(base).netloc:
                raise SourceError(
                    f"The site {site.root} has the address {base!r}; an http address is wanted.",
                    remedy="Write `base: https://www.example.org/`.",
                )
            if (site.root, one.id) in found:
                raise SourceError(
                    f"The site {site.root} has the language {one.id} twice.", remedy="Write each once."
                )
            found[site.root, one.id] = (base.rstrip("/"), one.language)
    return found


def _shape(preset: Typo3, database: Database) -> Shape:
    """Return what the queries depend on. Errors: `SourceError`."""
    pages, content = database.columns("pages"), database.columns("tt_content")
    missing = [
        *(f"pages.{name}" for name in PAGES if name not in pages),
        *(f"tt_content.{name}" for name in CONTENT if name not in content),
    ]
    if missing:
        raise SourceError(
            f"This is no database of TYPO3, or not readable: {', '.join(missing[:6])} are missing.",
            remedy="Check `url:`, and that its user may read pages and tt_content.",
        )
    _check_roots(preset.sites, database)
    return Shape(
        dialect=database.dialect,
        pages=pages,
        content=content,
        languages=tuple(
            (site.root, one.id, FALLBACKS[one.fallback]) for site in preset.sites for one in site.languages
        ),
        columns=preset.columns,
        unsearchable=preset.unsearchable,
        now=int(time.time()),
    )


def _check_roots(sites: Sequence[Site], database: Database) -> None:
    """Refuse a site whose root is no page. Errors: `SourceError`."""
    query = "SELECT uid FROM pages WHERE uid = :root AND deleted = 0 AND sys_language_uid = 0"
    for site in sites:
        if not list(database.rows(query, {"root": site.root})):
            raise SourceError(
                f"The site with the root {site.root} cannot be read: there is no such page.",
                remedy="Write `root:` as `rootPageId` has it in the site's configuration.",
            )


def _finished(addresses: Mapping[tuple[int, int], tuple[str, str]], row: Row) -> Row:
    """Add text, address and language to a row."""
    base, language = addresses[int(row["site"]), int(row["language_uid"])]
    slug = str(row["slug"] or "")
    return {
        **row,
        "url": f"{base}/{slug.lstrip('/')}",
        "language": language or None,
        "text": page_html(row, _elements(row["elements"], int(row["many"])), language=language),
    }


def _elements(value: Any, many: int) -> list[Element]:
    """Read what the database made of the elements: a list, or the same as JSON. Errors: `SourceError`."""
    try:
        found = value if isinstance(value, list) else json.loads(value or "[]")
    except ValueError:
        found = []
    if len(found) != many:
        raise SourceError(
            f"The database cut off the {many} content elements of the page.",
            remedy="Raise its max_allowed_packet; a page with all its elements must fit.",
        )
    elements = [Element.of(one) for one in found]
    return sorted(elements, key=lambda one: (one.column, one.sorting, one.after, one.position))


def _principals(shape: Shape, database: Database) -> Iterable[tuple[str, Sequence[str]]]:
    """Yield who may read each document."""
    groups = frozenset[str]()
    if database.columns("fe_groups"):
        query = "SELECT uid FROM fe_groups WHERE deleted = 0 AND hidden = 0"
        groups = frozenset(str(row["uid"]) for row in database.rows(query))
    for row in database.rows(access_query(shape), shape.parameters):
        yield str(row["id"]), readers(str(row["chain"] or "").split(";"), groups)
