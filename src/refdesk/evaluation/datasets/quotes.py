"""Where a quote stands in a text, also where it is set otherwise."""

import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice

import regex

from refdesk.cleaning import clean

Span = tuple[int, int]
"""First character, and the one after the last."""

ALIKE = ('"“”„‟«»″❝❞', "'‘’‚‛‹›′`´", "-‐‑‒–—−")
"""Signs that stand for each other."""
UNSEEN = "\xad\u200b\ufeff\u2060"
"""Characters that may be missing."""
HEAD, MOST = 40, 1000
"""Letters of a quote that are looked for; at so many places where they are, the rest is compared."""


def occurrences(quote: str, text: str) -> Sequence[Span]:
    """Return where a quote stands: as it is, else as it is stored, else however it is set.

    White space, signs of quotation, dashes, unseen characters and the composition of letters may differ.
    """
    kept = clean(quote).text
    return list(_exact(quote, text)) or list(_exact(kept, text)) or list(_tolerant(kept, text))


def _exact(quote: str, text: str) -> Iterator[Span]:
    start = text.find(quote) if quote else -1
    while start >= 0:
        yield start, start + len(quote)
        start = text.find(quote, start + 1)


def _tolerant(quote: str, text: str) -> Iterator[Span]:
    composed = unicodedata.normalize("NFC", quote)
    seen = " ".join("".join(one for one in composed if one not in UNSEEN).split())
    wanted = "".join(map(_folded, seen))
    if wanted:
        heads = regex.finditer(_pattern(seen[:HEAD].rstrip()), text, overlapped=True)
        for head in islice(heads, MOST):
            if (end := _end(text, head.start(), wanted)) is not None:
                yield head.start(), end


def _pattern(beginning: str) -> str:
    """Return a pattern for the beginning of a quote, which may find too much but never too little."""
    return f"[{UNSEEN}]*".join(map(_shapes, beginning))


def _shapes(letter: str) -> str:
    if letter == " ":
        return rf"[\s{UNSEEN}]+"
    alike = next((signs for signs in ALIKE if letter in signs), "")
    shapes = alike or dict.fromkeys((letter, unicodedata.normalize("NFD", letter)))
    return f"(?:{'|'.join(map(regex.escape, shapes))})"


def _end(text: str, start: int, wanted: str) -> int | None:
    """Return where a folded quote that begins at a place ends; None where the text is another.

    Marks that follow its last letter would make another letter of it.
    """
    at, done = start, 0
    while done < len(wanted):
        letters = _folded(text[at]) if at < len(text) else "\0"
        if not wanted.startswith(letters, done):
            return None
        at, done = at + 1, done + len(letters)
        while letters == " " and at < len(text) and _folded(text[at]) in ("", " "):
            at += 1
    return None if unicodedata.category(text[at : at + 1] or " ") == "Mn" else at


@cache
def _folded(letter: str) -> str:
    """Return the form of a character in which those that stand for each other are the same."""
    if letter in UNSEEN:
        return ""
    if letter.isspace():
        return " "
    alike = next((signs[0] for signs in ALIKE if letter in signs), letter)
    return unicodedata.normalize("NFD", alike)
