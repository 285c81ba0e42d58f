"""An answer for people: its text, then what it cites."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from refdesk.cli.session import Session
from refdesk.cli.terminal import one_line, say

if TYPE_CHECKING:
    from refdesk.context import Answer, Citation
    from refdesk.support import Claim, EvidenceSpan

QUOTE = 300
"""Characters of a quote that are shown; JSON has all of it."""
REASONS = {
    "gave_up": "the model searched and did not find enough.",
    "unfinished": "the search came to a limit before there was an answer.",
}
"""Refusals that the text of the answer does not explain."""


def show_answer(session: Session, answer: "Answer") -> None:
    """Print the text, the sources and the warnings of an answer."""
    say(session.out, answer.text)
    show_sources(session, answer)


def show_sources(session: Session, answer: "Answer") -> None:
    """Print sources with quotes, what they do not hold, and the invitation; further notes go to stderr."""
    show_citations(session, answer.citations)
    for claim in answer.grounding.claims if answer.grounding else ():
        for doubt in doubts(claim, answer):
            say(session.out)
            say(session.out, doubt)
    if answer.invitation:
        say(session.out)
        say(session.out, answer.invitation)
    for note in notes(answer):
        session.note(note)


def show_citations(session: Session, citations: "Iterable[Citation]") -> None:
    """Print where citations lead, each place once, with what they quote."""
    shown = ""
    for citation in citations:
        if (line := source_line(citation)) != shown:
            say(session.out)
            say(session.out, line, "bold")
        shown = line
        say(session.out, f"“{one_line(citation.quote, QUOTE)}”", indent=4)


def source_line(citation: "Citation") -> str:
    """Return `[1] title, page 3 — url`."""
    page = f", page {citation.page}" if citation.page is not None else ""
    return f"[{citation.marker}] {one_line(citation.title)}{page} — {citation.url or citation.source_id}"


def notes(answer: "Answer") -> Iterable[str]:
    """Return what a reader must know besides the text."""
    if answer.refusal:
        why = REASONS.get(answer.refusal)
        yield f"no answer [{answer.refusal}]" + (f": {why}" if why else "")
    elif answer.zone == "weak":
        yield "note: the sources support this only weakly."
    yield from (f"warning: {warning}" for warning in answer.warnings)


def doubts(claim: "Claim", answer: "Answer") -> Iterable[str]:
    """Return what is wrong with a statement of an answer, and with its markers."""
    said, source = f"“{one_line(claim.text, QUOTE)}”", claim.source
    if claim.support == "unsupported":
        yield f"not in the sources: {said}"
    elif claim.support == "contradicted":
        yield f"the sources say otherwise: {said}" + (f" — {_quoted(source, answer)}" if source else "")
    elif claim.misattributed and source:
        markers = "".join(f"[{number}]" for number in claim.misattributed)
        yield f"{markers} does not say this: {said} — {_quoted(source, answer)}"


def _quoted(source: "EvidenceSpan", answer: "Answer") -> str:
    titles = {one.number: one.hit.title for one in answer.evidence}
    return f"{one_line(titles.get(source.number, ''), QUOTE)}: “{one_line(source.quote, QUOTE)}”"
