"""JSON out of what models really say.

The reader accepts what small models write: thoughts before the answer, fences and prose around it, single and
typographic quotes, unquoted keys, comments, trailing commas, Python's literals, JSON inside a string, and a
reply that was cut off. It never invents a value: a member that was cut is left out, and the reading says so.
Time and memory are bounded by the length of the reply, whatever it holds.
"""

import re
from dataclasses import dataclass
from typing import Any

from refdesk.errors import ReplyUnreadable
from refdesk.llm.scanning import Cut, Malformed, Scanner

LONGEST = 200_000
"""Characters of a reply that are read."""
WORK = 20
"""Characters that may be looked at, as a multiple of the reply's length."""
_TAGS = "think|thinking|thought|thoughts|reasoning|reflection"
_BLOCK = re.compile(rf"<({_TAGS})>.*?</\1>", re.DOTALL | re.IGNORECASE)
_CLOSING = re.compile(rf"</({_TAGS})>", re.IGNORECASE)
_OPENING = re.compile(rf"<({_TAGS})>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reading:
    """A value that was found in a reply; `complete` is False where the reply breaks off inside it."""

    value: Any
    complete: bool
    length: int
    """Characters of the reply that it takes."""


def read_json(reply: str) -> Any:
    """Return the JSON value in a reply, cut members left out. Errors: `ReplyUnreadable`."""
    return read(reply).value


def read(reply: str) -> Reading:
    """Find the object, else the list, that a reply gives: the longest complete one, else one that was cut.

    Errors: `ReplyUnreadable` where there is none.
    """
    text = without_thoughts(reply)[:LONGEST]
    for _ in range(3):
        if (inner := _quoted(text)) is None:
            break
        text = inner
    found = _readings(text)
    if not found:
        raise ReplyUnreadable(f"The reply {reply!r:.200} holds no JSON.", reply=reply)
    return max(found, key=lambda one: (one.complete, isinstance(one.value, dict), one.length))


def without_thoughts(reply: str) -> str:
    """Return a reply without the blocks in which a model thinks aloud, whatever tag of them is missing."""
    text = _BLOCK.sub("", reply)
    if closings := list(_CLOSING.finditer(text)):
        text = text[closings[-1].end() :]
    if opening := _OPENING.search(text):
        text = text[: opening.start()]
    return text.strip()


def _quoted(text: str) -> str | None:
    """Return what a reply holds that is a JSON string with JSON in it, None for any other."""
    if not text.startswith('"') or "{" not in text:
        return None
    scanner = Scanner(text)
    try:
        value = scanner.string()
    except (Cut, Malformed):
        return None
    return value if text[scanner.at :].strip() == "" else None


def _readings(text: str) -> list[Reading]:
    found: list[Reading] = []
    at, left = 0, WORK * len(text) + 1000
    while left > 0 and (start := _next_opening(text, at)) >= 0:
        scanner = Scanner(text, at=start)
        try:
            value = scanner.value()
            if value or scanner.complete:
                found.append(Reading(value, scanner.complete, scanner.at - start))
            at = scanner.at if scanner.complete else start + 1
        except (Cut, Malformed):
            at = start + 1
        left -= max(scanner.at - start, 1)
    return found


def _next_opening(text: str, at: int) -> int:
    places = [place for place in (text.find("{", at), text.find("[", at)) if place >= 0]
    return min(places, default=-1)
