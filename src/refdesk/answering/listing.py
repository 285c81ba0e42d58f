"""Answer with the sources themselves, where nothing could write an answer from them."""

from collections.abc import AsyncGenerator, Hashable, Mapping, Sequence

from refdesk.answering import MODEL_UNAVAILABLE
from refdesk.answering.refusing import TEXTS
from refdesk.answering.showing import shown
from refdesk.citations.build import cite, link_to
from refdesk.citations.numbering import sources
from refdesk.citations.sentences import Span, sentences
from refdesk.citations.templates import source_of
from refdesk.context import Answer, Evidence, NumberBy, Zone
from refdesk.documents import Hit
from refdesk.events import AnswerEvent, Done, Token

NAME = "sources"
"""What wrote such a text, as `Answer.model` says it."""
EXCERPT = 300
"""Characters of each source that are cited, at most."""


async def list_sources(
    question: str,
    evidence: Sequence[Evidence],
    *,
    zone: Zone = "unknown",
    number_by: NumberBy = "chunk",
    links: Mapping[str, str] | None = None,
) -> AsyncGenerator[AnswerEvent, None]:
    """Give a refusal that lists the evidence, each source with a link where it has one, and cites it.

    `links` are templates of addresses by collection.
    """
    marked = _markers(evidence, number_by)
    lines = {
        marked[item.number]: _line(marked[item.number], item.hit, links or {}) for item in evidence[::-1]
    }
    said = TEXTS[MODEL_UNAVAILABLE]
    listed = "\n".join(lines[marker] for marker in sorted(lines))
    yield Token(whole := f"{said}\n\n{listed}" if listed else said)
    cited = [cite(marked[item.number], item.hit, excerpt(item.hit.chunk.text)) for item in evidence]
    yield Done(
        Answer(
            question=question,
            text=whole,
            citations=tuple(sorted((one for one in cited if one.quote), key=lambda one: one.marker)),
            zone=zone,
            refusal=MODEL_UNAVAILABLE,
            evidence=tuple(evidence),
            model=NAME,
            number_by=number_by,
        )
    )


def excerpt(text: str) -> Span:
    """Return the first sentences of a text, as many as are not too long, else a beginning of it."""
    found = sentences(text)
    whole = [span for span in found if span.end - found[0].start <= EXCERPT]
    if whole:
        return Span(whole[0].start, whole[-1].end)
    start = len(text) - len(text.lstrip())
    cut = text[start : start + EXCERPT]
    words = cut.rpartition(" ")[0] if len(text) > start + EXCERPT else cut
    return Span(start, start + len((words or cut).rstrip()))


def _markers(evidence: Sequence[Evidence], number_by: NumberBy) -> dict[int, int]:
    """Return the marker of each evidence: numbers from 1, the same for what counts as one source."""
    counted = sources(evidence, number_by)
    order: dict[Hashable, int] = {}
    return {item.number: order.setdefault(counted[item.number], len(order) + 1) for item in evidence}


def _line(marker: int, hit: Hit, links: Mapping[str, str]) -> str:
    url = link_to(source_of(hit), hit.chunk.page, links.get(hit.chunk.collection, ""))
    title = shown(hit.title) or hit.source_id
    return f"- {title} [{marker}]" + (f": <{url}>" if url else "")
