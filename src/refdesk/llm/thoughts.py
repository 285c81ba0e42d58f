"""A reply as it streams, without the block in which a model thinks aloud before it answers."""

import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Literal

_WORDS = ("think", "thinking", "thought", "thoughts", "reasoning", "reflection", "seed:think")
TAGS = (
    *((f"<{word}>", f"</{word}>") for word in _WORDS),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|channel|>analysis<|message|>", "<|channel|>final<|message|>"),
)
"""How models mark what they think before they answer, in any case of letters."""
OPENING = "|".join(re.escape(opening) for opening, _ in TAGS)
CLOSING = "|".join(re.escape(closing) for _, closing in TAGS)

_BEGINS = re.compile(rf"\s*(?:{OPENING})\s*", re.IGNORECASE)
_ENDS = re.compile(rf"(?:{CLOSING})\s*", re.IGNORECASE)
_LONGEST = max(len(tag) for pair in TAGS for tag in pair)
_OPENINGS = tuple(opening.lower() for opening, _ in TAGS)


@dataclass(slots=True)
class Thoughts:
    """Takes a reply in pieces; gives back what is no thought."""

    state: Literal["start", "inside", "through"] = "start"
    _held: str = ""
    _thought: bool = False

    def feed(self, piece: str) -> str:
        """Take a piece; return what can be shown now."""
        if self.through:
            return piece
        self._held += piece
        while self._begin() if self.state == "start" else self._end():
            if self.through:
                return self._release()
        return ""

    @property
    def through(self) -> bool:
        """Whether the thoughts are over, so that all that comes can be shown."""
        return self.state == "through"

    def finish(self) -> str:
        """Take the end; return what was held back and is no thought."""
        return "" if self.state == "inside" else self._release()

    def _begin(self) -> bool:
        """Read the beginning; False where what is held does not say yet what it is."""
        if tag := _BEGINS.match(self._held):
            self.state, self._held, self._thought = "inside", self._held[tag.end() :], True
            return True
        begun = self._held.strip().lower()
        if any(opening.startswith(begun) for opening in _OPENINGS):
            return False
        self.state = "through"
        return True

    def _end(self) -> bool:
        """Look for the end of the thoughts; False where it has not come."""
        if tag := _ENDS.search(self._held):
            self.state, self._held = "start", self._held[tag.end() :]
            return True
        self._held = self._held[-_LONGEST:]
        return False

    def _release(self) -> str:
        held, self._held = self._held, ""
        return held.lstrip() if self._thought else held


async def said(pieces: AsyncGenerator[str, None]) -> AsyncGenerator[str, None]:
    """Yield what a model says besides its thoughts; a reply of thoughts alone yields nothing."""
    thoughts = Thoughts()
    async with aclosing(pieces):
        async for piece in pieces:
            if shown := thoughts.feed(piece):
                yield shown
    if last := thoughts.finish():
        yield last
