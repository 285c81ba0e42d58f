"""Python source: kept as it stands; classes and functions are headings."""

import ast
import itertools
from collections.abc import Iterator

from refdesk.documents import Heading
from refdesk.parsing import FileInfo, Parsed
from refdesk.parsing.normalise import read_text

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def parse(data: bytes, info: FileInfo) -> Parsed:
    """Keep the source; where it is Python of this version, locate its definitions."""
    read = read_text(data)
    try:
        tree = ast.parse(read.text)
    except (SyntaxError, ValueError, RecursionError):
        warning = "not Python of this version; read without its structure"
        return Parsed(text=read.text, warnings=(*read.warnings, warning))
    lines = list(itertools.accumulate((len(line) + 1 for line in read.text.split("\n")), initial=0))
    return Parsed(
        text=read.text,
        title=(ast.get_docstring(tree) or "").split("\n")[0].strip(),
        headings=tuple(_definitions(tree, lines, 1)),
        warnings=read.warnings,
    )


def _definitions(parent: ast.Module | Definition, lines: list[int], level: int) -> Iterator[Heading]:
    """Yield the definitions directly in a module, class or function, and those inside them, in order."""
    for node in parent.body:
        if isinstance(node, Definition):
            keyword = {ast.ClassDef: "class", ast.FunctionDef: "def"}.get(type(node), "async def")
            # Definitions begin at an ASCII keyword, behind nothing but blanks: bytes equal characters.
            start = lines[node.lineno - 1] + node.col_offset
            yield Heading(min(level, 6), f"{keyword} {node.name}", start)
            yield from _definitions(node, lines, level + 1)
