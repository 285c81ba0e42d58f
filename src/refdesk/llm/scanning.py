"""A scanner for JSON as people and models write it. Depth is bounded, and no character is read twice."""

import re
from dataclasses import dataclass
from typing import Any

DEEPEST = 64
_SPACE = re.compile(r"(?:\s+|//[^\n]*|#[^\n]*|/\*.*?\*/)*", re.DOTALL)
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_WORD = re.compile(r"[^\W\d][\w$-]*")
_KEY = re.compile(r"\w[\w$-]*")
_PLAIN = re.compile(r"[^\\\"'“”‘’]+")
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "”": "”"}
_LITERALS = {"true": True, "false": False, "null": None, "none": None}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "\n": ""}
_ENDS = ",}]:"
_LONGEST_NUMBER = 40


class Malformed(Exception):
    """The text is no JSON here, however kindly it is read."""


class Cut(Exception):
    """The text ends within a value."""


@dataclass(slots=True)
class Scanner:
    """Reads one value from `at` on; `complete` becomes False where the text ended within it."""

    text: str
    at: int = 0
    complete: bool = True

    def value(self, depth: int = 0) -> Any:
        """Return the value that begins here. Errors: `Malformed`, `Cut`."""
        if depth > DEEPEST:
            raise Malformed
        character = self._peek()
        if character == "{":
            return self._object(depth)
        if character == "[":
            return self._list(depth)
        if character in _QUOTES:
            return self.string()
        return self._plain()

    def string(self) -> str:
        """Return the string that begins here; a quote inside it counts as its end where one may stand."""
        closing = _QUOTES[self.text[self.at]]
        self.at += 1
        parts: list[str] = []
        while True:
            if plain := _PLAIN.match(self.text, self.at):
                parts.append(plain[0])
                self.at = plain.end()
            if self.at >= len(self.text):
                raise Cut
            character = self.text[self.at]
            self.at += 1
            if character == "\\":
                parts.append(self._escaped())
            elif character == closing and self._may_end():
                return "".join(parts)
            else:
                parts.append(character)

    def _object(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        self.at += 1
        try:
            while (character := self._peek()) != "}":
                if character == ",":
                    self.at += 1
                    continue
                key = self._key()
                if self._peek() != ":":
                    raise Malformed
                self.at += 1
                found[key] = self.value(depth + 1)
            self.at += 1
        except Cut:
            self.complete = False
        return found

    def _list(self, depth: int) -> list[Any]:
        found: list[Any] = []
        self.at += 1
        try:
            while (character := self._peek()) != "]":
                if character == ",":
                    self.at += 1
                    continue
                found.append(self.value(depth + 1))
            self.at += 1
        except Cut:
            self.complete = False
        return found

    def _key(self) -> str:
        if self._peek() in _QUOTES:
            return self.string()
        word = _KEY.match(self.text, self.at)
        if word is None:
            raise Malformed
        self.at = word.end()
        return word[0]

    def _plain(self) -> Any:
        if number := _NUMBER.match(self.text, self.at):
            return self._number(number)
        word = _WORD.match(self.text, self.at)
        if word is None:
            raise Malformed
        self.at = word.end()
        if self.at == len(self.text):
            raise Cut
        if word[0].lower() not in _LITERALS:
            raise Malformed
        return _LITERALS[word[0].lower()]

    def _number(self, found: "re.Match[str]") -> int | float:
        self.at = found.end()
        if self.at == len(self.text):
            raise Cut
        if len(found[0]) > _LONGEST_NUMBER:
            raise Malformed
        return int(found[0]) if found[0].lstrip("+-").isdigit() else float(found[0])

    def _escaped(self) -> str:
        if self.at >= len(self.text):
            raise Cut
        character = self.text[self.at]
        self.at += 1
        if character != "u":
            return _ESCAPES.get(character, character)
        digits = self.text[self.at : self.at + 4]
        if len(digits) < 4:
            raise Cut
        if not re.fullmatch(r"[0-9a-fA-F]{4}", digits):
            return "u"
        self.at += 4
        return chr(int(digits, 16))

    def _may_end(self) -> bool:
        """Tell whether a string may end here: what follows could follow a string."""
        after = _SPACE.match(self.text, self.at)
        assert after is not None
        return after.end() == len(self.text) or self.text[after.end()] in _ENDS

    def _peek(self) -> str:
        """Return the next character that is no space or comment. Errors: `Cut` at the end."""
        space = _SPACE.match(self.text, self.at)
        assert space is not None
        self.at = space.end()
        if self.at >= len(self.text):
            raise Cut
        return self.text[self.at]
