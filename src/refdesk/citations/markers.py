"""Markers of an answer's text, `[k]`, and those that models write, `[[n]]`: from one to the other."""

import re
from collections.abc import Sequence

from refdesk.context import Answer, Evidence

_CODE = (
    r"(?:^ {0,3}(`{3,})[^`\n]*\n(?:.|\n)*?(?:^ {0,3}\2`*[ \t]*$|\Z)"
    r"|^ {0,3}(~{3,})[^\n]*\n(?:.|\n)*?(?:^ {0,3}\3~*[ \t]*$|\Z)"
    r"|(?<![`\\])(`+)(?!`)[^\n]*?(?<!`)\4(?!`))"
)
_SHOWN = re.compile(rf"(?<!\[)\[(\d{{1,4}})\](?!\])|{_CODE}", re.MULTILINE)
_ALL = re.compile(rf"(\s*(?:\[{{1,2}}\d{{1,4}}\]{{1,2}})+)|{_CODE}", re.MULTILINE)


def marked(text: str, answer: Answer, evidence: Sequence[Evidence]) -> str:
    """Return a text with the numbers of its evidence, `[[n]]`, for each marker `[k]` of an answer.

    `text` is the answer's own, or one that was made of it. Code stays as it is.
    """
    numbers = {item.hit.chunk.chunk_id: item.number for item in evidence}
    cited: dict[int, dict[int, None]] = {}
    for one in answer.citations:
        if one.chunk_id in numbers:
            cited.setdefault(one.marker, {})[numbers[one.chunk_id]] = None

    def doubled(found: "re.Match[str]") -> str:
        pointed = cited.get(int(found[1])) if found[1] else None
        return "".join(f"[[{number}]]" for number in pointed) if pointed else found[0]

    return _SHOWN.sub(doubled, text)


def unmarked(text: str) -> str:
    """Return a text without markers, which point to nothing outside its own answer."""
    return _ALL.sub(lambda found: "" if found[1] else found[0], text)
