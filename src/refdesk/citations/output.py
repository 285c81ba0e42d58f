"""What a reader is shown of a reply, kept free of anything that could be clicked or taken for a citation."""

import re
from dataclasses import dataclass, field

_RISKY = re.compile(r"(?i)[a-z][a-z0-9+.-]*://|www\.\w|<[a-z/!?]|\[\d+\]")
_BLOCK_START = re.compile(r"(?:\A|.*\n)[\s>*+.)\d-]*\Z", re.DOTALL)
_CLOSING = tuple(".,;:!?)]}。，、；：！？）」』")
_AFTER_ADDRESS = " \n.,;:!?)]}\"'*_~"
_TAIL = 64


@dataclass(frozen=True, slots=True)
class Place:
    """A marker in the finished text: `text[start:]` begins with `[marker]`."""

    start: int
    marker: int


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
    group: set[int] = field(default_factory=set)
    """Markers shown since the last other character."""
    _pieces: list[str] = field(default_factory=list)
    _length: int = 0
    _address: bool = False
    """The last thing shown is an address that was let through; nothing may prolong it."""
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

    def mark(self, marker: int) -> None:
        """Show `[marker]`, unless it was shown just before."""
        if marker in self.group:
            self.cut = True
            return
        group = self.group | {marker}
        self.write(f"[{marker}]", marker=marker)
        self.group = group

    def address(self, address: str) -> None:
        """Show an address that may stay."""
        self.write(address, checked=False)
        self._address = True

    def write(self, text: str, *, checked: bool = True, marker: int = 0) -> None:
        """Show a text after the white space that waits; `checked` is off for what is whole, such as code."""
        if not self._length and not (text := (self.blanks + text).lstrip()):
            return
        blanks = "" if not self._length or (self.cut and text.startswith(_CLOSING)) else self.blanks
        piece = blanks + text
        if self._must_part(piece, checked=checked, marker=marker):
            piece = " " + piece
        if marker:
            self.places.append(Place(self._length + len(piece) - len(text), marker))
        self._address = self._address and piece in _AFTER_ADDRESS and not piece.isspace()
        self._label = self._label or (text.startswith("[") and bool(_BLOCK_START.match(self.tail + blanks)))
        self._pieces.append(piece)
        self._length += len(piece)
        self.tail = (self.tail + piece)[-_TAIL:]
        self.blanks, self.cut, self.group = "", False, set()

    def _must_part(self, piece: str, *, checked: bool, marker: int) -> bool:
        """Tell whether a piece joined to what was shown before makes a link, a tag or a marker of it."""
        if self._address and piece[:1] not in _AFTER_ADDRESS:
            return True
        if marker:
            return self.tail.endswith("[") and piece.startswith("[")
        if not checked:
            return False
        if self.tail.endswith("]") and (piece[:1] == "(" or (piece[:1] == ":" and self._label)):
            return True
        return any(found.end() > len(self.tail) for found in _RISKY.finditer(self.tail + piece))
