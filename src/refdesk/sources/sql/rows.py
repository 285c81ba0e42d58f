"""A row to what is ingested of it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import tzinfo
from typing import Any

from refdesk.cleaning import clean, clean_metadata
from refdesk.documents import Scalar
from refdesk.errors import SourceError
from refdesk.principals import wrong
from refdesk.sources import VERSION_KEY, SourceItem
from refdesk.sources.sql.form import MEDIA_TYPES, Access, Fact, Map
from refdesk.sources.sql.plan import Row
from refdesk.sources.sql.statements import DELETED
from refdesk.sources.sql.values import boolean, flag, members, moment, number, scalar, text

_LANGUAGE = re.compile(r"([a-z]{2})(?:[-_].*)?")
Principals = Mapping[str, tuple[str, ...]]
"""Id, as the map makes it, to who may read it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How rows are read."""

    name: str
    map: Map
    zone: tzinfo
    principals: Principals | None = None
    """Where they come from a query of their own."""

    def identity(self, row: Row) -> str:
        """Return the row's id as the map makes it. Errors: `SourceError` where there is none."""
        found = text(self.map.id.value(row)).strip()
        if not found:
            raise SourceError(
                "The row has no id.", remedy="Leave it out in the query, or map another column."
            )
        return found

    def gone(self, row: Row) -> bool:
        """Tell whether a row is marked as deleted."""
        if self.map.deleted:
            return flag(row[self.map.deleted.name])
        return flag(row[DELETED]) if self.map.deleted_sql else False

    def version(self, row: Row) -> str:
        """Return what tells this version of a row from others, as it is kept; empty where nothing does."""
        return clean(text(self.map.version.value(row))).text if self.map.version else ""

    def acl(self, row: Row, identity: str) -> tuple[str, ...]:
        """Return who may read a row; nobody where that cannot be told."""
        if self.principals is not None:
            return self.principals.get(identity, ())
        return readers(self.map.acl, row)

    def item(self, row: Row, identity: str) -> SourceItem:
        """Return a row as an item. Errors: `SourceError`."""
        body, media_type = self.map.text.value(row), self._media_type(row)
        plain = media_type == "text/plain"
        source_id = f"{self.name}:{identity}"
        return SourceItem(
            source_id=source_id,
            name=source_id,
            text=body if plain or not body.strip() else None,
            data=body.encode("utf-8", "replace") if not plain and body.strip() else None,
            title=_line(self.map.title.value(row)) if self.map.title else "",
            url=(_line(self.map.url.value(row)) or None) if self.map.url else None,
            media_type=media_type,
            language=self._language(row),
            metadata=clean_metadata(dict(self._metadata(row))),
            acl=self.acl(row, identity),
            all_metadata=True,
            strategy=self.map.strategy,
        )

    def _media_type(self, row: Row) -> str:
        found = text(self.map.media_type.value(row)).strip().lower() if self.map.media_type else ""
        if found and found not in MEDIA_TYPES:
            raise SourceError(f"The media type {found!r:.60} is none of {', '.join(MEDIA_TYPES)}.")
        return found or "text/plain"

    def _language(self, row: Row) -> str:
        said = text(self.map.language.value(row)).strip().lower() if self.map.language else ""
        found = _LANGUAGE.fullmatch(said)
        return found[1] if found else ""

    def _metadata(self, row: Row) -> list[tuple[str, Scalar | tuple[Scalar, ...]]]:
        found = [(name, _fact(name, fact, row, self.zone)) for name, fact in self.map.metadata.items()]
        version = [(VERSION_KEY, self.version(row))] if self.map.version else []
        return [*((name, value) for name, value in found if value is not None), *version]


def readers(access: Access, row: Row) -> tuple[str, ...]:
    """Return the principals in a row. A list that cannot be read is none: unknown means hidden."""
    if access.part is None:
        return access.always
    try:
        return principals(named_in(access.part.value(row), access), access.prefix)
    except SourceError:
        return ()


def named_in(value: Any, access: Access) -> tuple[Any, ...]:
    """Return the principals that a value lists, none of them trimmed. Errors: `SourceError`."""
    return members(value, access.separator, exact=True)


def principals(found: tuple[Any, ...], prefix: str = "") -> tuple[str, ...]:
    """Return principals as they are, in one order so that the same ones are equal.

    A name that cannot be one keeps its form without the prefix, so that it is refused where it is used.
    """
    if any(isinstance(one, bool) for one in found):
        return ()
    return tuple(sorted({name if wrong(name) else prefix + name for name in map(text, found)}))


def _line(value: Any) -> str:
    return " ".join(clean(text(value)).text.split())


def _fact(name: str, fact: Fact, row: Row, zone: tzinfo) -> Scalar | tuple[Scalar, ...] | None:
    value = fact.part.value(row)
    if value is None or (fact.kind not in (None, "text", "list") and text(value).strip() == ""):
        return None
    try:
        return _typed(value, fact, zone)
    except SourceError as error:
        raise SourceError(f"The metadata {name!r}: {error.message}", remedy=error.remedy) from error


def _typed(value: Any, fact: Fact, zone: tzinfo) -> Scalar | tuple[Scalar, ...] | None:
    match fact.kind:
        case "text":
            return text(value)
        case "number":
            return number(value)
        case "boolean":
            return boolean(value)
        case "date":
            return moment(value, zone)
        case "list":
            return tuple(
                one
                for one in (scalar(member, zone) for member in members(value, fact.separator))
                if one is not None and not isinstance(one, tuple)
            )
    return scalar(value, zone)
