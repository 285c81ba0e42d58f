"""Metadata as the control file keeps it: JSON that gives back the same types, and facts for filters."""

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from refdesk.documents import Metadata, Scalar
from refdesk.errors import InputError
from refdesk.filters import DOCUMENT_FIELDS
from refdesk.filters.values import typed

DATE = "$date"
MOST_BITS = 64


def dump(metadata: Metadata) -> str:
    """Return metadata as JSON. Errors: `InputError` for keys and values that cannot be kept."""
    return json.dumps({_key(key): _plain(value) for key, value in metadata.items()}, ensure_ascii=False)


def _key(key: str) -> str:
    if not isinstance(key, str):
        raise InputError(f"Cannot use {key!r} as a metadata key: it is no text.")
    if key in DOCUMENT_FIELDS:
        raise InputError(f"Cannot use {key!r} as a metadata key: it names a field of the document.")
    typed(key)
    return key


def _plain(value: Scalar | tuple[Scalar, ...]) -> object:
    return [_single(item) for item in value] if isinstance(value, tuple) else _single(value)


def _single(value: Scalar) -> object:
    if isinstance(value, int) and value.bit_length() > MOST_BITS:  # Python may refuse to print it
        raise InputError(f"Cannot use a number of {value.bit_length()} bits: 64 bits are allowed.")
    typed(value)
    return {DATE: value.isoformat()} if isinstance(value, datetime) else value


def load(text: str) -> Metadata:
    """Return metadata from JSON."""
    return {key: _value(value) for key, value in json.loads(text).items()}


def _value(value: Any) -> Any:
    match value:
        case list():
            return tuple(_value(item) for item in value)
        case dict():
            return datetime.fromisoformat(value[DATE])
    return value


def facts(metadata: Metadata) -> Iterator[tuple[str, str, str | int | float]]:
    """Yield (key, kind, value) for every value; a key with an empty list has one fact of kind `empty`."""
    for key, value in metadata.items():
        items = value if isinstance(value, tuple) else (value,)
        for item in items:
            fact = typed(item)
            yield key, fact.kind, fact.value
        if not items:
            yield key, "empty", ""
