"""Which headings are in force at a place of a document."""

from bisect import bisect_left
from collections.abc import Sequence

from refdesk.documents import Heading


def heading_path(headings: Sequence[Heading], start: int, end: int) -> tuple[str, ...]:
    """Return the titles above `text[start:end]`, highest level first.

    A heading at the very beginning of the range counts; later ones inside it do not.
    """
    path: list[Heading] = []
    for heading in headings[: _in_force(headings, start, end)]:
        while path and path[-1].level >= heading.level:
            path.pop()
        path.append(heading)
    return tuple(heading.title for heading in path)


def _in_force(headings: Sequence[Heading], start: int, end: int) -> int:
    """Count the headings that begin before the range, or open it (within its first characters)."""
    opening = min(start + 8, end)
    before = bisect_left(headings, start, key=lambda heading: heading.start)
    opened = bisect_left(headings, opening, key=lambda heading: heading.start)
    return min(opened, before + 1)
