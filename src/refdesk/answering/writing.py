"""Text that somebody writes to an answer that cites: the one way for models and for the user's own code."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from functools import partial

import anyio.to_thread

from refdesk.answering import ABSTAINED
from refdesk.citations.build import cite_statements
from refdesk.citations.links import addresses
from refdesk.citations.numbering import sources
from refdesk.citations.rewriting import Rewriter
from refdesk.citations.support import statements
from refdesk.context import Answer, Citation, Evidence, NumberBy, Zone
from refdesk.documents import Pages
from refdesk.errors import LLMError
from refdesk.events import AnswerEvent, Done, Token

INLINE = 10_000
"""Characters of evidence up to which citations are made at once, since a thread would cost more."""
ABSTENTION = "The documents do not answer this."
"""What a model is told to write where the evidence holds no answer."""


async def write(
    question: str,
    pieces: AsyncIterator[str],
    shown: Sequence[Evidence],
    *,
    evidence: Sequence[Evidence],
    model: str,
    zone: Zone = "unknown",
    pages: Pages | None = None,
    warnings: Sequence[str] = (),
    cites: bool = True,
    number_by: NumberBy = "chunk",
) -> AsyncGenerator[AnswerEvent, None]:
    """Give a text as it is written, markers numbered and links checked, then the answer with citations.

    `shown` is the evidence that markers may point to. Text that is blank gives an answer whose text is empty.
    `cites` says whether an answer without citations is worth a warning.
    """
    chunks = [item.hit.chunk.text for item in shown]
    rewriter = Rewriter(sources(shown, number_by), addresses(chunks))
    text = ""
    async with aclosing(_shown(pieces, rewriter)) as ready:
        async for piece in ready:
            text += piece
            yield Token(piece)
    refusal = ABSTAINED if shown and _abstains(text) and not rewriter.order else None
    work = partial(_citations, text, rewriter, shown, pages)
    small = sum(map(len, chunks)) < INLINE
    citations = work() if small else await anyio.to_thread.run_sync(work)
    removed = _warnings(rewriter, cited=bool(rewriter.order or refusal or not cites))
    yield Done(
        Answer(
            question=question,
            text=text,
            citations=citations,
            zone=zone,
            refusal=refusal,
            evidence=tuple(evidence),
            warnings=(*warnings, *removed),
            model=model,
            number_by=number_by,
            removed_markers=rewriter.removed_markers,
            removed_links=rewriter.removed_links,
        )
    )


def nothing_said(model: str) -> LLMError:
    """Return the error of a model whose reply holds no text for a reader."""
    return LLMError(f"The model {model} wrote nothing that can be shown.", retryable=True)


async def _shown(pieces: AsyncIterator[str], rewriter: Rewriter) -> AsyncGenerator[str, None]:
    """Yield what can be shown of a text; white space at its end is left out."""
    held = ""
    async for written in pieces:
        shown = held + rewriter.feed(written)
        ready = shown.rstrip()
        held = shown[len(ready) :]
        if ready:
            yield ready
    if last := (held + rewriter.finish()).rstrip():
        yield last


def _citations(
    text: str, rewriter: Rewriter, evidence: Sequence[Evidence], pages: Pages | None
) -> tuple[Citation, ...]:
    """Cite each chunk for what its markers stand at, in the order of markers and of first appearance."""
    hits = {item.number: item.hit for item in evidence}
    said = statements(text, [(place.start, place.number) for place in rewriter.places])
    cited = dict.fromkeys((place.marker, place.number) for place in rewriter.places)
    return tuple(
        citation
        for marker, number in sorted(cited, key=lambda pair: pair[0])
        for citation in cite_statements(marker, hits[number], said[number], pages)
    )


def _warnings(rewriter: Rewriter, *, cited: bool) -> tuple[str, ...]:
    counts = (
        (rewriter.removed_markers, "citation markers that point to no evidence"),
        (rewriter.removed_links, "links, images or HTML tags of the model's own"),
    )
    removed = tuple(f"Removed {count} {what}." for count, what in counts if count)
    return removed if cited else (*removed, "The answer cites no evidence.")


def _abstains(text: str) -> bool:
    return text.casefold().startswith(ABSTENTION.casefold().rstrip("."))
