"""Markers of an answer's text, `[k]`, and those that models write, `[[n]]`: from one to the other."""

import re
from collections.abc import Sequence

from refdesk.context import Answer, Evidence

_SHOWN = re.compile(r"(?<!\[)\[(\d{1,4})\](?!\])")
_ALL = re.compile(r"\s*(?:\[{1,2}\d{1,4}\]{1,2})+")


def marked(text: str, answer: Answer, evidence: Sequence[Evidence]) -> str:
    """Return a text with `[[n]]`, the number of its evidence, for each marker `[k]` of an answer's citations.

    `text` is the answer's own, or one that was made of it.
    """
    numbers = {item.hit.chunk.chunk_id: item.number for item in evidence}
    cited = {one.marker: numbers[one.chunk_id] for one in answer.citations if one.chunk_id in numbers}

    def doubled(found: "re.Match[str]") -> str:
        number = cited.get(int(found[1]))
        return found[0] if number is None else f"[[{number}]]"

    return _SHOWN.sub(doubled, text)


def unmarked(text: str) -> str:
    """Return a text without markers, which point to nothing outside its own answer."""
    return _ALL.sub("", text)
