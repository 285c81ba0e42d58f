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
from refdesk.llm.thoughts import CLOSING, OPENING

LONGEST = 200_000
"""Characters of a reply that are read."""
WORK = 4
"""Characters that may be looked at, as a multiple of the reply's length."""
_TAG = re.compile(f"(?P<opening>{OPENING})|(?P<closing>{CLOSING})", re.IGNORECASE)
_BEGINNING = re.compile(r"[{\[]")


@dataclass(frozen=True, slots=True)
class Reading:
    """A value that was found in a reply; `complete` is False where the reply breaks off inside it."""

    value: Any
    complete: bool
    length: int
    """Characters of the reply that it takes."""
    start: int
    """Where it begins in what was read: the reply without its thoughts, or the JSON string that it is."""


def read_json(reply: str) -> Any:
    """Return the JSON value in a reply, cut members left out. Errors: `ReplyUnreadable`."""
    return read(reply).value


def read(reply: str) -> Reading:
    """Find the object, else the list, that a reply gives: the longest complete one, else one that was cut.

    Errors: `ReplyUnreadable` where there is none.
    """
    return readings(reply)[0]


def readings(reply: str) -> list[Reading]:
    """Find all values that stand beside each other in a reply, the likeliest first.

    Errors: `ReplyUnreadable` where there is none.
    """
    text = without_thoughts(reply)[:LONGEST]
    for _ in range(3):
        if (inner := _quoted(text)) is None:
            break
        text = inner
    if not (found := _found(text)):
        raise ReplyUnreadable(f"The reply {reply!r:.200} holds no JSON.", reply=reply)
    return sorted(found, key=lambda one: (not one.complete, not isinstance(one.value, dict), -one.length))


def without_thoughts(reply: str) -> str:
    """Return a reply without the blocks in which a model thinks aloud, whatever tag of them is missing."""
    kept: list[str] = []
    at, inside = 0, False
    for tag in _TAG.finditer(reply):
        if tag["opening"] is None:
            if not inside:  # everything up to here was thought
                kept.clear()
            at, inside = tag.end(), False
        elif not inside:
            kept.append(reply[at : tag.start()])
            inside = True
    if not inside:
        kept.append(reply[at:])
    return "".join(kept).strip()


def _quoted(text: str) -> str | None:
    """Return what a reply holds that is a JSON string with JSON in it, None for any other."""
    if not text.startswith('"') or "{" not in text:
        return None
    scanner = Scanner(text, left=WORK * len(text))
    try:
        value = scanner.string()
    except (Cut, Malformed):
        return None
    return value if text[scanner.at :].strip() == "" else None


def _found(text: str) -> list[Reading]:
    found: list[Reading] = []
    at, left = 0, WORK * len(text) + 1000
    while left > 0 and (start := _BEGINNING.search(text, at)):
        at = start.end()
        scanner = Scanner(text, at=start.start(), left=left)
        try:
            value = scanner.value()
        except (Cut, Malformed):
            left = scanner.left
            continue
        left = scanner.left
        if value or scanner.complete:
            found.append(Reading(value, scanner.complete, scanner.at - start.start(), start.start()))
            at = scanner.at  # the end of the text where it was cut: what is inside a cut value is no answer
    return found
