"""Which statements of an answer a marker `[k]` stands at."""

from collections.abc import Sequence
from dataclasses import dataclass

import regex

from refdesk.citations.sentences import Span

_ONE = r"(?<!\[)\[\d{1,4}\](?!\])"
_RUN = regex.compile(rf"{_ONE}(?:[ \t,;]*{_ONE})*")
_RUN_OR_CODE = regex.compile(rf"(?<run>{_RUN.pattern})|(?<![`\\])(`+)(?!`)[^\n]*?(?<!`)\2(?!`)")
_NUMBER = regex.compile(r"\d{1,4}")
_SIGNS = r"""[\s,;:.!?…*_"”’»)']"""
_LEADING = regex.compile(rf"(?:{_SIGNS}*{_ONE})+[\s,;:.]*")
_SAYING = regex.compile(r"\w")
_GOES_ON = regex.compile(r"[ \t]*\p{Ll}")
_ENDED = regex.compile(r"[.!?…。！？][\"'”’)\]*_]*$")


@dataclass(frozen=True, slots=True)
class Run:
    """Markers that stand together: where, and their numbers."""

    start: int
    end: int
    numbers: tuple[int, ...]


def without_leading_markers(text: str, place: Span) -> Span:
    """Return a place that begins with a word rather than with markers; empty where it is only markers."""
    found = _LEADING.match(text, place.start, place.end)
    return Span(found.end(), place.end) if found else place


def runs(text: str, known: frozenset[int]) -> tuple[Run, ...]:
    """Return the runs of markers in a text, without code and without those that cite nothing."""
    found = (
        Run(one.start(), one.end(), tuple(int(number) for number in _NUMBER.findall(one[0])))
        for one in _RUN_OR_CODE.finditer(text)
        if one["run"]
    )
    return tuple(run for run in found if known.intersection(run.numbers))


def carried(
    text: str, places: Sequence[Span], sentences: Sequence[Span], known: frozenset[int]
) -> tuple[tuple[int, ...], ...]:
    """Return the markers that each of the places carries, in order, each once.

    `places` are in order and do not overlap. A marker belongs to the place that it stands in or right after,
    before or after the full stop, also at the beginning of the next sentence or alone on the next line; and
    to those before it in the same sentence that have no marker yet. At the beginning of a line, or where a
    sentence goes on with a small letter ("[1] says ..."), it belongs to what follows.
    """
    numbers: list[list[int]] = [[] for _ in places]
    for run in runs(text, known):
        owner = _owner(text, places, run)
        if owner is None:
            continue
        own = [number for number in run.numbers if number in known]
        alike = _sentence(places[owner], sentences)
        for before in range(owner - 1, -1, -1):
            if numbers[before] or alike is None or _sentence(places[before], sentences) != alike:
                break
            numbers[before] += own
        numbers[owner] += own
    return tuple(tuple(dict.fromkeys(one)) for one in numbers)


def _owner(text: str, places: Sequence[Span], run: Run) -> int | None:
    """Return the index of the place that a run of markers stands at."""
    before = [index for index, place in enumerate(places) if place.start < run.start]
    last = before[-1] if before else None
    after = last + 1 if last is not None else 0
    follows = after < len(places) and not _apart(text[run.end : places[after].start])
    if last is not None and run.start < places[last].end:
        return after if run.end >= places[last].end and follows and _goes_on(text, run) else last
    if last is not None and _stands_after(text, places[last], run) and not (follows and _goes_on(text, run)):
        return last
    return after if follows else None


def _stands_after(text: str, place: Span, run: Run) -> bool:
    """Tell whether nothing but signs and markers is between; a line break only before markers alone."""
    between = _RUN.sub("", text[place.end : run.start])
    if _SAYING.search(between):
        return False
    if "\n" not in between:
        return True
    rest = _RUN.sub("", text[run.end :].split("\n", 1)[0])
    return between.count("\n") == 1 and not between.split("\n")[1].strip() and not _SAYING.search(rest)


def _goes_on(text: str, run: Run) -> bool:
    return bool(_ENDED.search(text[: run.start].rstrip()) and _GOES_ON.match(text, run.end))


def _apart(between: str) -> bool:
    return "\n" in between or bool(_SAYING.search(_RUN.sub("", between)))


def _sentence(place: Span, sentences: Sequence[Span]) -> Span | None:
    return next((one for one in sentences if one.start <= place.start < one.end), None)
