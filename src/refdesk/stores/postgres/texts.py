"""Text as Postgres can keep it: without NUL, and terms short enough for an index."""

import hashlib
import zlib

LONGEST_TERM = 400
"""Bytes; an index of Postgres takes 2,704."""
BEGINNING = 64
DEFLATE_LEVEL = 3


def escaped(text: str) -> str:
    """Return a text without NUL. Order and equality of texts stay."""
    return text.replace("\1", "\1\2").replace("\0", "\1\1") if "\0" in text or "\1" in text else text


def plain(text: str) -> str:
    """Return what was escaped."""
    return text.replace("\1\1", "\0").replace("\1\2", "\1") if "\1" in text else text


def term(token: str) -> str:
    """Return a token as postings name it; a long one by its beginning and a hash."""
    if len(token.encode()) <= LONGEST_TERM:
        return escaped(token)
    return f"{escaped(token[:BEGINNING])}\1\3{hashlib.sha256(token.encode()).hexdigest()}"


def deflated(text: str) -> bytes:
    """Return a text, small."""
    return zlib.compress(text.encode(), DEFLATE_LEVEL)


def inflated(data: bytes) -> str:
    """Return what was deflated."""
    return zlib.decompress(data).decode()
