"""Rows for people: columns where there is room, blocks in a narrow terminal, plain columns in a pipe."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from refdesk.cli.terminal import one_line, say

if TYPE_CHECKING:
    from rich.console import Console

NARROW = 60
"""Terminals with fewer columns get blocks."""

Rows = Sequence[Sequence[object]]


def table(console: "Console", headings: Sequence[str], rows: Rows) -> None:
    """Print rows under headings; numbers stand on the right."""
    texts = [[_cell(value) for value in row] for row in rows]
    if not console.is_terminal:
        _columns(console, headings, texts)
    elif console.width < NARROW:
        _blocks(console, headings, texts)
    else:
        _grid(console, headings, texts, _numeric(rows, len(headings)))


def facts(console: "Console", pairs: Sequence[tuple[str, object]]) -> None:
    """Print names and values, one a line; empty values are left out."""
    shown = [(name, _cell(value)) for name, value in pairs if _cell(value)]
    width = max((len(name) for name, _ in shown), default=0)
    for name, text in shown:
        say(console, f"{name.ljust(width)}  {text}")


def megabytes(size: float) -> str:
    """Return a size in bytes as megabytes of a million."""
    return f"{size / 1e6:,.1f} MB"


def _cell(value: object) -> str:
    match value:
        case None | () | []:
            return ""
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case float():
            return f"{value:.3f}"
        case tuple() | list():
            return ", ".join(map(_cell, value))
    return one_line(str(value))


def _numeric(rows: Rows, columns: int) -> list[bool]:
    return [
        bool(rows) and all(isinstance(row[place], int | float) for row in rows) for place in range(columns)
    ]


def _columns(console: "Console", headings: Sequence[str], texts: list[list[str]]) -> None:
    from rich.cells import cell_len, set_cell_size

    lines = [list(headings), *texts]
    widths = [max(cell_len(line[place]) for line in lines) for place in range(len(headings))]
    for line in lines:
        padded = (set_cell_size(text, width) for text, width in zip(line, widths, strict=True))
        console.file.write("  ".join(padded).rstrip() + "\n")


def _blocks(console: "Console", headings: Sequence[str], texts: list[list[str]]) -> None:
    for row in texts:
        say(console, row[0], "bold")
        for heading, text in list(zip(headings, row, strict=True))[1:]:
            if text:
                say(console, f"{heading}: {text}", indent=2)


def _grid(console: "Console", headings: Sequence[str], texts: list[list[str]], numeric: list[bool]) -> None:
    from rich.table import Table

    grid = Table(box=None, pad_edge=False, header_style="bold")
    for heading, number in zip(headings, numeric, strict=True):
        grid.add_column(heading, justify="right" if number else "left", no_wrap=number, overflow="fold")
    for row in texts:
        grid.add_row(*row)
    console.print(grid)
