"""Frames between the library and its parser processes.

A frame is two lengths (8 bytes each), a JSON head and raw bytes. JSON and not pickle: a parser that a hostile
document took over must not be able to run code in the process that reads its reply.
"""

import json
import struct
from dataclasses import asdict
from datetime import datetime
from typing import IO, Any

from refdesk.documents import Heading, Metadata, Page, Scalar
from refdesk.errors import ParseError
from refdesk.parsing import FileInfo, Parsed, ParseLimits

MAX_FRAME = 2**32
"""Bytes; more is a sign that the other side does not speak in frames."""

_LENGTHS = struct.Struct("!QQ")


def write_frame(stream: IO[bytes], head: dict[str, Any], body: bytes = b"") -> None:
    """Write one frame and flush it."""
    encoded = json.dumps(head, ensure_ascii=False).encode("utf-8", "replace")
    stream.write(_LENGTHS.pack(len(encoded), len(body)) + encoded)
    stream.write(body)
    stream.flush()


def read_frame(stream: IO[bytes]) -> tuple[dict[str, Any], bytes]:
    """Read one frame. Errors: `EOFError` where the other side is gone."""
    head, body = _LENGTHS.unpack(_read_exactly(stream, _LENGTHS.size))
    if head + body > MAX_FRAME:
        raise EOFError(f"A frame of {head + body} bytes is none of ours.")
    return json.loads(_read_exactly(stream, head)), _read_exactly(stream, body)


def _read_exactly(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) != size:
        raise EOFError("The other process closed its pipe.")
    return data


def request_head(info: FileInfo, limits: ParseLimits) -> dict[str, Any]:
    return {"info": asdict(info), "limits": asdict(limits)}


def parse_request(head: dict[str, Any]) -> tuple[FileInfo, ParseLimits]:
    return FileInfo(**head["info"]), ParseLimits(**head["limits"])


def parsed_head(parsed: Parsed) -> dict[str, Any]:
    """Return everything but the text, which travels as the body."""
    return {
        "title": parsed.title,
        "media_type": parsed.media_type,
        "pages": [[page.number, page.start, page.end] for page in parsed.pages],
        "headings": [[heading.level, heading.title, heading.start] for heading in parsed.headings],
        "metadata": {key: _pack(value) for key, value in parsed.metadata.items()},
        "warnings": list(parsed.warnings),
    }


def error_head(error: ParseError) -> dict[str, Any]:
    return {"error": error.message, "reason": error.reason, "remedy": error.remedy}


def parse_reply(head: dict[str, Any], body: bytes) -> Parsed:
    """Return what a worker read. Errors: the `ParseError` that it replied with."""
    if "error" in head:
        raise ParseError(str(head["error"]), reason=str(head["reason"]), remedy=str(head["remedy"]))
    return Parsed(
        text=body.decode("utf-8"),
        title=head["title"],
        media_type=head["media_type"],
        pages=tuple(Page(*page) for page in head["pages"]),
        headings=tuple(Heading(*heading) for heading in head["headings"]),
        metadata=_unpack_all(head["metadata"]),
        warnings=tuple(head["warnings"]),
    )


def _pack(value: Scalar | tuple[Scalar, ...]) -> Any:
    if isinstance(value, tuple):
        return [_pack(item) for item in value]
    return {"datetime": value.isoformat()} if isinstance(value, datetime) else value


def _unpack(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_unpack(item) for item in value)
    return datetime.fromisoformat(value["datetime"]) if isinstance(value, dict) else value


def _unpack_all(packed: dict[str, Any]) -> Metadata:
    return {key: _unpack(value) for key, value in packed.items()}
