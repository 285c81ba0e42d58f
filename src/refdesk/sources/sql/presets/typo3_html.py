"""A page of TYPO3 as HTML: what the page says of itself, then its elements in order."""

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Self

HIDDEN_HEADER = 100
"""`header_layout` of a header that is not shown."""
WITHOUT_TEXT = ("list", "shortcut", "div", "uploads", "image")
"""Types that do not show what is in `bodytext`, beside menus and plugins."""
WITHOUT_HEADER = ("html", "shortcut", "div")
"""Types whose header is a name for editors."""
ABOUT = ("subtitle", "abstract", "description")
"""What a page says of itself."""
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_BLOCKS = re.compile(r"<(p|ul|ol|div|table|h[1-6]|blockquote|pre|section|article|dl|br)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    """A content element."""

    kind: str
    column: int
    sorting: int
    after: int
    """The element that inserts it, or itself."""
    position: int = 0
    """Its place among what is inserted."""
    header: str = ""
    layout: int = 0
    subheader: str = ""
    body: str = ""
    list_kind: int = 0
    delimiter: int = 124
    enclosure: int = 0
    caption: str = ""

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        """Read what the query gives of an element."""
        return cls(
            kind=str(row["kind"] or ""),
            column=int(row["col"] or 0),
            sorting=int(row["sorting"] or 0),
            after=int(row["after"]),
            position=int(row["position"]),
            header=str(row.get("header") or ""),
            layout=_number(row.get("layout"), 0),
            subheader=str(row.get("subheader") or ""),
            body=str(row.get("body") or ""),
            list_kind=_number(row.get("list_kind"), 0),
            delimiter=_number(row.get("delimiter"), 124),
            enclosure=_number(row.get("enclosure"), 0),
            caption=str(row.get("caption") or ""),
        )

    @property
    def html(self) -> str:
        """Return the element as it is shown."""
        return self._header + self._body

    @property
    def _header(self) -> str:
        if self.layout == HIDDEN_HEADER or self.kind in WITHOUT_HEADER:
            return ""
        level = self.layout if 1 <= self.layout <= 5 else 2
        shown = f"<h{level}>{escape(self.header)}</h{level}>\n" if self.header.strip() else ""
        below = f"<h{level + 1}>{escape(self.subheader)}</h{level + 1}>\n" if self.subheader.strip() else ""
        return shown + below

    @property
    def _body(self) -> str:
        if not self.body.strip() or self.kind in WITHOUT_TEXT or self.kind.startswith("menu"):
            return ""
        match self.kind:
            case "bullets":
                return _bullets(self.body.splitlines(), self.list_kind)
            case "table":
                return _table(self.body, chr(self.delimiter or 124), self.enclosure, self.caption)
            case "html":
                return self.body + "\n"
        return _paragraphs(self.body)


def page_html(page: Mapping[str, Any], elements: Sequence[Element], *, language: str = "") -> str:
    """Return a page: what it says of itself, where it is whole, and its elements."""
    about = _about(page) if not page["part"] else ()
    body = "".join((*(f"<p>{escape(one)}</p>\n" for one in about), *(one.html for one in elements)))
    lang = f' lang="{escape(language)}"' if language else ""
    return f"<html{lang}><body>\n{body}</body></html>" if body.strip() else ""


def _about(page: Mapping[str, Any]) -> Iterable[str]:
    found = (" ".join(str(page.get(name) or "").split()) for name in ABOUT)
    return tuple(dict.fromkeys(one for one in found if one))


def _number(value: Any, otherwise: int) -> int:
    try:
        return int(value)
    except (TypeError, ValueError):
        return otherwise


def _paragraphs(body: str) -> str:
    """Return rich text; the lines of a text without blocks are paragraphs."""
    if _BLOCKS.search(body):
        return body + "\n"
    return "".join(f"<p>{line}</p>\n" for line in body.splitlines() if line.strip())


def _bullets(lines: Iterable[str], kind: int) -> str:
    """Return a list: 0 with points, 1 with numbers, 2 of terms with what they mean."""
    tag = "ol" if kind == 1 else "ul"
    items = (line.replace("|", ": ", 1) if kind == 2 else line for line in lines if line.strip())
    return f"<{tag}>" + "".join(f"<li>{escape(item)}</li>" for item in items) + f"</{tag}>\n"


def _table(body: str, delimiter: str, enclosure: int, caption: str) -> str:
    """Return a table; an enclosure of 0 is none."""
    lines = body.splitlines()
    if enclosure:
        rows = csv.reader(lines, delimiter=delimiter, quotechar=chr(enclosure))
    else:
        rows = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE)
    cells = ("".join(f"<td>{_cell(one)}</td>" for one in row) for row in rows if any(row))
    above = f"<caption>{escape(caption)}</caption>" if caption.strip() else ""
    return f"<table>{above}" + "".join(f"<tr>{row}</tr>" for row in cells) + "</table>\n"


def _cell(written: str) -> str:
    """Return what a cell says; a break is all that it may have of HTML."""
    return escape(" ".join(_BREAK.sub(" ", written).split()))
