"""Old Excel workbooks, written like new ones."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import xlrd
from xlrd.xldate import xldate_as_datetime

from refdesk.errors import ParseError
from refdesk.parsing import FileInfo, Parsed
from refdesk.parsing.archives import encrypted
from refdesk.parsing.markdown import from_markdown
from refdesk.parsing.tables import rows_as_text
from refdesk.parsing.xlsx import cell_text


def parse(data: bytes, info: FileInfo) -> Parsed:
    """Read all visible sheets. Errors: `ParseError`, reason `encrypted` or `damaged`."""
    try:
        book = xlrd.open_workbook(file_contents=data, on_demand=True)
    except xlrd.XLRDError as error:
        if "encrypted" in str(error):
            raise encrypted("an Excel workbook") from error
        raise ParseError(f"{info.name!r} is not a readable workbook: {error}", reason="damaged") from error
    sheets = [_sheet(book, sheet) for sheet in book.sheets() if sheet.visibility == 0]
    return replace(from_markdown("\n\n".join(sheet for sheet in sheets if sheet)), title="")


def _sheet(book: Any, sheet: Any) -> str:
    lines = list(rows_as_text(_rows(book, sheet)))
    return f"## {' '.join(sheet.name.split())}\n\n" + "\n".join(lines) if lines else ""


def _rows(book: Any, sheet: Any) -> Iterator[list[str]]:
    for row in sheet.get_rows():
        yield [_cell(book, cell) for cell in row]


def _cell(book: Any, cell: Any) -> str:
    if cell.ctype == xlrd.XL_CELL_DATE and cell.value >= 1:
        return cell_text(xldate_as_datetime(cell.value, book.datemode))
    if cell.ctype == xlrd.XL_CELL_BOOLEAN:
        return str(bool(cell.value))
    return "" if cell.ctype == xlrd.XL_CELL_ERROR else cell_text(cell.value)
