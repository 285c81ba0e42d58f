"""The text a reader sees, made out of what a model writes while it still writes."""

import re
from dataclasses import dataclass, field

from refdesk.citations import brackets, links

_PLAIN = re.compile(r"[^\W_]+(?=[\s,;\"'’)])|[^\x00-\x7f\s【】［］〔〕]+")
_TICKS = re.compile(r"`+")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`\n]*\n)|~{3,}(?=[^\n]*\n))")
_FENCE_START = re.compile(r" {0,3}(?:`+[^`\n]*|~+[^\n]*)?\Z")
_CONTAINER = re.compile(r"(?:\A|\n)(?: {4,}|\s*\t\s*|\s*(?:[-*+>]|\d+[.)])[ \t>*+-]*)\Z")
_RISKY = re.compile(r"(?i)[a-z][a-z0-9+.-]*://|www\.\w|<[a-z/!?]|\[\d+\]")
_BLOCK_START = re.compile(r"(?:\A|.*\n)[\s>*+.)\d-]*\Z", re.DOTALL)
_CLOSING = tuple(".,;:!?)]}。，、；：！？）」』")
_AFTER_ADDRESS = " \n.,;:!?)]}\"'*_~"
_TAIL = 64
WAIT = links.WAIT


@dataclass(frozen=True, slots=True)
class Place:
    """A marker in the finished text: `text[start:]` begins with `[marker]`."""

    start: int
    marker: int


@dataclass(slots=True)
class Rewriter:
    """Rewrite a reply piece by piece.

    `[[3]]` and its like become `[1]`, numbered by first appearance; links, images, HTML and addresses that
    `known` does not hold lose what could be clicked; code stays as it is. All pieces that `feed` and
    `finish` return, joined, do not depend on how the reply was cut.
    """

    evidence: frozenset[int]
    """The numbers of the evidence that the model was shown."""
    known: frozenset[str] = frozenset()
    """Addresses that may stay, as `links.addresses` finds them."""
    order: list[int] = field(default_factory=list)
    """Evidence numbers: `order[k - 1]` is what marker k points to."""
    places: list[Place] = field(default_factory=list)
    removed_markers: int = 0
    removed_links: int = 0
    _buffer: str = ""
    _shown: list[str] = field(default_factory=list)
    _length: int = 0
    _tail: str = ""
    _blanks: str = ""
    """White space that is shown when something follows it."""
    _cut: bool = False
    """Something was left out since the last character shown."""
    _group: set[int] = field(default_factory=set)
    """Markers shown since the last other character."""
    _open: int = 0
    _address: bool = False
    """The last thing shown is an address that was let through; nothing may prolong it."""
    _label: bool = False
    """A bracket opened a line of this paragraph, so `]:` would define a link."""
    _fence: str = ""
    _stray_ticks: bool = False
    """This paragraph holds an unpaired backtick, so what is code in it cannot be told for sure."""
    _nested_fence: bool = False

    def feed(self, piece: str) -> str:
        """Take a piece of the reply; return what can be shown now."""
        self._buffer += piece
        return self._advance(final=False)

    def finish(self) -> str:
        """Take the end of the reply; return the rest."""
        rest = self._advance(final=True)
        if self._blanks and not self._cut:
            self._write("")
            rest += self._take()
        return rest

    def _advance(self, *, final: bool) -> str:
        at = 0
        while at < len(self._buffer):
            after = self._fenced(at, final) if self._fence else self._step(at, final)
            if after == WAIT:
                break
            at = after
        self._buffer = self._buffer[at:]
        return self._take()

    def _take(self) -> str:
        shown, self._shown = "".join(self._shown), []
        return shown

    # ---- one step: return where the next one starts, or WAIT

    def _step(self, at: int, final: bool) -> int:
        if self._at_line_start() and (fence := self._open_fence(at, final)):
            return fence
        character = self._buffer[at]
        if plain := _PLAIN.match(self._buffer, at):
            return self._show(plain[0], plain.end())
        if step := _STEPS.get(character):
            return step(self, at, final)
        if character.isascii() and character.isalpha():
            return self._letter(at, final)
        return self._show(character, at + 1)

    def _newline(self, at: int, final: bool) -> int:
        if self._tail.endswith("\n") or not self._tail:
            self._stray_ticks, self._open, self._label = False, 0, False
        self._blanks = "" if self._cut else self._blanks
        return self._show("\n", at + 1)

    def _space(self, at: int, final: bool) -> int:
        if not (self._cut and (self._blanks or self._at_line_start())):
            self._blanks += self._buffer[at]
        return at + 1

    def _backslash(self, at: int, final: bool) -> int:
        if at + 1 == len(self._buffer) and not final:
            return WAIT
        escaped = self._buffer[at + 1 : at + 2]
        return self._show("\\" + escaped, at + 2) if escaped in ("\\", "`") else self._show("\\", at + 1)

    def _ticks(self, at: int, final: bool) -> int:
        """Pass inline code through; code that a reader's Markdown might read otherwise is treated as text."""
        run = _TICKS.match(self._buffer, at)
        assert run, "The step is chosen by the character."
        if run.end() == len(self._buffer) and not final:
            return WAIT
        if len(run[0]) >= 3:
            self._note_container()
        if self._stray_ticks:
            return self._show(run[0], run.end())
        line_end = self._buffer.find("\n", at)
        line = self._buffer[run.end() : line_end if line_end >= 0 else len(self._buffer)]
        closing = re.search(rf"(?<!`){run[0]}(?!`)", line)
        if line_end < 0 and not final and (closing is None or closing.end() == len(line)):
            return WAIT
        if closing is None or "|" in line[: closing.start()]:
            self._stray_ticks = True
            return self._show(run[0], run.end())
        end = run.end() + closing.end()
        return self._show(self._buffer[at:end], end, checked=False)

    def _angle(self, at: int, final: bool) -> int:
        found = links.tag(self._buffer, at, final=final)
        if isinstance(found, int):
            return WAIT
        if found is None:
            return self._show("<", at + 1)
        if found.text.startswith("<"):
            return self._show(found.text, found.end, checked=False)
        return self._replace(at, found)

    def _bang(self, at: int, final: bool) -> int:
        if at + 1 == len(self._buffer) and not final:
            return WAIT
        if self._buffer[at + 1 : at + 2] != "[":
            return self._show("!", at + 1)
        found = links.link(self._buffer, at + 1, final=final)
        if isinstance(found, int):
            return WAIT
        return self._replace(at, found) if found else self._show("!", at + 1)

    def _letter(self, at: int, final: bool) -> int:
        found = links.address(self._buffer, at, final=final)
        if isinstance(found, int):
            return WAIT
        if found is None:
            return self._show(self._buffer[at], at + 1)
        if found.text in self.known:
            self._write(found.text, checked=False)
            self._address = True
            return found.end
        return self._drop(found.end)

    def _bracket(self, at: int, final: bool) -> int:
        group = brackets.read_group(self._buffer, at, spare_close=self._open == 0, final=final)
        if isinstance(group, int):
            return WAIT
        if group is not None:
            return self._markers(group, final)
        found = links.link(self._buffer, at, final=final)
        if isinstance(found, int):
            return WAIT
        if found is not None:
            return self._replace(at, found)
        self._open += 1
        return self._show(self._buffer[at], at + 1)

    def _close(self, at: int, final: bool) -> int:
        self._open = max(0, self._open - 1)
        return self._show(self._buffer[at], at + 1)

    def _markers(self, group: brackets.Group, final: bool) -> int:
        end = group.end
        if self._buffer[end : end + 1] == "(" and not group.unfinished:
            linked = links.destination(self._buffer, end, final=final)
            if isinstance(linked, int):
                return WAIT
            end, self.removed_links = (
                (linked.end, self.removed_links + 1) if linked else (end, self.removed_links)
            )
        self.removed_markers += group.unfinished
        for number in group.numbers:
            self._marker(number)
        self._cut = self._cut or not self._group
        return end

    def _marker(self, number: int) -> None:
        if number not in self.evidence:
            self.removed_markers += 1
            self._cut = True
            return
        if number not in self.order:
            self.order.append(number)
        marker = self.order.index(number) + 1
        if marker in self._group:
            self._cut = True
            return
        group = self._group | {marker}
        self._write(f"[{marker}]", marker=marker)
        self._group = group

    # ---- code blocks

    def _at_line_start(self) -> bool:
        return not self._tail.rstrip(" ") or self._tail.rstrip(" ").endswith("\n")

    def _open_fence(self, at: int, final: bool) -> int | None:
        if self._tail.endswith(" ") or self._blanks or self._nested_fence:
            return None
        if match := _FENCE.match(self._buffer, at):
            self._fence = match[1]
            end = self._buffer.index("\n", at) + 1
            return self._show(self._buffer[at:end], end, checked=False)
        return WAIT if not final and _FENCE_START.match(self._buffer, at) else None

    def _tilde(self, at: int, final: bool) -> int:
        if len(self._buffer) - at < 3 and not final:
            return WAIT
        if self._buffer.startswith("~~~", at):
            self._note_container()
        return self._show("~", at + 1)

    def _note_container(self) -> None:
        """Trust no fence after one inside a list or quote: where that one ends is not followed here."""
        self._nested_fence = self._nested_fence or bool(_CONTAINER.search(self._tail + self._blanks))

    def _fenced(self, at: int, final: bool) -> int:
        end = self._buffer.find("\n", at) + 1
        if not end and not final:
            return WAIT
        line = self._buffer[at : end or len(self._buffer)]
        if re.fullmatch(rf" {{0,3}}{re.escape(self._fence)}{re.escape(self._fence[0])}*[ \t]*\n?", line):
            self._fence = ""
        return self._show(line, at + len(line), checked=False)

    # ---- what is shown

    def _show(self, text: str, after: int, *, checked: bool = True) -> int:
        self._write(text, checked=checked)
        return after

    def _drop(self, after: int) -> int:
        self.removed_links += 1
        self._cut = True
        return after

    def _replace(self, at: int, found: links.Found) -> int:
        """Put what stays of a link back into the buffer, to be read again with what follows it."""
        self.removed_links += 1
        self._buffer = self._buffer[:at] + found.text + self._buffer[found.end :]
        self._cut = self._cut or not found.text
        return at

    def _write(self, text: str, *, checked: bool = True, marker: int = 0) -> None:
        if not self._length and not (text := (self._blanks + text).lstrip()):
            return
        blanks = "" if not self._length or (self._cut and text.startswith(_CLOSING)) else self._blanks
        piece = blanks + text
        prolongs = self._address and piece[:1] not in _AFTER_ADDRESS
        forged = bool(marker) and self._tail.endswith("[") and not blanks
        if prolongs or forged or (checked and not marker and self._joins(piece)):
            piece = " " + piece
        if marker:
            self.places.append(Place(self._length + len(piece) - len(text), marker))
        self._address = self._address and piece in _AFTER_ADDRESS and not piece.isspace()
        self._label = self._label or (text.startswith("[") and bool(_BLOCK_START.match(self._tail + blanks)))
        self._shown.append(piece)
        self._length += len(piece)
        self._tail = (self._tail + piece)[-_TAIL:]
        self._blanks, self._cut = "", False
        self._group = set()

    def _joins(self, piece: str) -> bool:
        """Tell whether a piece joined to what was shown before makes a link, a tag or a marker of it."""
        if self._tail.endswith("]") and (piece[0] == "(" or (piece[0] == ":" and self._label)):
            return True
        return any(found.end() > len(self._tail) for found in _RISKY.finditer(self._tail + piece))


_STEPS = {
    "\n": Rewriter._newline,
    " ": Rewriter._space,
    "\t": Rewriter._space,
    "\\": Rewriter._backslash,
    "`": Rewriter._ticks,
    "~": Rewriter._tilde,
    "<": Rewriter._angle,
    "!": Rewriter._bang,
    "[": Rewriter._bracket,
    "【": Rewriter._bracket,
    "［": Rewriter._bracket,
    "〔": Rewriter._bracket,
    "]": Rewriter._close,
    "】": Rewriter._close,
    "］": Rewriter._close,
    "〕": Rewriter._close,
}
