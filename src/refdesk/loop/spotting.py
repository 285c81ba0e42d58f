"""The values of JSON that a reply holds, in their order, whole or not, outside of what the model thinks."""

import json
import re
from dataclasses import dataclass
from typing import Any

from refdesk.llm.replies import LONGEST, WORK
from refdesk.llm.scanning import Cut, Malformed, Scanner
from refdesk.llm.thoughts import CLOSING, OPENING

_MARK = re.compile(rf"(?P<opening>{OPENING})|(?P<closing>{CLOSING})|[{{\[]", re.IGNORECASE)
_CLOSING = re.compile(CLOSING, re.IGNORECASE)
_MEANT = re.compile(r"\{\s*(?:[\"'“‘]|\w[\w$-]*\s*:)")
"""How an object begins that is meant as JSON; braces in prose and formulas do not."""


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a reply has a list or an object, or tries to write one."""

    text: str
    """What was read: the reply, or what a reply that is a JSON string holds."""
    begin: int
    """Where the reply begins behind its thoughts."""
    start: int
    end: int
    value: Any
    """None where it is not whole."""
    whole: bool
    cut: bool = False
    """Whether the reply breaks off inside it."""
    first: bool = False
    """Whether none is before it."""


def spots(reply: str) -> list[Spot]:
    """Return what a reply has, in order; work is bounded by its length.

    What is inside a value is none of them. Where an object cannot be read, what follows may be inside it.
    """
    text = _unquoted(reply[:LONGEST].strip())
    last = max((tag.start() for tag in _CLOSING.finditer(text)), default=-1)
    found: list[Spot] = []
    at, begin, inside, left = 0, 0, False, WORK * len(text) + 1000
    while left > 0 and (mark := _MARK.search(text, at)):
        at = mark.end()
        if mark["closing"] is not None:
            if not inside:  # everything up to here was thought
                found.clear()
            inside, begin = False, at
        elif mark["opening"] is not None:
            inside = True
        elif not inside:
            spot, left = _read(text, begin, mark.start(), left, first=not found)
            if spot is None:
                continue
            found.append(spot)
            if spot.whole or (spot.cut and last < spot.start):
                at = spot.end
    return found


def _read(text: str, begin: int, start: int, left: int, *, first: bool) -> tuple[Spot | None, int]:
    """Read what begins at `start`, None for what is no JSON; also how much may still be looked at."""
    scanner = Scanner(text, at=start, left=left)
    try:
        value = scanner.value()
    except (Cut, Malformed):
        if not _MEANT.match(text, start):
            return None, scanner.left
        return Spot(text, begin, start, start + 1, None, whole=False, first=first), scanner.left
    if scanner.complete:
        return Spot(text, begin, start, scanner.at, value, whole=True, first=first), scanner.left
    if text[start] == "[":  # its parts may be whole
        return None, scanner.left
    return Spot(text, begin, start, len(text), None, whole=False, cut=True, first=first), scanner.left


def _unquoted(text: str) -> str:
    """Return what a reply holds that is a JSON string as a whole, else the reply."""
    for _ in range(3):
        if not (text.startswith('"') and text.endswith('"') and "{" in text):
            break
        try:
            inner = json.loads(text)
        except ValueError:
            break
        text = str(inner).strip()
    return text
