"""What a model writes, as it comes in: one kind of line break, no control characters, whole characters."""

import re
from dataclasses import dataclass

_UNFINISHED = re.compile("[\r\ud800-\udbff]\\Z")
_BREAKS = re.compile("\r\n?")
_PAIRS = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_UNWANTED = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]"
)


@dataclass(slots=True)
class Incoming:
    """Takes a reply in pieces, and gives it back without what a renderer reads otherwise than it looks.

    A carriage return ends a line in Markdown, so lines are told apart as it tells them. Halves of characters
    that came in two pieces are joined, others are dropped.
    """

    _held: str = ""

    def take(self, piece: str, *, final: bool) -> str:
        """Return what is sure by now of all that came in and was not returned."""
        text = self._held + piece
        held = "" if final else "".join(_UNFINISHED.findall(text))
        self._held = held
        return cleaned(text[: len(text) - len(held)])


def cleaned(text: str) -> str:
    """Return a text with line feeds as its only line breaks, without what steers, turns around or hides text.

    That is control characters, overrides of the direction, tags, and halves of characters.
    """
    joined = _PAIRS.sub(_joined, _BREAKS.sub("\n", text))
    return _UNWANTED.sub("", joined)


def _joined(pair: re.Match[str]) -> str:
    return pair[0].encode("utf-16", "surrogatepass").decode("utf-16")
