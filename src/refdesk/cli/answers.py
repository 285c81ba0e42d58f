"""An answer for people: its text, then what it cites."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from refdesk.cli.session import Session
from refdesk.cli.terminal import one_line, say

if TYPE_CHECKING:
    from refdesk.context import Answer, Citation

QUOTE = 300
"""Characters of a quote that are shown; JSON has all of it."""


def show_answer(session: Session, answer: "Answer") -> None:
    """Print the text, the sources and the warnings of an answer."""
    say(session.out, answer.text)
    show_sources(session, answer)


def show_sources(session: Session, answer: "Answer") -> None:
    """Print what follows the text: sources with quotes on stdout, how far to trust it on stderr."""
    marker = 0
    for citation in answer.citations:
        if citation.marker != marker:
            say(session.out)
            say(session.out, source_line(citation), "bold")
        marker = citation.marker
        say(session.out, f"“{one_line(citation.quote, QUOTE)}”", indent=4)
    for note in notes(answer):
        session.note(note)


def source_line(citation: "Citation") -> str:
    """Return `[1] title, page 3 — url`."""
    page = f", page {citation.page}" if citation.page is not None else ""
    return f"[{citation.marker}] {one_line(citation.title)}{page} — {citation.url or citation.source_id}"


def notes(answer: "Answer") -> Iterable[str]:
    """Return what a reader must know besides the text."""
    if answer.refusal:
        yield f"no answer [{answer.refusal}]"
    elif answer.zone == "weak":
        yield "note: the sources support this only weakly."
    yield from (f"warning: {warning}" for warning in answer.warnings)
