"""Find the part of a text that supports a statement, by the words they share."""

import math
import re
from collections import Counter
from collections.abc import Sequence

from refdesk.analysis import analyse, detect_language
from refdesk.citations.sentences import Span, sentences

_STATEMENT_END = re.compile(r"(?<=[.!?…。！？])[\"'”’)\]]*\s+|(?<=[。！？])(?!\s)|\n+")
_MARKERS = re.compile(r"\s*(?:\[\d+\])+")
_MOST_SENTENCES = 3
_WORTH_ADDING = 0.12
"""Share of the statement's weight that another sentence must add to be quoted as well."""


def supporting_span(statement: str, text: str) -> Span:
    """Return the sentence, or up to three in a row, of `text` that says most of what `statement` says.

    Where they share no word the whole text is the span, without white space around it.
    """
    spans = sentences(text)
    language = detect_language(text)
    parts = [analyse(span.of(text), language) for span in spans]
    wanted = weights(analyse(statement, language), parts)
    covers = [wanted.keys() & set(part) for part in parts]
    scores = [_score(cover, wanted, span) for cover, span in zip(covers, spans, strict=True)]
    if not scores or max(scores) <= 0:
        start = len(text) - len(text.lstrip())
        return Span(start, max(start, len(text.rstrip())))
    first = last = scores.index(max(scores))
    covered, total = set(covers[first]), sum(wanted.values())
    while last - first + 1 < _MOST_SENTENCES:
        gains = {
            side: sum(wanted[w] for w in covers[side] - covered)
            for side in (first - 1, last + 1)
            if 0 <= side < len(spans)
        }
        side = max(gains, key=lambda place: gains[place], default=-1)
        if side < 0 or gains[side] < _WORTH_ADDING * total:
            break
        covered |= covers[side]
        first, last = min(first, side), max(last, side)
    return Span(spans[first].start, spans[last].end)


def weights(wanted: Sequence[str], places: Sequence[Sequence[str]]) -> dict[str, float]:
    """Return a weight for each word of a statement: rare among `places` weighs more, long more than short."""
    frequency = Counter(word for place in places for word in set(place))
    return {
        word: math.log(1 + (len(places) + 1) / (frequency[word] + 0.5)) * min(1.0, 0.25 + len(word) / 8)
        for word in wanted
    }


def statements(text: str, places: Sequence[tuple[int, int]]) -> dict[int, str]:
    """Return what each marker is cited for: marker to the sentences of `text` that it ends, joined.

    `places` are (start, marker) pairs in the order of the text.
    """
    found: dict[int, str] = {}
    for start, marker in places:
        before = _MARKERS.sub("", text[max(0, start - _LONGEST_STATEMENT) : start]).rstrip()
        ends = [end.end() for end in _STATEMENT_END.finditer(before)]
        said = before[ends[-1] if ends else 0 :].strip()
        found[marker] = f"{found[marker]} {said}" if marker in found else said
    return found


def _score(cover: set[str], wanted: dict[str, float], span: Span) -> float:
    """Weigh what a sentence covers, a little less where it is long."""
    return sum(wanted[word] for word in cover) / (1 + 0.1 * math.log1p((span.end - span.start) / 100))


_LONGEST_STATEMENT = 600
