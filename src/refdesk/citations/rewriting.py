"""The text a reader sees, made out of what a model writes while it still writes."""

import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

from refdesk.citations import brackets, entities, fences, links
from refdesk.citations.fences import Fence
from refdesk.citations.incoming import Incoming
from refdesk.citations.output import Output, Place

_BRACKETS = brackets.OPENING + brackets.CLOSING
_PLAIN = re.compile(rf"[^\W_]+(?=[\s,;\"'’)])|[^\x00-\x7f\s{re.escape(_BRACKETS)}]+")
_TICKS = re.compile(r"`+")
_BLOCK_START = re.compile(r"(?:\A|\n)[\s>*+.)\d-]*\Z")
WAIT = links.WAIT


@dataclass(slots=True)
class Rewriter:
    """Rewrite a reply piece by piece.

    `[[3]]` and its like become `[1]`, numbered by first appearance; links, images, HTML and addresses that
    `known` does not hold lose what could be clicked; code stays as it is. All pieces that `feed` and
    `finish` return, joined, do not depend on how the reply was cut.
    """

    evidence: Mapping[int, Hashable]
    """The numbers of the evidence that the model was shown, and what each counts as: numbers that count as
    the same share a marker."""
    known: frozenset[str] = frozenset()
    """Addresses that may stay, as `links.addresses` finds them."""
    order: list[Hashable] = field(default_factory=list)
    """`order[k - 1]` is what marker k stands for, one of the values of `evidence`."""
    removed_markers: int = 0
    removed_links: int = 0
    _incoming: Incoming = field(default_factory=Incoming)
    _output: Output = field(default_factory=Output)
    _buffer: str = ""
    _open: int = 0
    """Brackets of the text itself that are still open."""
    _fence: Fence | None = None
    _stray_ticks: bool = False
    """This paragraph holds an unpaired backtick, so what is code in it cannot be told for sure."""
    _doubt: bool = False
    """There was a fence that others may read otherwise, so no later one is trusted to be code."""

    @property
    def places(self) -> list[Place]:
        """What is cited where in the text shown, in order."""
        return self._output.places

    def feed(self, piece: str) -> str:
        """Take a piece of the reply; return what can be shown now."""
        self._buffer += self._incoming.take(piece, final=False)
        return self._advance(final=False)

    def finish(self) -> str:
        """Take the end of the reply; return the rest."""
        self._buffer += self._incoming.take("", final=True)
        rest = self._advance(final=True)
        self._output.close()
        return rest + self._output.take()

    def _advance(self, *, final: bool) -> str:
        at = 0
        while at < len(self._buffer):
            after = self._fenced(self._fence, at, final) if self._fence else self._step(at, final)
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
        if escaped and escaped in brackets.OPENING:
            return self._escaped_bracket(at, final)
        return self._show("\\" + escaped, at + 2) if escaped in ("\\", "`") else self._show("\\", at + 1)

    def _escaped_bracket(self, at: int, final: bool) -> int:
        group = self._group(at, final)
        if isinstance(group, int):
            return WAIT
        return self._markers(group, final) if group is not None else self._show("\\", at + 1)

    def _ampersand(self, at: int, final: bool) -> int:
        """Read brackets and digits that are written as entities like any others."""
        self._buffer = entities.spelled_out(self._buffer, at)
        if self._buffer[at] != "&":
            return at
        broken_off = not final and entities.breaks_off(self._buffer, at)
        return WAIT if broken_off else self._show("&", at + 1)

    def _ticks(self, at: int, final: bool) -> int:
        """Pass inline code through; code that a reader's Markdown might read otherwise is treated as text."""
        run = _TICKS.match(self._buffer, at)
        assert run, "The step is chosen by the character."
        if run.end() == len(self._buffer) and not final:
            return WAIT
        if len(run[0]) >= 3:
            self._note_fence()
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
            self._output.tag(found.text)
            return found.end
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
        if found.text in self.known and not self._stray_ticks:
            self._output.address(found.text)
        else:
            self.removed_links += 1
            self._output.cut = True
        return found.end

    def _bracket(self, at: int, final: bool) -> int:
        group = self._group(at, final)
        if isinstance(group, int):
            return WAIT
        if group is not None:
            return self._markers(group, final)
        found = links.link(self._buffer, at, final=final) if self._buffer[at] == "[" else None
        if isinstance(found, int):
            return WAIT
        if found is not None:
            return self._replace(at, found)
        self._open += 1
        return self._show(self._buffer[at], at + 1)

    def _group(self, at: int, final: bool) -> brackets.Group | int | None:
        self._buffer = entities.spelled_out(self._buffer, at)
        if not final and entities.breaks_off(self._buffer, at):
            return WAIT
        return brackets.read_group(self._buffer, at, spare_close=self._open == 0, final=final)

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
        source = self.evidence[number]
        if source not in self.order:
            self.order.append(source)
        self._output.mark(self.order.index(source) + 1, number)

    def _open_fence(self, at: int, final: bool) -> int:
        """Pass the line that opens a code block; return 0 where there is none."""
        if self._output.tail.endswith(" ") or self._output.blanks or self._doubt:
            return 0
        if found := fences.opening(self._buffer, at):
            self._fence, end = found
            return self._show(self._buffer[at:end], end, checked=False)
        return WAIT if not final and fences.begun(self._buffer, at) else 0

    def _tilde(self, at: int, final: bool) -> int:
        if len(self._buffer) - at < 3 and not final:
            return WAIT
        if self._buffer.startswith("~~~", at):
            self._note_fence()
        return self._show("~", at + 1)

    def _note_fence(self) -> None:
        """Trust no fence after one that was read as text: it may have opened a block in a list or quote."""
        before = self._output.tail + self._output.blanks
        self._doubt = self._doubt or bool(_BLOCK_START.search(before))

    def _fenced(self, fence: Fence, at: int, final: bool) -> int:
        end = self._buffer.find("\n", at) + 1
        if not end and not final:
            return WAIT
        line = self._buffer[at : end or len(self._buffer)]
        read = fence.reads(line)
        self._doubt = self._doubt or read in ("doubtful", "outside")
        self._fence = fence if read == "inside" else None
        return at if read == "outside" else self._show(line, at + len(line), checked=False)

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
    "&": Rewriter._ampersand,
    **dict.fromkeys(brackets.OPENING, Rewriter._bracket),
    **dict.fromkeys(brackets.CLOSING, Rewriter._close),
}
