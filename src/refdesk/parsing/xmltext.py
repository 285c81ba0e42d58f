"""XML: feeds as Markdown with a heading per entry; other XML as one line per element with text."""

from collections.abc import Iterator
from typing import Any

from defusedxml import ElementTree
from defusedxml.common import DefusedXmlException

from refdesk.errors import ParseError
from refdesk.parsing import FileInfo, Parsed
from refdesk.parsing.html import html_to_markdown
from refdesk.parsing.markdown import from_markdown
from refdesk.parsing.normalise import clean

_ENTRIES = ("item", "entry")
_BODIES = ("encoded", "content", "description", "summary")


def parse(data: bytes, info: FileInfo) -> Parsed:
    """Read the text of the elements. Errors: `ParseError`, reason `damaged`; entities are never expanded."""
    try:
        root = ElementTree.fromstring(data)
    except (ElementTree.ParseError, DefusedXmlException, ValueError, LookupError) as error:
        raise ParseError(f"{info.name!r} is not readable XML: {error!r}", reason="damaged") from error
    entries = [node for node in root.iter() if _name(node) in _ENTRIES]
    if entries and _name(root) in ("rss", "feed", "RDF"):
        return _feed(root, entries)
    cleaned = clean("\n".join(_lines(root)))
    return Parsed(text=cleaned.text, warnings=cleaned.warnings)


def _feed(root: Any, entries: list[Any]) -> Parsed:
    channel = next((node for node in root.iter() if _name(node) == "channel"), root)
    title = _child(channel, "title")
    parts = [f"# {title}", html_to_markdown(_child(channel, "description", "subtitle"))]
    parts += [_entry(entry) for entry in entries]
    return from_markdown("\n\n".join(part for part in parts if part.strip("# ")), title=title)


def _entry(entry: Any) -> str:
    heading = f"## {_child(entry, 'title') or 'Untitled'}"
    date = _child(entry, "pubDate", "published", "updated", "date")
    return "\n\n".join(part for part in (heading, date, html_to_markdown(_child(entry, *_BODIES))) if part)


def _child(node: Any, *names: str) -> str:
    """Return the text of the first child that has one of the names, in the order of the names."""
    for name in names:
        for child in node:
            if _name(child) == name and (text := " ".join("".join(child.itertext()).split())):
                return text
    return ""


def _lines(root: Any) -> Iterator[str]:
    """Yield `name: text` for every element with text of its own, with what is marked up inside its text."""
    name, pieces = "", [""]
    for begins, text in _flow(root):
        if begins is not None:
            yield from _line(name, pieces)
            name, pieces = begins, []
        pieces.append(text)
    yield from _line(name, pieces)


def _line(name: str, pieces: list[str]) -> Iterator[str]:
    if text := " ".join("".join(pieces).split()):
        yield f"{name}: {text}" if name else text


def _flow(root: Any) -> Iterator[tuple[str | None, str]]:
    """Yield the texts in the order of the document, with a name, maybe empty, where a line begins."""
    # A stack and not recursion: elements can be nested deeper than calls.
    waiting: list[tuple[str | None, Any]] = [(_name(root), root)]
    while waiting:
        begins, node = waiting.pop()
        if isinstance(node, str):
            yield begins, node
            continue
        outer = _is_outer(node)
        # An empty element inside a text, such as a line break, parts words.
        yield "" if outer else begins, node.text or ("" if len(node) else " ")
        for child in reversed(node):
            waiting.append(("" if _is_outer(child) else None, child.tail or ""))
            waiting.append((_name(child) if outer else None, child))


def _is_outer(node: Any) -> bool:
    """Tell an element that holds elements, and no text between them."""
    return len(node) > 0 and not any(text and text.strip() for text in (node.text, *(c.tail for c in node)))


def _name(node: Any) -> str:
    return str(node.tag).rpartition("}")[2]
