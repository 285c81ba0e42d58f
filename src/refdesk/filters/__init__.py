"""A small filter language over document fields and metadata: values, never strings of a database.

A condition on a key that a document lacks is false; `Not` turns that into true. Where the value is a
list, `Equals`, `In` and `Compare` hold when one of its items does. Dates and date-like strings compare
as instants. Values of different kinds are neither equal nor ordered: `1` is not `"1"`, `True` is not `1`.

`matches` is what a filter means; `parse_filter` reads one from a line such as `year>=2024`.
"""

from refdesk.filters.conditions import parse_filter
from refdesk.filters.language import (
    DOCUMENT_FIELDS,
    And,
    Compare,
    Equals,
    Exists,
    Filter,
    In,
    Not,
    Operator,
    Or,
)
from refdesk.filters.mapping import Filters, as_filter
from refdesk.filters.meaning import Record, check, matches

__all__ = [
    "DOCUMENT_FIELDS",
    "And",
    "Compare",
    "Equals",
    "Exists",
    "Filter",
    "Filters",
    "In",
    "Not",
    "Operator",
    "Or",
    "Record",
    "as_filter",
    "check",
    "matches",
    "parse_filter",
]
