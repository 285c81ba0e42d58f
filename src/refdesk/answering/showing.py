"""Show a sentence of a document as part of an answer: the same words without mark-up."""

import re

from refdesk.citations.links import addresses
from refdesk.citations.rewriting import Rewriter

_INDEXED = re.compile(r"(?<![\w`\]])([A-Za-z_][\w.]*(?:\[\w*\])*\[\d+\](?:\[\w*\])*)(?![`\w])")
_STRONG = re.compile(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1")
_EMPHASIS = re.compile(
    r"(?<![\w*])\*(?=[^\s*])([^*\n]+?)(?<=[^\s*])\*(?![\w*])|(?<![\w_])_(?=[^\s_])([^_\n]+?)(?<=[^\s_])_(?![\w_])"
)
_QUOTE_SIGN = re.compile(r"\n\s*>\s?")
_ROW = re.compile(r"\|.*\|")
_END = re.compile(r"([.!?…。！？]+[\"'”’)\]]*|[:;,])\s*\Z")
_COMMA_LIKE = (":", ";", ",")


def shown(quote: str) -> str:
    """Return a quoted sentence in one line, without mark-up, links, or brackets that look like citations."""
    text = _QUOTE_SIGN.sub("\n", quote)
    text = " ".join(text.split())
    if _ROW.fullmatch(text):
        text = ", ".join(cell.strip() for cell in text.strip("|").split("|") if cell.strip())
    rewriter = Rewriter({}, addresses([text]))
    text = rewriter.feed(_INDEXED.sub(r"`\1`", text)) + rewriter.finish()
    text = _STRONG.sub(r"\2", text)
    return _EMPHASIS.sub(lambda found: found[1] or found[2], text).strip()


def with_marker(sentence: str, marker: int) -> str:
    """Put `[marker]` before the punctuation that ends a sentence, and a full stop where none does."""
    end = _END.search(sentence)
    if not end or end.start() == 0:
        return f"{sentence} [{marker}]."
    if end[1] in _COMMA_LIKE:
        return f"{sentence[: end.start()].rstrip()} [{marker}]."
    return f"{sentence[: end.start()].rstrip()} [{marker}]{end[1]}"
