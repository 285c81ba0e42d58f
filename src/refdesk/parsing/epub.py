"""EPUB books: the chapters in reading order."""

import posixpath
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import unquote
from zipfile import BadZipFile, ZipFile

from defusedxml import ElementTree

from refdesk.documents import Scalar
from refdesk.errors import ParseError
from refdesk.parsing import FileInfo, Parsed
from refdesk.parsing.archives import encrypted, open_archive
from refdesk.parsing.html import html_to_markdown
from refdesk.parsing.markdown import from_markdown
from refdesk.parsing.normalise import clean, read_text

_OPF = "{http://www.idpf.org/2007/opf}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_CONTAINER = "{urn:oasis:names:tc:opendocument:xmlns:container}"
_ENCRYPTION = "META-INF/encryption.xml"
_FIELDS = (("creator", "author"), ("language", "language"), ("publisher", "publisher"), ("date", "published"))


def parse(data: bytes, info: FileInfo) -> Parsed:
    """Read the spine's chapters. Errors: `ParseError`, reason `encrypted` or `damaged`."""
    with open_archive(data) as archive:
        package_path, package = _package(archive, info)
        chapters = list(_chapters(package, package_path))
        _refuse_locked(archive, chapters)
        texts = [_chapter(archive, path) for path in chapters]
    missing = texts.count(None)
    warnings = (f"{missing} chapters are missing from the book",) if missing else ()
    title = (package.findtext(f".//{_DC}title") or "").strip()
    parsed = from_markdown("\n\n".join(text for text in texts if text), title=title, warnings=warnings)
    return replace(parsed, metadata=_metadata(package))


def _package(archive: ZipFile, info: FileInfo) -> tuple[str, Any]:
    """Return the path and the tree of the package document, which lists the chapters."""
    try:
        container = ElementTree.fromstring(archive.read("META-INF/container.xml"))
        rootfile = container.find(f".//{_CONTAINER}rootfile")
        path = unquote(rootfile.get("full-path", "")) if rootfile is not None else ""
        return path, ElementTree.fromstring(archive.read(path))
    except (KeyError, ElementTree.ParseError, BadZipFile) as error:
        raise ParseError(
            f"{info.name!r} has no readable table of chapters: {error}", reason="damaged"
        ) from error


def _chapters(package: Any, package_path: str) -> Iterator[str]:
    items = {item.get("id"): item for item in package.iter(f"{_OPF}item")}
    for reference in package.iter(f"{_OPF}itemref"):
        item = items.get(reference.get("idref"))
        if item is not None and "nav" not in (item.get("properties") or "").split():
            yield posixpath.normpath(
                posixpath.join(posixpath.dirname(package_path), unquote(item.get("href", "")))
            )


def _refuse_locked(archive: ZipFile, chapters: list[str]) -> None:
    """Refuse a book whose chapters are encrypted; fonts often are, and do not matter."""
    if _ENCRYPTION in archive.namelist():
        listed = archive.read(_ENCRYPTION).decode("utf-8", "replace")
        if any(chapter in unquote(listed) for chapter in chapters):
            raise encrypted("an EPUB book")


def _chapter(archive: ZipFile, path: str) -> str | None:
    """Return a chapter as Markdown, None where the book lacks it."""
    if path not in archive.namelist():
        return None
    return html_to_markdown(read_text(archive.read(path)).text)


def _metadata(package: Any) -> dict[str, Scalar]:
    found = ((key, package.findtext(f".//{_DC}{name}") or "") for name, key in _FIELDS)
    return {key: text for key, value in found if (text := clean(value).text.strip())}
