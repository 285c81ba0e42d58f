"""One record to one item: which field is what."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from refdesk.cleaning import clean, clean_metadata
from refdesk.documents import Scalar
from refdesk.errors import ParseError, SourceError
from refdesk.sources import SourceItem

NESTED = "metadata"
"""A field whose members are metadata themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """Names of a record's fields. `metadata` None keeps all other fields; names choose, `()` keeps none."""

    id: str | None = None
    """None: `_id`, else `id`."""
    text: str = "text"
    title: str = "title"
    url: str = "url"
    acl: str = "acl"
    """Who may read the record: a name or a list of names. Records without it leave that to the ingestion."""
    metadata: tuple[str, ...] | None = None


def item_from(record: Any, fields: Fields, *, prefix: str, media_type: str) -> SourceItem:
    """Return a record as an item. Errors: `SourceError`, which names the fields that there are.

    An id that is no Unicode text is a `ParseError`, reason `damaged`; such titles, addresses and values are
    cleaned.
    """
    if not isinstance(record, dict):
        raise SourceError(f"The record is {type(record).__name__}, not an object with fields.")
    id_field = fields.id or ("_id" if "_id" in record else "id")
    source_id = prefix + _required(record, id_field, "id")
    if not _is_unicode(source_id):
        raise ParseError(f"The id {source_id!r:.80} is not valid Unicode text.", reason="damaged")
    return SourceItem(
        source_id=source_id,
        name=source_id,
        text=_required(record, fields.text, "text"),
        title=_optional(record, fields.title),
        url=_optional(record, fields.url) or None,
        media_type=media_type,
        metadata=clean_metadata(dict(_metadata(record, fields, id_field))),
        acl=_acl(record, fields.acl),
    )


def _acl(record: Mapping[str, Any], name: str) -> Any:
    """Return what a record says, whatever that is: what cannot be understood hides it, see `ingest`."""
    if name not in record:
        return None
    value = record[name]
    return tuple(value) if isinstance(value, list) else (value,)


def _required(record: Mapping[str, Any], name: str, what: str) -> str:
    value = record.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if isinstance(value, str) and value.strip():
        return value
    present = clean(", ".join(sorted(map(str, record)))).text or "none"
    found = f"is {value!r:.60}" if name in record else "is missing"
    message = f"The field {name!r} for the {what} {found}; the record has: {present}."
    raise SourceError(message, remedy=f"Name the field that holds the {what}.")


def _optional(record: Mapping[str, Any], name: str) -> str:
    value = record.get(name)
    return clean(str(value)).text.strip() if isinstance(value, str | int | float) else ""


def _is_unicode(text: str) -> bool:
    """Tell text without lone surrogates, which JSON can write and nothing can store."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _metadata(
    record: Mapping[str, Any], fields: Fields, id_field: str
) -> Iterator[tuple[str, Scalar | tuple[Scalar, ...]]]:
    used = {id_field, fields.text, fields.title, fields.url, fields.acl}
    for name, value in record.items():
        if name in used or (fields.metadata is not None and name not in fields.metadata):
            continue
        yield from _flat("" if name == NESTED and isinstance(value, dict) else name, value)


def _flat(name: str, value: Any) -> Iterator[tuple[str, Scalar | tuple[Scalar, ...]]]:
    """Yield `a.b` for members of members; a list of values is a tuple, other lists are kept as JSON."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield from _flat(f"{name}.{key}" if name else str(key), member)
    elif isinstance(value, list):
        simple = not any(isinstance(item, dict | list) for item in value)
        items = tuple(item for item in value if item is not None) if simple else ()
        yield name, items if simple else json.dumps(value, ensure_ascii=False)
    elif value is not None:
        yield name, value
