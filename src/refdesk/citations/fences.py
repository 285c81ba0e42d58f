"""Code blocks between fences, told apart as a reader's Markdown does, or not trusted."""

import re
from dataclasses import dataclass
from typing import Literal

_OPENING = re.compile(r"( {0,3})(`{3,}(?=[^`|\n]*\n)|~{3,}(?=[^|\n]*\n))")
"""With a vertical bar in it, some read the first row of a table."""
_BEGUN = re.compile(r" {0,3}(?:`+[^`|\n]*|~+[^|\n]*)?\Z")
_INDENT = re.compile(r"[ \t]*")

Line = Literal["inside", "closing", "doubtful", "outside"]
"""What a line is to an open fence. `doubtful` closes it, `outside` is text again, and not for everybody."""


@dataclass(frozen=True, slots=True)
class Fence:
    """A fence that is open: its backticks or tildes, and the spaces before them."""

    signs: str
    indent: int

    def reads(self, line: str) -> Line:
        """Tell what the next line is.

        An indented fence may belong to a list item and end with it. Where that is cannot be told without
        reading all the lists, so what stands less far to the right is text again.
        """
        blank = _INDENT.match(line)
        before = blank[0] if blank else ""
        closing = re.fullmatch(rf"{self.signs}{self.signs[0]}*[ \t]*\n?", line[len(before) :])
        if not self.indent:
            return "closing" if closing and len(before) <= 3 and "\t" not in before else "inside"
        if closing:
            return "closing" if before == " " * self.indent else "doubtful"
        return "outside" if line.strip(" \t\n") and not before.startswith(" " * self.indent) else "inside"


def opening(text: str, start: int) -> tuple[Fence, int] | None:
    """Return the fence whose line begins at `start`, and where that line ends."""
    found = _OPENING.match(text, start)
    return (Fence(found[2], len(found[1])), text.index("\n", start) + 1) if found else None


def begun(text: str, start: int) -> bool:
    """Tell whether the text breaks off in a line that may be a fence."""
    return bool(_BEGUN.match(text, start))
