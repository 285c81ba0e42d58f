"""Tables as text in which every value keeps its column's name, wherever the text is cut.

A table with a header becomes its header and one line per row: `Name: Ada; Born: 1815`. Without a header the
values of a row are joined by ` | `.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

HEAD_ROWS = 10
"""Rows among which the header is looked for."""
LONG = 12
"""Markdown tables with more rows than this are written row by row; shorter ones stay whole."""

Row = Sequence[str]

_RULE = re.compile(r"\|(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*$")
_CELLS = re.compile(r"(?<!\\)\|")
_YEAR = re.compile(r"(19|20)\d\d([/-]\d\d)?$")
_NUMBER = re.compile(r"[-+(]?[\d.,' %€$£:/-]+\)?$")


def rows_as_text(rows: Iterable[Row]) -> Iterator[str]:
    """Write a table line by line. Rows above the header and empty rows do not confuse it."""
    filled = (row for row in (_cells(row) for row in rows) if any(row))
    head = list(itertools.islice(filled, HEAD_ROWS))
    at = _header_position(head)
    if at is None:
        yield from (_plain(row) for row in itertools.chain(head, filled))
        return
    yield from (_plain(row) for row in head[:at])
    names = head[at]
    # What was taken for a header may be data: it is kept as a row, too.
    yield _plain(names)
    for row in itertools.chain(head[at + 1 :], filled):
        yield _named(names, row)


def unroll_long_tables(markdown: str) -> str:
    """Write the long tables of Markdown row by row, so that a part of one still has its column names."""
    lines = markdown.split("\n")
    out: list[str] = []
    at = 0
    while at < len(lines):
        end = _table_end(lines, at)
        out.extend(_unrolled(lines[at:end]) if end - at > LONG + 2 else lines[at : max(end, at + 1)])
        at = max(end, at + 1)
    return "\n".join(out)


def _table_end(lines: list[str], at: int) -> int:
    """Return the line after the table that begins here; `at` where none does."""
    if not (lines[at].startswith("|") and at + 1 < len(lines) and _RULE.match(lines[at + 1])):
        return at
    return next((n for n in range(at, len(lines)) if not lines[n].startswith("|")), len(lines))


def _unrolled(lines: list[str]) -> Iterator[str]:
    rows = [[cell.replace("\\|", "|") for cell in _CELLS.split(line.strip().strip("|"))] for line in lines]
    names = _cells(rows[0])
    if not any(names):
        yield from rows_as_text(rows[2:])
        return
    yield _plain(names)
    for row in (_cells(row) for row in rows[2:]):
        if any(row):
            yield _named(names, row)


def _header_position(head: Sequence[Row]) -> int | None:
    """Return which row names the columns: the first that is nearly full, of words that differ."""
    width = max((_width(row) for row in head), default=0)
    for at, row in enumerate(head):
        if _width(row) >= 2 and _width(row) * 3 >= width * 2:
            names = [cell for cell in row if cell]
            return at if len(set(names)) == len(names) and not any(map(_is_value, names)) else None
    return None


def _is_value(cell: str) -> bool:
    """Tell numbers from names; years name columns."""
    return bool(_NUMBER.match(cell)) and not _YEAR.match(cell)


def _width(row: Row) -> int:
    return sum(1 for cell in row if cell)


def _cells(row: Iterable[str]) -> list[str]:
    return [" ".join(cell.split()) for cell in row]


def _plain(row: Row) -> str:
    return " | ".join(cell for cell in row if cell)


def _named(names: Row, row: Row) -> str:
    pairs = itertools.zip_longest(names, row, fillvalue="")
    return "; ".join(f"{name}: {value}" if name else value for name, value in pairs if value)
