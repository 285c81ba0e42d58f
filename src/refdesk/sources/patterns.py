"""Patterns for paths: `*` and `?` within a name, `**` over folders. Without a slash they mean the name."""

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import PurePosixPath

_PIECES = re.compile(r"\*\*/|\*\*|\*|\?|[^*?]+")
_MEANINGS = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def matches(pattern: str, path: PurePosixPath) -> bool:
    """Tell whether a relative path fits the pattern; case counts."""
    subject = str(path) if "/" in pattern else path.name
    return _expression(pattern).fullmatch(subject) is not None


def matches_any(patterns: Sequence[str], path: PurePosixPath) -> bool:
    return any(matches(pattern, path) for pattern in patterns)


@lru_cache(maxsize=256)
def _expression(pattern: str) -> re.Pattern[str]:
    pieces = _PIECES.findall(pattern.strip("/") if pattern.endswith("/") else pattern)
    return re.compile("".join(_MEANINGS.get(piece) or re.escape(piece) for piece in pieces), re.DOTALL)
