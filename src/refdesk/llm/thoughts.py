"""A reply as it streams, without the block in which a model thinks aloud before it answers."""

import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Literal

_OPENING = re.compile(r"\s*<(think|thinking|thought|reasoning|reflection)>\s*", re.IGNORECASE)
_BEGUN = re.compile(r"\s*(<[a-z]{0,10})?\Z", re.IGNORECASE)
"""What may still become an opening tag."""


@dataclass(slots=True)
class Thoughts:
    """Takes a reply in pieces; gives back what is no thought."""

    state: Literal["start", "inside", "through"] = "start"
    _held: str = ""
    _closing: str = ""

    def feed(self, piece: str) -> str:
        """Take a piece; return what can be shown now."""
        if self.state == "through":
            return piece
        self._held += piece
        if self.state == "start":
            if tag := _OPENING.match(self._held):
                self.state, self._closing = "inside", f"</{tag[1].lower()}>"
                self._held = self._held[tag.end() :]
            elif _BEGUN.match(self._held):
                return ""
        if self.state == "inside":
            place = self._held.lower().find(self._closing)
            if place < 0:
                self._held = self._held[-len(self._closing) :]
                return ""
            rest = self._held[place + len(self._closing) :].lstrip()
            self.state, self._held = "start" if not rest else "through", rest
            return self._release() if rest else ""
        self.state = "through"
        return self._release()

    def finish(self) -> str:
        """Take the end; return what was held back and is no thought."""
        return "" if self.state == "inside" else self._release()

    def _release(self) -> str:
        held, self._held = self._held, ""
        return held


async def said(pieces: AsyncGenerator[str, None]) -> AsyncGenerator[str, None]:
    """Yield what a model says besides its thoughts; a reply of thoughts alone yields nothing."""
    thoughts = Thoughts()
    async with aclosing(pieces):
        async for piece in pieces:
            if shown := thoughts.feed(piece):
                yield shown
    if last := thoughts.finish():
        yield last
