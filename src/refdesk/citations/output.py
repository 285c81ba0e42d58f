"""What a reader is shown of a reply, kept free of anything that could be clicked or taken for a citation."""

import re
from dataclasses import dataclass, field

from refdesk.citations.brackets import UNSEEN

_RISKY = re.compile(
    rf"(?i)[a-z][a-z0-9+.-]*://|www\.[\w{UNSEEN}]|[a-z0-9._+-]@[\w-]+\.\w|(?:mailto|xmpp):\S|<[a-z/!?]"
    rf"|[a-z0-9._+-]@[a-z0-9_-]+\.[a-z0-9]|(?:mailto|xmpp):\S"
    rf"|\[[\\*_~{UNSEEN}]*\d[\\*_~\d{UNSEEN}]*\]"
)
_WORD = re.compile(rf"[\w{UNSEEN}]")
_ESCAPING = re.compile(r"(?<!\\)(?:\\\\)*\\\Z")
"""An odd number of backslashes: the last escapes what follows."""
_BLOCK_START = re.compile(r"(?:\A|.*\n)[\s>*+.)\d-]*\Z", re.DOTALL)
_CLOSING = tuple(".,;:!?)]}。，、；：！？）」』")
_TAIL = 64
_LONGEST_GROUP = 256
"""Places that are looked through for one that is there already."""


@dataclass(frozen=True, slots=True)
class Place:
    """What is cited somewhere in the finished text: `text[start:]` begins with `[marker]`.

    Where several sources share a marker, each that is cited has a place of its own, with the same start.
    """

    start: int
    marker: int
    number: int
    """Of the evidence."""


@dataclass(slots=True)
class Output:
    """Takes what is to be shown, piece by piece, and keeps pieces apart that would make a link together.

    What is left out of a reply leaves no trace: neither a doubled space nor one before a full stop.
    """

    places: list[Place] = field(default_factory=list)
    tail: str = ""
    """The last characters shown."""
    blanks: str = ""
    """White space that is shown when something follows it."""
    cut: bool = False
    """Something was left out since the last character shown."""
    group: dict[int, int] = field(default_factory=dict)
    """Markers shown since the last other character, with where they stand."""
    _pieces: list[str] = field(default_factory=list)
    _length: int = 0
    _label: bool = False
    """A bracket opened a line of this paragraph, so `]:` would define a link."""

    @property
    def at_line_start(self) -> bool:
        return not self.tail.rstrip(" ") or self.tail.rstrip(" ").endswith("\n")

    def take(self) -> str:
        """Return what was shown since the last call."""
        shown, self._pieces = "".join(self._pieces), []
        return shown

    def blank(self, character: str) -> None:
        """Take a space or a tab."""
        if not (self.cut and (self.blanks or self.at_line_start)):
            self.blanks += character

    def newline(self) -> bool:
        """Take a line break; return True where it ends a paragraph."""
        ends = self.tail.endswith("\n") or not self.tail
        if ends:
            self._label = False
        self.blanks = "" if self.cut else self.blanks
        self.write("\n")
        return ends

    def close(self) -> None:
        """Show the white space that nothing follows."""
        if self.blanks and not self.cut:
            self.write("")

    def mark(self, marker: int, number: int) -> None:
        """Show `[marker]` for evidence of a number, unless it was shown just before."""
        if marker in self.group:
            self.cut = True
        else:
            shown, group = f"[{marker}]", self.group
            self.write(shown, marker=True)
            self.group = {**group, marker: self._length - len(shown)}
        place = Place(self.group[marker], marker, number)
        if place not in self.places[-_LONGEST_GROUP:]:
            self.places.append(place)

    def tag(self, tag: str) -> None:
        """Show a word in angle brackets that HTML does not know; where it begins a line, not as a tag.

        There it would begin a block, in which Markdown takes everything for HTML.
        """
        begins = _BLOCK_START.match(self.tail + self.blanks)
        self.write(f"< {tag[1:]}" if begins else tag, checked=False)

    def address(self, address: str) -> None:
        """Show an address that may stay, apart from a word before it, as code: nobody can click it."""
        if _WORD.match(self.tail[-1:]):
            self.blanks = self.blanks or " "
        self.write(f"`{address}`", checked=False)

    def write(self, text: str, *, checked: bool = True, marker: bool = False) -> None:
        """Show a text after the white space that waits; `checked` is off for what is whole, such as code."""
        if not self._length and not (text := text.lstrip()):
            self.blanks = ""
            return
        blanks = "" if not self._length or (self.cut and text.startswith(_CLOSING)) else self.blanks
        piece = blanks + text
        if self._must_part(piece, checked=checked, marker=marker):
            piece = " " + piece
        self._label = self._label or (text.startswith("[") and bool(_BLOCK_START.match(self.tail + blanks)))
        self._pieces.append(piece)
        self._length += len(piece)
        self.tail = (self.tail + piece)[-_TAIL:]
        self.blanks, self.cut, self.group = "", False, {}

    def _must_part(self, piece: str, *, checked: bool, marker: bool) -> bool:
        """Tell whether a piece joined to what was shown before makes a link, a tag or a marker of it."""
        if piece.startswith("`") and (self.tail.endswith("`") or _ESCAPING.search(self.tail)):
            return True
        if marker:
            return self.tail.endswith("[") and piece.startswith("[")
        if not checked:
            return False
        if self.tail.endswith("]") and (piece[:1] == "(" or (piece[:1] == ":" and self._label)):
            return True
        return any(found.end() > len(self.tail) for found in _RISKY.finditer(self.tail + piece))
