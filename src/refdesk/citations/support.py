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
    return supporting_spans([statement], text)[0]


def supporting_spans(statements: Sequence[str], text: str) -> tuple[Span, ...]:
    """Return the span that supports each statement, in order; those that overlap or touch are joined.

    A statement that shares no word with the text adds nothing where another one does.
    """
    spans = sentences(text)
    language = detect_language(text)
    parts = [analyse(span.of(text), language) for span in spans]
    found = [_supporting(analyse(statement, language), spans, parts) for statement in statements]
    return _joined([span for span in found if span is not None], text) or (_whole(text),)


def _whole(text: str) -> Span:
    start = len(text) - len(text.lstrip())
    return Span(start, max(start, len(text.rstrip())))


def _joined(found: Sequence[Span], text: str) -> tuple[Span, ...]:
    """Join spans of one paragraph with nothing between them; the order is that of their first part."""
    groups: list[list[Span]] = []
    for span in sorted(found, key=lambda one: one.start):
        between = text[max(one.end for one in groups[-1]) : span.start] if groups else text
        if groups and not between.strip() and between.count("\n") < 2:
            groups[-1].append(span)
        else:
            groups.append([span])
    groups.sort(key=lambda group: min(map(found.index, group)))
    return tuple(Span(group[0].start, max(one.end for one in group)) for group in groups)


def _supporting(words: Sequence[str], spans: Sequence[Span], parts: Sequence[Sequence[str]]) -> Span | None:
    """Return the span whose sentences have most of the words, None where none has any."""
    wanted = weights(words, parts)
    covers = [wanted.keys() & set(part) for part in parts]
    scores = [_score(cover, wanted, span) for cover, span in zip(covers, spans, strict=True)]
    if not scores or max(scores) <= 0:
        return None
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


def statements(text: str, places: Sequence[tuple[int, int]]) -> dict[int, tuple[str, ...]]:
    """Return what each source is cited for: its number to the sentences of `text` that its markers end,
    or, at the beginning of a line, introduce.

    `places` are pairs of where a marker starts and the number of what it cites, in the order of the text.
    """
    found: dict[int, tuple[str, ...]] = {}
    for start, number in places:
        said = _introduced(text, start) or _preceding(text, start)
        found[number] = (*found.get(number, ()), said)
    return found


def _preceding(text: str, start: int) -> str:
    """Return the sentence that a marker ends."""
    before = _MARKERS.sub("", text[max(0, start - _LONGEST_STATEMENT) : start]).rstrip()
    ends = [end.end() for end in _STATEMENT_END.finditer(before)]
    return before[ends[-1] if ends else 0 :].strip()


def _introduced(text: str, start: int) -> str:
    """Return the sentence that a marker introduces, where it begins a line; empty where it does not."""
    if _MARKERS.sub("", text[text.rfind("\n", 0, start) + 1 : start]).strip(" \t-*+>"):
        return ""
    after = _MARKERS.sub("", text[start : start + _LONGEST_STATEMENT].split("\n", 1)[0]).strip()
    return _STATEMENT_END.split(after, maxsplit=1)[0] if re.search(r"\w", after) else ""


def _score(cover: set[str], wanted: dict[str, float], span: Span) -> float:
    """Weigh what a sentence covers, a little less where it is long."""
    return sum(wanted[word] for word in cover) / (1 + 0.1 * math.log1p((span.end - span.start) / 100))


_LONGEST_STATEMENT = 600
