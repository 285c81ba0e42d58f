"""ZIP containers of documents, opened with limits; what they hold may be hostile."""

import io
import zipfile

from refdesk.errors import ParseError

MAX_MEMBERS = 20_000
MAX_UNPACKED = 512 * 1024 * 1024
"""Bytes of all members together."""
MAX_RATIO = 200
"""Unpacked over packed size, for containers that unpack to more than `RATIO_MATTERS`."""
RATIO_MATTERS = 64 * 1024 * 1024


def open_archive(data: bytes) -> zipfile.ZipFile:
    """Open a container after checking what it says it unpacks to; zipfile never reads more than that.

    Errors: `ParseError` with reason `damaged` or `too_large`.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, EOFError, OSError) as error:
        raise ParseError(f"The ZIP container is damaged: {error}", reason="damaged") from error
    members = archive.infolist()
    unpacked = sum(member.file_size for member in members)
    bomb = unpacked > RATIO_MATTERS and unpacked > MAX_RATIO * len(data)
    if len(members) > MAX_MEMBERS or unpacked > MAX_UNPACKED or bomb:
        message = f"The container has {len(members):,} members that unpack to {unpacked:,} bytes."
        raise ParseError(message, reason="too_large")
    return archive


def check_archive(data: bytes) -> None:
    """Check a container that a library opens itself. Errors: as `open_archive`."""
    open_archive(data).close()


def encrypted(what: str) -> ParseError:
    """Return the error for a document that needs a password, which was not given or is wrong."""
    return ParseError(
        f"A password protects {what}.",
        reason="encrypted",
        remedy="Set `password` to open it.",
    )
