"""Jupyter notebooks: prose as Markdown, code and textual outputs in fences."""

import json
from collections.abc import Iterator
from typing import Any

from refdesk.errors import ParseError
from refdesk.parsing import FileInfo, Parsed
from refdesk.parsing.markdown import from_markdown
from refdesk.parsing.normalise import read_text

MAX_OUTPUT = 4000
"""Characters of one output; logs and dumps are longer and say little."""


def parse(data: bytes, info: FileInfo) -> Parsed:
    """Read the cells in order. Errors: `ParseError`, reason `damaged`, for JSON that is no notebook."""
    read = read_text(data)
    try:
        notebook = json.loads(read.text)
        # Before version 4 cells were kept in worksheets.
        cells = notebook["cells"] if "cells" in notebook else notebook["worksheets"][0]["cells"]
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise ParseError(f"{info.name!r} is not a notebook: {error!r}", reason="damaged") from error
    metadata = notebook.get("metadata", {})
    language = metadata.get("kernelspec", {}).get("language", "python")
    parts = [part for cell in cells for part in _cell(cell, language) if part.strip()]
    return from_markdown("\n\n".join(parts), title=str(metadata.get("title") or ""), warnings=read.warnings)


def _cell(cell: dict[str, Any], language: str) -> Iterator[str]:
    source = _joined(cell.get("source", cell.get("input", "")))
    if cell.get("cell_type") != "code":
        yield source
        return
    if source.strip():
        yield _fence(source, language)
    for output in cell.get("outputs", ()):
        if text := _output(output).strip("\n"):
            yield _fence(text[:MAX_OUTPUT], "text")


def _output(output: dict[str, Any]) -> str:
    """Return an output as text: what was printed, a result, or the name of an error."""
    if "ename" in output:
        return f"{output['ename']}: {output.get('evalue', '')}"
    return _joined(output.get("text") or output.get("data", {}).get("text/plain", ""))


def _fence(text: str, language: str) -> str:
    ticks = "```"
    while ticks in text:
        ticks += "`"
    return f"{ticks}{language}\n{text}\n{ticks}"


def _joined(source: str | list[str]) -> str:
    return source if isinstance(source, str) else "".join(source)
