"""Sentences of an answer that stand in the evidence word for word: nothing is left to judge about them."""

from collections.abc import Sequence

import regex

from refdesk.citations.sentences import sentences

_EMPHASIS = regex.compile(r"[*_`]+")
_ENDS = " .!\"'“”‘’"


class Literal:
    """The whole sentences of some texts."""

    def __init__(self, texts: Sequence[str], language: str) -> None:
        self._texts = [
            frozenset(_bare(span.of(text)) for span in sentences(text, language)) for text in texts
        ]

    def holders(self, sentence: str) -> tuple[bool, ...]:
        """Tell of each text whether a sentence is one of its own; a part of one of them is none."""
        wanted = _bare(sentence)
        return tuple(bool(wanted) and wanted in known for known in self._texts)


def _bare(sentence: str) -> str:
    """Return a sentence without emphasis, letter case, and what ends it; a question keeps its mark."""
    return " ".join(_EMPHASIS.sub("", sentence).casefold().split()).replace(" .", ".").strip(_ENDS)
