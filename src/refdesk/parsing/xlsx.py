"""Excel workbooks: a heading per sheet, a line per row, each value with its column's name."""

import io
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, time
from typing import Any

from openpyxl import load_workbook

from refdesk.parsing import FileInfo, Parsed
from refdesk.parsing.archives import check_archive
from refdesk.parsing.markdown import from_markdown
from refdesk.parsing.office import with_properties
from refdesk.parsing.tables import rows_as_text


def parse(data: bytes, info: FileInfo) -> Parsed:
    """Read the values that were stored last; formulas are not computed."""
    check_archive(data)
    workbook = load_workbook(io.BytesIO(data), read_only=True, data_only=True)
    try:
        sheets = [_sheet(sheet) for sheet in workbook.worksheets if sheet.sheet_state == "visible"]
        hidden = len(workbook.sheetnames) - len(sheets)
    finally:
        workbook.close()
    warnings = (f"{hidden} hidden or chart sheets were not read",) if hidden else ()
    text = "\n\n".join(sheet for sheet in sheets if sheet)
    # The name of a sheet is a heading and not the title of the workbook.
    return with_properties(replace(from_markdown(text, warnings=warnings), title=""), data)


def _sheet(sheet: Any) -> str:
    """Return a sheet as text, empty where it has no values."""
    # The size that a file states may be wrong; openpyxl then cuts rows.
    sheet.reset_dimensions()
    lines = list(rows_as_text(_rows(sheet)))
    return f"## {' '.join(sheet.title.split())}\n\n" + "\n".join(lines) if lines else ""


def _rows(sheet: Any) -> Iterator[list[str]]:
    for row in sheet.iter_rows():
        yield [cell_text(cell.value, cell.number_format or "") for cell in row]


def cell_text(value: Any, number_format: str = "") -> str:
    """Write a value as a reader of the sheet would see it: `3` for 3.0, `12 %` for 0.12 shown as percent."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat(" ", "minutes")
    if isinstance(value, float):
        return f"{value * 100:.10g} %" if "%" in number_format else f"{value:.15g}"
    return str(value)
