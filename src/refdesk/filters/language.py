"""The filters themselves."""

from dataclasses import dataclass
from typing import Literal

from refdesk.documents import Scalar

DOCUMENT_FIELDS = ("source_id", "document_id", "title", "url", "media_type", "language")
"""Names that mean the document's own field; every other name is a metadata key."""

Operator = Literal["<", "<=", ">", ">="]


@dataclass(frozen=True, slots=True)
class Equals:
    """The value equals `value`."""

    key: str
    value: Scalar


@dataclass(frozen=True, slots=True)
class In:
    """The value is one of `values`, of which there may be any number."""

    key: str
    values: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class Compare:
    """The value stands in this order to `value`. Errors: `InputError` where the types have no order."""

    key: str
    operator: Operator
    value: Scalar


@dataclass(frozen=True, slots=True)
class Exists:
    """The document has the key."""

    key: str


@dataclass(frozen=True, slots=True)
class And:
    """All hold; with none, true."""

    filters: tuple["Filter", ...]


@dataclass(frozen=True, slots=True)
class Or:
    """One holds; with none, false."""

    filters: tuple["Filter", ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The filter does not hold."""

    filter: "Filter"


Filter = Equals | In | Compare | Exists | And | Or | Not
