"""Frames between the library and its parser processes.

A frame is two lengths (8 bytes each), a JSON head and raw bytes. JSON and not pickle: a parser that a hostile
document took over must not be able to run code in the process that reads its reply.
"""

import json
import struct
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import IO, Any, TypeVar

from refdesk.documents import Heading, Metadata, Page, Scalar
from refdesk.errors import ParseError
from refdesk.parsing import FileInfo, Parsed, ParseLimits

MAX_FRAME = 2**32
"""Bytes; more is a sign that the other side does not speak in frames."""

Kind = TypeVar("Kind")

_LENGTHS = struct.Struct("!QQ")


@dataclass(frozen=True, slots=True)
class Reply:
    """What became of a document, and the bytes of memory that its worker holds since it started."""

    outcome: Parsed | ParseError
    memory: int


def write_frame(stream: IO[bytes], head: dict[str, Any], body: bytes = b"") -> None:
    """Write one frame and flush it."""
    encoded = json.dumps(head, ensure_ascii=False).encode("utf-8", "replace")
    stream.write(_LENGTHS.pack(len(encoded), len(body)) + encoded)
    stream.write(body)
    stream.flush()


def read_frame(stream: IO[bytes]) -> tuple[dict[str, Any], bytes]:
    """Read one frame. Errors: `EOFError` where the other side is gone, `ValueError` for what is no frame."""
    head, body = _LENGTHS.unpack(_read_exactly(stream, _LENGTHS.size))
    if head + body > MAX_FRAME:
        raise ValueError(f"a frame of {head + body} bytes")
    try:
        decoded = json.loads(_read_exactly(stream, head))
    except RecursionError as error:
        raise ValueError("a head that is nested too deeply") from error
    return _typed(decoded, dict), _read_exactly(stream, body)


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


def parse_reply(head: dict[str, Any], body: bytes) -> Reply:
    """Return what a worker replied. Errors: `ValueError` for what no worker of ours writes."""
    try:
        memory = _typed(head["memory"], int)
        return Reply(_error(head) if "error" in head else _parsed(head, body), memory)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"a reply that lacks {error}") from error


def _error(head: dict[str, Any]) -> ParseError:
    message, reason, remedy = (_typed(head[key], str) for key in ("error", "reason", "remedy"))
    return ParseError(message, reason=reason, remedy=remedy)


def _parsed(head: dict[str, Any], body: bytes) -> Parsed:
    pages = [[_typed(number, int) for number in page] for page in head["pages"]]
    headings = [
        (_typed(level, int), _typed(title, str), _typed(at, int)) for level, title, at in head["headings"]
    ]
    return Parsed(
        text=body.decode("utf-8"),
        title=_typed(head["title"], str),
        media_type=_typed(head["media_type"], str),
        pages=tuple(Page(*page) for page in pages),
        headings=tuple(Heading(*heading) for heading in headings),
        metadata=_unpack_all(head["metadata"]),
        warnings=tuple(_typed(warning, str) for warning in head["warnings"]),
    )


def _typed(value: Any, kind: type[Kind]) -> Kind:
    if not isinstance(value, kind):
        raise ValueError(f"{type(value).__name__} for {kind.__name__}")
    return value


def _pack(value: Scalar | tuple[Scalar, ...]) -> Any:
    if isinstance(value, tuple):
        return [_pack(item) for item in value]
    return {"datetime": value.isoformat()} if isinstance(value, datetime) else value


def _unpack(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_unpack_scalar(item) for item in value)
    return _unpack_scalar(value)


def _unpack_scalar(value: Any) -> Scalar:
    if isinstance(value, dict):
        return datetime.fromisoformat(value["datetime"])
    if not isinstance(value, str | int | float):
        raise ValueError(f"{type(value).__name__} as metadata")
    return value


def _unpack_all(packed: dict[str, Any]) -> Metadata:
    return {key: _unpack(value) for key, value in packed.items()}
