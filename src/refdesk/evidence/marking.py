"""Text of others as a model is shown it: every line marked, and nothing in it can pass for our layout."""

import re
from collections.abc import Iterator

from refdesk.cleaning import visible

MARK = ">"
"""Begins every line that others wrote; no line of ours begins with it."""
WIDEST = 240
"""Characters of a line; a longer one is broken, so that the mark comes again."""

_NUMBERED = re.compile(r"[\[【［〔〚⟦❲]+\s*(\^?\d[\d\s,;–-]*)[\]】］〕〛⟧❳]+")
_WIDE = re.compile(r"[【［〔](?=\s*\d)")
_DOUBLE = re.compile(r"\[(?=\[|\d+\])|\](?=\])")
_TAG = re.compile(r"[<＜﹤](?=[/!?|｜]|[^\W\d_])")
_TOKEN = re.compile(r"\[(/?[A-Z][A-Z_]{2,30})\]")
_ANGLED = re.compile(r"<(?=[|｜]|<?/?SYS>|(?:start|end)_of_turn>)")
_BRACKETED = re.compile(r"\[(/?(?:INST|TOOL_CALLS|SYSTEM_PROMPT))\]")
_OURS = re.compile(r"(\[\[\d{1,4}\]\])")
_MARKER = re.compile(r"\[\[(\s*\d+\s*)\]\]")
_STOPS = re.compile(r"[。！？；，、]")


def neutralise(text: str) -> str:
    """Rewrite what looks like a tag, a citation marker or a model's control token; drop what nobody sees."""
    text = _NUMBERED.sub(lambda found: f"({found[1].strip()})", visible(text))
    text = _DOUBLE.sub(lambda found: f"{found[0]} ", _WIDE.sub("(", text))
    return _TOKEN.sub(r"(\1)", _TAG.sub("‹", text))


def without_tokens(text: str) -> str:
    """Return a text in which no chat template's control tokens are left; the rest stays as it is."""
    return _BRACKETED.sub(r"(\1)", _ANGLED.sub("‹", text))


def neutralise_notes(notes: str) -> str:
    """Neutralise notes on evidence; their markers `[[n]]` stay."""
    parts = _OURS.split(notes)
    return "".join(part if _OURS.fullmatch(part) else neutralise(part) for part in parts)


def marked_lines(text: str) -> str:
    """Return a text with `> ` before every line; long lines are broken at a space, rows of tables are not."""
    return "\n".join(f"{MARK} {piece}".rstrip() for line in text.splitlines() for piece in _pieces(line))


def quoted(text: str) -> str:
    """Return what somebody else wrote, neutralised but for markers `[[n]]`, with every line marked."""
    return marked_lines(neutralise_notes(text).strip())


def quoted_data(text: str) -> str:
    """Return what a tool gave back, every line marked; JSON stays JSON, nothing in it is a marker `[[n]]`."""
    return marked_lines(_MARKER.sub(r"[ [\1] ]", without_tokens(visible(text))))


def _pieces(line: str) -> Iterator[str]:
    row = line.lstrip().startswith("|")
    while len(line) > WIDEST and not row:
        stops = [stop.end() for stop in _STOPS.finditer(line, 0, WIDEST)]
        end = line.rfind(" ", 1, WIDEST) + 1 or max(stops, default=0) or line.find(" ", WIDEST) + 1
        if not end:
            break
        yield line[:end].rstrip()
        line = line[end:]
    yield line
