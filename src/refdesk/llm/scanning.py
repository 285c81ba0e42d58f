"""A scanner for JSON as people and models write it. Depth is bounded, and so is how much it looks at."""

import re
from dataclasses import dataclass
from typing import Any

DEEPEST = 64
_BLANKS = re.compile(r"\s*")
_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_DIGITS = re.compile(r"[-+.0-9eE]+")
_WORD = re.compile(r"[^\W\d][\w$-]*")
_KEY = re.compile(r"\w[\w$-]*")
_PLAIN = re.compile(r"[^\\\"'“”‘’]+")
_HEX = re.compile(r"[0-9a-fA-F]{4}")
_SURROGATE = re.compile("[\ud800-\udfff]")
_QUOTES = {'"': '"', "'": "'", "“": '”"', "‘": "’'", "”": '”"'}
"""Opening quotes and what may close them."""
_WORDS = {"true": True, "false": False, "null": None, "none": None, "yes": "yes", "no": "no"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "\n": ""}
_ENDS = ",}]:"
_LONGEST_NUMBER = 40


class Malformed(Exception):
    """The text is no JSON here, however kindly it is read, or too much was looked at."""


class Cut(Exception):
    """The text ends within a value."""


@dataclass(slots=True)
class Scanner:
    """Reads one value from `at` on; `complete` becomes False where the text ended within it."""

    text: str
    at: int = 0
    left: int = 1_000_000
    """Characters that it may still look at; what it looks at twice counts twice."""
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
                self._spend(plain.end() - self.at)
                self.at = plain.end()
            if self.at >= len(self.text):
                raise Cut
            character = self.text[self.at]
            self.at += 1
            if character == "\\":
                parts.append(self._escaped())
            elif character in closing and self._may_end():
                return _whole("".join(parts))
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
            self.complete, self.at = False, len(self.text)
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
            self.complete, self.at = False, len(self.text)
        return found

    def _key(self) -> str:
        if self._peek() in _QUOTES:
            return self.string()
        word = self._match(_KEY)
        return word[0]

    def _plain(self) -> Any:
        if self.text[self.at] in "-+.0123456789":
            return self._number()
        word = self._match(_WORD)[0].lower()
        if self.at == len(self.text):
            raise Cut
        if word not in _WORDS:
            raise Malformed
        return _WORDS[word]

    def _number(self) -> int | float:
        digits = self._match(_DIGITS)[0]
        if self.at == len(self.text):
            raise Cut
        if len(digits) > _LONGEST_NUMBER or not _NUMBER.fullmatch(digits):
            raise Malformed
        if digits.lstrip("+-").isdigit():
            return int(digits)
        if abs(number := float(digits)) == float("inf"):
            raise Malformed
        return number

    def _escaped(self) -> str:
        if self.at >= len(self.text):
            raise Cut
        character = self.text[self.at]
        self.at += 1
        self._spend(2)
        if character == "u" and (digits := _HEX.match(self.text, self.at)):
            self.at = digits.end()
            return chr(int(digits[0], 16))
        if character == "u" and self.at + 4 > len(self.text):
            raise Cut
        return _ESCAPES.get(character, f"\\{character}" if character.isalnum() else character)

    def _may_end(self) -> bool:
        """Tell whether a string may end here: what follows could follow a string."""
        after = self._after_space()
        return after == len(self.text) or self.text[after] in _ENDS

    def _peek(self) -> str:
        """Return the next character that is no space or comment. Errors: `Cut` at the end."""
        self.at = self._after_space()
        if self.at >= len(self.text):
            raise Cut
        return self.text[self.at]

    def _after_space(self) -> int:
        """Return where the next thing begins that is no space or comment."""
        at = self.at
        while True:
            blanks = _BLANKS.match(self.text, at)
            at = blanks.end() if blanks else at
            if self.text.startswith(("#", "//"), at):
                at = self._behind("\n", at)
            elif self.text.startswith("/*", at):
                at = self._behind("*/", at + 2)
            else:
                break
        self._spend(at - self.at + 1)
        return at

    def _behind(self, mark: str, at: int) -> int:
        place = self.text.find(mark, at)
        return len(self.text) if place < 0 else place + len(mark)

    def _match(self, pattern: "re.Pattern[str]") -> "re.Match[str]":
        found = pattern.match(self.text, self.at)
        if found is None:
            raise Malformed
        self._spend(found.end() - self.at)
        self.at = found.end()
        return found

    def _spend(self, characters: int) -> None:
        self.left -= characters
        if self.left < 0:
            raise Malformed


def _whole(text: str) -> str:
    """Join the halves of characters that JSON writes as two escapes; a half alone becomes U+FFFD."""
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
