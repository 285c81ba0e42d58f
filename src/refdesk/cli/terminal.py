"""Text on a terminal or in a pipe: nothing that a document says may steer the terminal."""

import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

SEQUENCES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # control sequences: colours, cursor
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)"  # titles, links
)
BREAKS = re.compile(r"(?<=[\s\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\uff60])")
"""Lines may end after white space and after wide characters."""
CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]"
)
"""With overrides of the direction, which make lines look like others, and tags, which nobody sees."""


def clean(text: str) -> str:
    """Drop escape sequences and what steers or hides text, except tabs and newlines."""
    return CONTROLS.sub("", SEQUENCES.sub("", text.replace("\r\n", "\n")))


def one_line(text: str, limit: int = 0) -> str:
    """Clean a text and join its lines; cut it to `limit` characters where that is above 0."""
    joined = " ".join(clean(text).split())
    return joined if not limit or len(joined) <= limit else joined[: limit - 1].rstrip() + "…"


def console(*, stderr: bool = False) -> "Console":
    """Return a console that takes text literally: no markup, no emoji codes, no highlighting."""
    from rich.console import Console

    return Console(stderr=stderr, markup=False, emoji=False, highlight=False)


def say(console: "Console", text: str = "", style: str = "", *, indent: int = 0) -> None:
    """Print a text: wrapped at words on a terminal, as it is in a pipe."""
    from rich.text import Text

    if console.is_terminal:
        for line in Text(clean(text), style).wrap(console, max(console.width - indent, 10)) or [Text()]:
            line.rstrip()
            console.print(Text(" " * indent) + line if line else line, soft_wrap=True)
    else:
        console.file.writelines(" " * indent + line + "\n" for line in clean(text).split("\n"))


def tolerant_streams() -> None:
    """Let characters that the terminal's encoding lacks be shown as escapes instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


class Wrapping:
    """Break a stream of text at words, for a terminal of `width` columns; at 0 nothing is broken."""

    def __init__(self, width: int = 0) -> None:
        self.width = width
        self.column = 0
        self.word = ""

    def feed(self, text: str) -> str:
        """Take a piece and return what can be shown; the last word is held back, it may go on."""
        if not self.width:
            return clean(text)
        *ready, self.word = BREAKS.split(self.word + clean(text))
        if len(self.word) > self.width:
            ready, self.word = [*ready, self.word], ""
        return "".join(piece for word in ready for piece in self._placed(word))

    def flush(self) -> str:
        """Return the word that was held back."""
        word, self.word = self.word, ""
        return "".join(self._placed(word))

    def _placed(self, word: str) -> Iterator[str]:
        from rich.cells import cell_len

        size = cell_len(word.rstrip())
        if self.column and self.column + size > self.width:
            yield "\n"
            self.column = 0
        self.column = 0 if word.endswith("\n") else self.column + size + len(word) - len(word.rstrip())
        yield word
