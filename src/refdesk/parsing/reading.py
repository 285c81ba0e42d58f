"""Choose a parser, run it in this process, check what it returns."""

import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import replace

from refdesk.cleaning import clean, clean_metadata
from refdesk.errors import ParseError
from refdesk.parsing import FileInfo, Parsed, ParseLimits, Reason
from refdesk.parsing.sniffing import tell_format

Parser = Callable[[bytes, FileInfo], Parsed]


def read(data: bytes, info: FileInfo, limits: ParseLimits, parsers: Mapping[str, str]) -> Parsed:
    """Return the text of a document. `parsers` maps format names to `module:function`.

    Errors: `ParseError` with a stable reason, also for whatever a parser's library raises.
    """
    if not data.strip():
        raise ParseError(f"{info.name!r} is empty.", reason="empty")
    found = tell_format(data, info)
    if found.name not in parsers:
        reason: Reason = "binary" if found.name == "program" else "unsupported"
        raise ParseError(f"{info.name!r} is {found.what}, which refdesk does not read.", reason=reason)
    parsed = _run(parsers[found.name], data, info)
    _check(parsed, info, limits)
    return replace(
        parsed,
        title=clean(parsed.title).text,
        media_type=found.media_type,
        metadata=clean_metadata(parsed.metadata),
        warnings=found.warnings + parsed.warnings,
    )


def _run(reference: str, data: bytes, info: FileInfo) -> Parsed:
    parser = _load(reference)
    try:
        return parser(data, info)
    except (ParseError, MemoryError):
        raise
    except Exception as error:
        message = f"{info.name!r} could not be read: {type(error).__name__}: {str(error)[:200]}"
        raise ParseError(message, reason="damaged") from error


def _load(reference: str) -> Parser:
    # Loaded by name, so that a worker imports only the libraries of the formats that it meets.
    try:
        parser: Parser = pkgutil.resolve_name(reference)
    except (ImportError, AttributeError) as error:
        remedy = "Install refdesk again, with all that it needs."
        message = f"The parser {reference!r} cannot be loaded: {error}."
        raise ParseError(message, reason="crashed", remedy=remedy) from error
    return parser


def _check(parsed: Parsed, info: FileInfo, limits: ParseLimits) -> None:
    if not parsed.text.strip():
        raise ParseError(
            f"{info.name!r} has no text.",
            reason="empty",
            remedy="; ".join(parsed.warnings),
        )
    if len(parsed.text) > limits.characters:
        message = f"{info.name!r} has {len(parsed.text):,} characters, more than {limits.characters:,}."
        raise ParseError(message, reason="too_large", remedy="Split the document, or raise the limit.")
