"""One SELECT and nothing else: what a query of somebody's is, without running it."""

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches

_PIECES = re.compile(
    r"(?P<text>'(?:[^'\\]|''|\\[^'])*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|\$(?P<tag>\w*)\$.*?\$(?P=tag)\$)"
    r"|(?P<comment>--[^\n]*|/\*.*?\*/)"
    r"|(?P<open>['\"`]|/\*)"
    r"|(?P<cast>::)"
    r"|:(?P<parameter>[A-Za-z_]\w*)"
    r"|(?P<sign>[();:])",
    re.DOTALL,
)
_FIRST = re.compile(r"[\s(]*(select|with)\b", re.IGNORECASE)


def faults(query: str, values: Iterable[str] = ()) -> list[tuple[str, str]]:
    """Return what is wrong with a query as reason and remedy: not one SELECT, or unknown parameters."""
    pieces = list(_PIECES.finditer(query))
    known = set(values)
    used = set(parameters(query))
    return [
        *_unclosed(pieces),
        *_unbalanced([piece["sign"] for piece in pieces]),
        *_more_than_one(query, pieces),
        *_no_select(query),
        *(_unknown(name, known) for name in sorted(used - known)),
    ]


def _unclosed(pieces: Iterable[re.Match[str]]) -> Iterator[tuple[str, str]]:
    for piece in pieces:
        if sign := piece["open"]:
            yield f"It opens {sign} and never closes it.", "Close it; a quote in a text is doubled: ''."
            return


def _unbalanced(signs: Iterable[str | None]) -> Iterator[tuple[str, str]]:
    depth = 0
    for sign in signs:
        depth += {"(": 1, ")": -1}.get(sign or "", 0)
        if depth < 0:
            yield "It closes a parenthesis that it did not open.", "Take it out."
            return
    if depth:
        yield "It opens a parenthesis and never closes it.", "Close it."


def _more_than_one(query: str, pieces: Iterable[re.Match[str]]) -> Iterator[tuple[str, str]]:
    end = next((piece.end() for piece in pieces if piece["sign"] == ";"), len(query))
    if _bare(query[end:]).strip():
        yield "It has more than one statement.", "Write one SELECT, without `;`."


def _no_select(query: str) -> Iterator[tuple[str, str]]:
    if not _FIRST.match(_bare(query)):
        shown = " ".join(query.split())[:40] or "empty"
        yield f"It is no SELECT: {shown}.", "Write one SELECT, or WITH ... SELECT."


def _bare(query: str) -> str:
    """Return a query without its comments."""
    return _PIECES.sub(lambda piece: " " if piece["comment"] else piece[0], query)


def _unknown(name: str, known: set[str]) -> tuple[str, str]:
    near = get_close_matches(name, known, 1)
    remedy = f"Did you mean ':{near[0]}'?" if near else f"Give its value below `parameters:` as {name!r}."
    return f"It has the parameter ':{name}', which has no value.", remedy


def parameters(query: str) -> tuple[str, ...]:
    """Return the names of the parameters in a query, each once."""
    found = (piece["parameter"] for piece in _PIECES.finditer(query))
    return tuple(dict.fromkeys(name for name in found if name))


def prepared(query: str) -> str:
    """Return the query as SQLAlchemy takes it: without comments and a last `;`, colons in texts kept."""
    return _PIECES.sub(_kept, query).strip().removesuffix(";") + "\n"


def _kept(piece: re.Match[str]) -> str:
    if piece["comment"]:
        return " "
    return piece[0].replace(":", "\\:") if piece["text"] else piece[0]
