"""Say that there is no answer, and why."""

from collections.abc import AsyncGenerator, Iterator, Sequence

from refdesk.answering import BELOW_THRESHOLD, BUDGET, GAVE_UP, MODEL_UNAVAILABLE, NOTHING_FOUND, UNFINISHED
from refdesk.context import Answer, Evidence
from refdesk.events import AnswerEvent, Done, Token


def refuse(
    question: str,
    reason: str,
    evidence: Sequence[Evidence],
    *,
    model: str,
    warnings: Sequence[str] = (),
    text: str = "",
) -> Iterator[AnswerEvent]:
    """Give the events of an answer that refuses: zone `none`, no citations; `text` in place of the usual."""
    text = text or TEXTS[reason]
    yield Token(text)
    yield Done(
        Answer(
            question=question,
            text=text,
            zone="none",
            refusal=reason,
            evidence=tuple(evidence),
            warnings=tuple(warnings),
            model=model,
        )
    )


async def refusal(
    question: str, reason: str, evidence: Sequence[Evidence], model: str, text: str = ""
) -> AsyncGenerator[AnswerEvent, None]:
    """Refuse as answerers answer."""
    for event in refuse(question, reason, evidence, model=model, text=text):
        yield event


def said_of(reason: str, degraded: Sequence[str] = ()) -> str:
    """Return the text of a refusal, which says so where the search before it was not whole."""
    missed = any(part.endswith(SEARCHES) for part in degraded)
    return f"{TEXTS[reason]} {INCOMPLETE}" if missed else TEXTS[reason]


SEARCHES = (".vector", ".keyword")
"""Parts of a search that may have failed, see `Context.degraded`."""
INCOMPLETE = "A part of the search failed, so there may be an answer all the same."
"""Said after a refusal for want of evidence, where not all that should have been was searched."""
TEXTS = {
    NOTHING_FOUND: "I found nothing about this in the documents.",
    BELOW_THRESHOLD: "I do not know: nothing in the documents answers this well enough to quote.",
    BUDGET: "I cannot answer this: nothing of what was found fits into what the model may read.",
    GAVE_UP: "Could not answer this from the documents.",
    UNFINISHED: "The search was ended before an answer was found.",
    MODEL_UNAVAILABLE: "No answer could be written, since a model that it needs is not available."
    " These are the sources that were found for the question:",
}
