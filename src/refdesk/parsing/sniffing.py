"""Tell what format bytes are in. The bytes decide over the media type, and that over the suffix."""

import io
import zipfile
from dataclasses import dataclass
from pathlib import PurePosixPath

from refdesk.errors import ParseError
from refdesk.parsing import FileInfo
from refdesk.parsing.archives import encrypted
from refdesk.parsing.formats import BY_MEDIA_TYPE, BY_NAME, BY_SUFFIX, CODE_TYPES, Format
from refdesk.parsing.normalise import SAMPLE, looks_binary

_MAGIC = (
    (b"\x89PNG\r\n", "image"),
    (b"\xff\xd8\xff", "image"),
    (b"GIF8", "image"),
    (b"II*\0", "image"),
    (b"MM\0*", "image"),
    (b"ID3", "audio"),
    (b"OggS", "audio"),
    (b"fLaC", "audio"),
    (b"\x1f\x8b", "archive"),
    (b"BZh", "archive"),
    (b"\xfd7zXZ\0", "archive"),
    (b"7z\xbc\xaf", "archive"),
    (b"Rar!\x1a", "archive"),
    (b"\x28\xb5\x2f\xfd", "archive"),
    (b"\x7fELF", "program"),
    (b"SQLite format 3\0", "program"),
    (b"\x1aE\xdf\xa3", "video"),
)
_ZIPS = (b"PK\x03\x04", b"PK\x05\x06")
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_OLE_STREAMS = (
    ("__substg1.0_", "msg"),
    ("Workbook", "xls"),
    ("Book", "xls"),
    ("WordDocument", "doc"),
    ("PowerPoint Document", "ppt"),
)
_ZIP_MEMBERS = (
    ("word/", "docx"),
    ("ppt/", "pptx"),
    ("xl/", "xlsx"),
    ("META-INF/container.xml", "epub"),
)


@dataclass(frozen=True, slots=True)
class Told:
    """The format of some bytes, its media type, and what was odd about its name."""

    name: str
    what: str
    media_type: str
    warnings: tuple[str, ...] = ()


def tell_format(data: bytes, info: FileInfo) -> Told:
    """Tell the format. Errors: `ParseError` for a container that is encrypted or damaged."""
    suffix = PurePosixPath(info.name).suffix.lower()
    named = _named(suffix, info.media_type.partition(";")[0].strip().lower())
    seen = _from_magic(data, named)
    if seen is None and named and named.parser and not named.text and data:
        seen = _text_in_place_of(named, data, info)
    found = seen or named or _from_text(data)
    odd = bool(seen and named and seen is not named)
    warnings = (f"named as {named.what}, read as {found.what}",) if named and odd else ()
    media_type = CODE_TYPES.get(suffix, found.media_type) if found.name == "code" else found.media_type
    return Told(found.name, found.what, media_type, warnings)


def _named(suffix: str, media_type: str) -> Format | None:
    """Look up the media type, then the suffix; a type that says little comes last."""
    vague = media_type in ("", "application/octet-stream", "text/plain", "application/zip")
    by_type = BY_MEDIA_TYPE.get(media_type) or BY_MEDIA_TYPE.get(f"{media_type.partition('/')[0]}/*")
    by_suffix = BY_SUFFIX.get(suffix)
    return (by_suffix or by_type) if vague else (by_type or by_suffix)


def _from_magic(data: bytes, named: Format | None) -> Format | None:
    """Tell containers by their first bytes. Text may begin like one, so it also has to look like one."""
    sample = data[:SAMPLE]
    if _is_pdf(data, named):
        return BY_NAME["pdf"]
    if data.startswith(_ZIPS):
        return BY_NAME[_inside_zip(data)]
    if data.startswith(_OLE):
        return BY_NAME[_inside_ole(data)]
    if data.startswith(b"{\\rtf"):
        return BY_NAME["rtf"]
    if looks_binary(sample) or b"\0" in sample:
        return next((BY_NAME[name] for magic, name in _MAGIC if data.startswith(magic)), None)
    return None


def _is_pdf(data: bytes, named: Format | None) -> bool:
    """Tell by a header in the first 1024 bytes; the less the name says so, the more there must be besides."""
    if named and named.name == "pdf":
        return b"%PDF-" in data[:1024]
    first = data[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"%PDF-") and b"obj" in data
    return first or (named is None and b"%PDF-" in data[:1024] and b"startxref" in data)


def _inside_zip(data: bytes) -> str:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, ValueError, EOFError, OSError) as error:
        raise ParseError(f"The ZIP container is damaged: {error}", reason="damaged") from error
    names = {member.filename for member in members}
    found = next((name for start, name in _ZIP_MEMBERS if any(key.startswith(start) for key in names)), None)
    if found and any(member.flag_bits & 1 for member in members):
        raise encrypted(BY_NAME[found].what)
    return found or ("odf" if "META-INF/manifest.xml" in names and "content.xml" in names else "archive")


def _inside_ole(data: bytes) -> str:
    """Tell old Office formats by the names of their streams, which are stored as UTF-16."""
    if "EncryptedPackage".encode("utf-16-le") in data:
        raise encrypted("an Office document")
    streams = ((name.encode("utf-16-le"), found) for name, found in _OLE_STREAMS)
    return next((found for name, found in streams if name in data), "program")


def _text_in_place_of(named: Format, data: bytes, info: FileInfo) -> Format:
    """Tell what a text is that bears the name of a container: error pages and exports are saved so."""
    found = BY_NAME["program"] if looks_binary(data[:SAMPLE]) else _from_text(data)
    if found.name == "html":
        return found
    if found.text and named.name in ("xls", "xlsx"):
        return BY_NAME["csv"]
    raise ParseError(f"{info.name!r} does not have the bytes of {named.what}.", reason="damaged")


def _from_text(data: bytes) -> Format:
    start = data[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if b"<!doctype html" in start or b"<html" in start:
        return BY_NAME["html"]
    return BY_NAME["xml"] if start.startswith(b"<?xml") else BY_NAME["text"]
