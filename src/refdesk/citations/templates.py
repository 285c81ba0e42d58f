"""Addresses of sources that have none of their own, made from a template of their collection.

What stands before the path is the operator's alone: no value of a document can change scheme or host.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches
from string import Formatter
from urllib.parse import quote, unquote, urlsplit

from refdesk.documents import Document, Hit, Metadata

PLACEHOLDERS = ("collection", "document_id", "source_id", "title", "page")
METADATA = "metadata."
"""Begins a placeholder that is filled from a field of the metadata."""
_SCHEMES = ("http", "https")
_HOST = re.compile(r"(?:[\w-]+(?:\.[\w-]+)*\.?|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?")
_LONE = re.compile("[\ud800-\udfff]")
_ALLOWED = "!#$%&'()*+,/:;=?@[]~"
"""Characters that an address may have besides letters, digits and `-._`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What a link leads to."""

    collection: str
    document_id: str
    source_id: str
    title: str
    url: str | None
    metadata: Metadata


def source_of(found: Hit | Document) -> Source:
    """Return what a link to a document leads to."""
    where = found if isinstance(found, Document) else found.chunk
    return Source(
        collection=where.collection,
        document_id=where.document_id,
        source_id=found.source_id,
        title=found.title,
        url=found.url,
        metadata=found.metadata,
    )


def web_address(url: str | None) -> str | None:
    """Return an address that can be opened in a browser, None for any other.

    It is http or https, names a host and no user, and has no character that could end it early in a page.
    """
    try:
        parts = urlsplit(url or "")
    except ValueError:
        return None
    if not url or parts.scheme not in _SCHEMES or not _HOST.fullmatch(parts.netloc):
        return None
    begin = len(parts.scheme) + 3 + len(parts.netloc)
    as_written = url[:begin].lower() == f"{parts.scheme}://{parts.netloc}".lower()
    return url[:begin] + quote(url[begin:], safe=_ALLOWED) if as_written and not _LONE.search(url) else None


def problem(template: str) -> str:
    """Say what is wrong with a template, empty where nothing is."""
    try:
        pieces = list(Formatter().parse(template))
    except ValueError as error:
        return f"it cannot be read: {error}"
    if any(conversion or form for _, _, form, conversion in pieces):
        return "placeholders take no format"
    named = [name for _, name, _, _ in pieces if name is not None]
    for name in named:
        if name not in PLACEHOLDERS and not (name.startswith(METADATA) and name != METADATA):
            near = get_close_matches(name, PLACEHOLDERS, 1)
            known = near or (*PLACEHOLDERS, f"{METADATA}NAME")
            return f"no document has {{{name}}}; allowed: {', '.join(f'{{{one}}}' for one in known)}"
    scheme, colon, rest = template.partition("://")
    host = re.split(r"[/?#]", rest, maxsplit=1)[0]
    if web_address(f"{scheme}{colon}{host}/") is None:
        return "it has to begin with http:// or https:// and a host that is written out"
    return ""


def filled(template: str, source: Source, page: int | None) -> str | None:
    """Return the address of a source at a page, None where the template's path cannot be filled.

    A parameter or an anchor whose value is missing is left out. Values are percent-encoded; in the path the
    slashes of `source_id` stay, and nothing climbs out of it.
    """
    rest, hash_, anchor = template.partition("#")
    path, _, query = rest.partition("?")
    values = dict(_values(source, page))
    begun = _put(path, values, keep="/")
    if begun is None or not _stays(begun):
        return None
    parameters = [put for one in query.split("&") if one and (put := _put(one, values)) is not None]
    fragment = _put(anchor, values) if hash_ else None
    return web_address(
        begun + ("?" + "&".join(parameters) if parameters else "") + (f"#{fragment}" if fragment else "")
    )


def _values(source: Source, page: int | None) -> Iterator[tuple[str, str]]:
    """Yield the placeholders that have a value."""
    named: Mapping[str, object] = {
        **{f"{METADATA}{key}": value for key, value in source.metadata.items()},
        "collection": source.collection,
        "document_id": source.document_id,
        "source_id": source.source_id,
        "title": source.title,
        "page": page,
    }
    for name, value in named.items():
        text = _text(value)
        if text and not _LONE.search(text):
            yield name, text


def _text(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case date():
            return value.isoformat()
        case str() | int() | float():
            return str(value)
    return ""  # several values name no one page


def _put(part: str, values: Mapping[str, str], keep: str = "") -> str | None:
    """Fill the placeholders of a part, None where one has no value."""
    done = ""
    for literal, name, _, _ in Formatter().parse(part):
        done += literal
        if name is None:
            continue
        if name not in values:
            return None
        done += quote(values[name], safe=keep if name == "source_id" else "")
    return done


def _stays(address: str) -> bool:
    """Tell whether no part of the path is a step up or none; browsers take `%2e` for a dot."""
    return not any(unquote(part) in (".", "..") for part in address.partition("://")[2].split("/")[1:])
