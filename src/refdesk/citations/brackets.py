"""Read citation markers the way models really write them."""

import re
from dataclasses import dataclass

WAIT = -1
OPENING, CLOSING = "[【［〔〚⟦", "]】］〕〛⟧"
_DASH = "-‐‑‒–—―−－"
UNSEEN = r"\u00ad\u034f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
_LEXEME = re.compile(
    rf"(?P<open>\\?[{re.escape(OPENING)}])"
    rf"|(?P<close>\\?[{re.escape(CLOSING)}])"
    r"|(?P<number>\d{1,9}(?:†[^\[\]【】\s]*)?)"
    rf"|(?P<dash>[{_DASH}])"
    rf"|(?P<space>(?:(?!\n)\s|[,;&，、；{UNSEEN}])+)"
    r"|(?P<word>[\^#*_]|(?:sources?|evidence|excerpts?|passages?|documents?|refs?)\b[ .:#]*|(?:and|to)\b)",
    re.IGNORECASE,
)
_WORD_START = re.compile(r"[A-Za-z]+\Z")
_RANGE = re.compile(rf"(\d+)\s*(?:[{_DASH}]|\bto\b)\s*(\d+)", re.IGNORECASE)
_NUMBER = re.compile(rf"([{_DASH}]\s*)?(\d+)")
_SOURCE_TAIL = re.compile(r"†[^\[\]【】\s]*")


@dataclass(frozen=True, slots=True)
class Group:
    """A run of markers: `end` is where it stops in the text, `numbers` what it names, in order."""

    end: int
    numbers: tuple[int, ...]
    unfinished: bool = False
    """The text broke off inside the marker."""


def read_group(text: str, start: int, *, spare_close: bool, final: bool) -> Group | int | None:
    """Read the marker run that opens at `start`.

    Return the run, None where the bracket is no marker, or WAIT where more text is needed to tell.
    `spare_close` says that a surplus closing bracket belongs to the run rather than to the text around it.
    """
    depth, at, end, opened, digits = 0, start, start, 0, False
    while at < len(text) and (lexeme := _LEXEME.match(text, at)):
        kind = lexeme.lastgroup
        if kind == "open":
            depth, opened = depth + 1, max(opened, depth + 1)
        elif kind == "close":
            if depth == 0 and not (spare_close and at == end):
                break
            depth = max(0, depth - 1)
            end = lexeme.end() if digits else end
        elif depth == 0 and kind != "space":
            break
        digits = digits or kind == "number"
        at = lexeme.end()
    if not final and (at == len(text) or text[at:] == "\\" or (depth and _WORD_START.match(text, at))):
        return WAIT
    if end > start:
        return _finished(text[start:end], end, deepest=opened)
    return Group(at, (), unfinished=True) if depth and _breaks_off(text, at, digits) else None


def _breaks_off(text: str, at: int, digits: bool) -> bool:
    """Tell whether a marker that is open at `at` was never finished: the text or its line ends there."""
    return at == len(text) or (digits and text[at] == "\n")


def _finished(written: str, end: int, *, deepest: int) -> Group | None:
    numbers = _numbers(written)
    alone = deepest == 1 and sum(map(written.count, OPENING)) == 1
    if alone and "," in written and len(numbers) == 2 and min(numbers) < 1:
        return None  # an interval such as [0, 1], not a list of sources
    return Group(end, numbers)


def _numbers(written: str) -> tuple[int, ...]:
    """Return the numbers of a marker run; a range gives all of its members, a minus a negative number."""
    expanded = _RANGE.sub(_members, _SOURCE_TAIL.sub("", written))
    return tuple(-_int(digits) if minus else _int(digits) for minus, digits in _NUMBER.findall(expanded))


def _members(found: re.Match[str]) -> str:
    low, high = _int(found[1]), _int(found[2])
    if low > high or high - low > _LONGEST_RANGE:
        return f"{low} {high}"
    return " ".join(map(str, range(low, high + 1)))


def _int(digits: str) -> int:
    """Read a number; one that is too long for any evidence is just too high."""
    return int(digits) if len(digits) <= _MOST_DIGITS else 10**_MOST_DIGITS


_MOST_DIGITS = 9
_LONGEST_RANGE = 50
