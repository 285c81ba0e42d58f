"""The text a reader sees, made out of what a model writes while it still writes."""

import re
from dataclasses import dataclass, field

from refdesk.citations import brackets, links
from refdesk.citations.output import Output, Place

_PLAIN = re.compile(r"[^\W_]+(?=[\s,;\"'’)])|[^\x00-\x7f\s【】［］〔〕]+")
_TICKS = re.compile(r"`+")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`\n]*\n)|~{3,}(?=[^\n]*\n))")
_FENCE_START = re.compile(r" {0,3}(?:`+[^`\n]*|~+[^\n]*)?\Z")
_CONTAINER = re.compile(r"(?:\A|\n)(?: {4,}|\s*\t\s*|\s*(?:[-*+>]|\d+[.)])[ \t>*+-]*)\Z")
WAIT = links.WAIT


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
    removed_markers: int = 0
    removed_links: int = 0
    _output: Output = field(default_factory=Output)
    _buffer: str = ""
    _open: int = 0
    """Brackets of the text itself that are still open."""
    _fence: str = ""
    _stray_ticks: bool = False
    """This paragraph holds an unpaired backtick, so what is code in it cannot be told for sure."""
    _nested_fence: bool = False

    @property
    def places(self) -> list[Place]:
        """Where the markers stand in the text shown, in order."""
        return self._output.places

    def feed(self, piece: str) -> str:
        """Take a piece of the reply; return what can be shown now."""
        self._buffer += piece
        return self._advance(final=False)

    def finish(self) -> str:
        """Take the end of the reply; return the rest."""
        rest = self._advance(final=True)
        self._output.close()
        return rest + self._output.take()

    def _advance(self, *, final: bool) -> str:
        at = 0
        while at < len(self._buffer):
            after = self._fenced(at, final) if self._fence else self._step(at, final)
            if after == WAIT:
                break
            at = after
        self._buffer = self._buffer[at:]
        return self._output.take()

    def _step(self, at: int, final: bool) -> int:
        """Deal with what begins at `at`; return where the rest begins, or WAIT. So do the functions below."""
        if self._output.at_line_start and (fence := self._open_fence(at, final)):
            return fence
        if plain := _PLAIN.match(self._buffer, at):
            return self._show(plain[0], plain.end())
        character = self._buffer[at]
        if step := _STEPS.get(character):
            return step(self, at, final)
        if character.isascii() and character.isalpha():
            return self._letter(at, final)
        return self._show(character, at + 1)

    def _newline(self, at: int, final: bool) -> int:
        if self._output.newline():
            self._stray_ticks, self._open = False, 0
        return at + 1

    def _blank(self, at: int, final: bool) -> int:
        self._output.blank(self._buffer[at])
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
        line, ended, _ = self._buffer[run.end() :].partition("\n")
        closing = re.search(rf"(?<!`){run[0]}(?!`)", line)
        if not (ended or final) and (closing is None or closing.end() == len(line)):
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
            self._output.address(found.text)
        else:
            self.removed_links += 1
            self._output.cut = True
        return found.end

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
            if linked is not None:
                end = linked.end
                self.removed_links += 1
        elif end == len(self._buffer) and not final:
            return WAIT
        self.removed_markers += group.unfinished
        for number in group.numbers:
            self._marker(number)
        self._output.cut = self._output.cut or not self._output.group
        return end

    def _marker(self, number: int) -> None:
        if number not in self.evidence:
            self.removed_markers += 1
            self._output.cut = True
            return
        if number not in self.order:
            self.order.append(number)
        self._output.mark(self.order.index(number) + 1)

    def _open_fence(self, at: int, final: bool) -> int:
        """Pass the line that opens a code block; return 0 where there is none."""
        if self._output.tail.endswith(" ") or self._output.blanks or self._nested_fence:
            return 0
        if match := _FENCE.match(self._buffer, at):
            self._fence = match[1]
            end = self._buffer.index("\n", at) + 1
            return self._show(self._buffer[at:end], end, checked=False)
        return WAIT if not final and _FENCE_START.match(self._buffer, at) else 0

    def _tilde(self, at: int, final: bool) -> int:
        if len(self._buffer) - at < 3 and not final:
            return WAIT
        if self._buffer.startswith("~~~", at):
            self._note_container()
        return self._show("~", at + 1)

    def _note_container(self) -> None:
        """Trust no fence after one inside a list or quote: where that one ends is not followed here."""
        before = self._output.tail + self._output.blanks
        self._nested_fence = self._nested_fence or bool(_CONTAINER.search(before))

    def _fenced(self, at: int, final: bool) -> int:
        end = self._buffer.find("\n", at) + 1
        if not end and not final:
            return WAIT
        line = self._buffer[at : end or len(self._buffer)]
        if re.fullmatch(rf" {{0,3}}{re.escape(self._fence)}{re.escape(self._fence[0])}*[ \t]*\n?", line):
            self._fence = ""
        return self._show(line, at + len(line), checked=False)

    def _show(self, text: str, after: int, *, checked: bool = True) -> int:
        self._output.write(text, checked=checked)
        return after

    def _replace(self, at: int, found: links.Found) -> int:
        """Put what stays of a link back into the buffer, to be read again with what follows it."""
        self.removed_links += 1
        self._buffer = self._buffer[:at] + found.text + self._buffer[found.end :]
        self._output.cut = self._output.cut or not found.text
        return at


_STEPS = {
    "\n": Rewriter._newline,
    " ": Rewriter._blank,
    "\t": Rewriter._blank,
    "\\": Rewriter._backslash,
    "`": Rewriter._ticks,
    "~": Rewriter._tilde,
    "<": Rewriter._angle,
    "!": Rewriter._bang,
    **dict.fromkeys("[【［〔", Rewriter._bracket),
    **dict.fromkeys("]】］〕", Rewriter._close),
}
