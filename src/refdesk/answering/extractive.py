"""Answer without a model: quote the sentences that answer best, or say that there is none."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field

from refdesk.answering import BELOW_THRESHOLD, NOTHING_FOUND
from refdesk.answering.choosing import Passage, choose
from refdesk.answering.ranking import SentenceRanker
from refdesk.answering.refusing import refuse
from refdesk.answering.showing import shown, with_marker
from refdesk.citations.build import cite
from refdesk.citations.leads import WEAK_LEAD
from refdesk.citations.numbering import sources
from refdesk.context import Answer, Citation, Evidence, NumberBy, Zone
from refdesk.documents import Pages
from refdesk.embedding import Embedder
from refdesk.events import AnswerEvent, Done, Token


@dataclass(slots=True)
class ExtractiveAnswerer:
    """Quotes one to three sentences of the evidence, each with its citation; adds nothing of its own.

    In the zone `weak` it says so first. It measures the zone on the sentences; where what was measured before
    is weak, that counts.
    """

    embedder: Embedder
    name: str = "extractive"
    ranker: SentenceRanker = field(init=False)

    def __post_init__(self) -> None:
        self.ranker = SentenceRanker(self.embedder)

    async def stream(
        self,
        question: str,
        evidence: Sequence[Evidence],
        *,
        zone: Zone = "unknown",
        pages: Pages | None = None,
        number_by: NumberBy = "chunk",
    ) -> AsyncGenerator[AnswerEvent, None]:
        """Give one `Token` per quoted passage; `zone` can only make it more careful."""
        ranking = await self.ranker.rank(question, evidence)
        zone = "weak" if (zone, ranking.zone) == ("weak", "ok") else ranking.zone
        if not evidence or zone == "none":
            reason = BELOW_THRESHOLD if evidence else NOTHING_FOUND
            for event in refuse(question, reason, evidence, model=self.name):
                yield event
            return
        passages = choose(ranking)
        markers = _markers(passages, number_by)
        text = ""
        for piece in _pieces(passages, markers, zone):
            text += piece
            yield Token(piece)
        yield Done(
            Answer(
                question=question,
                text=text,
                citations=_citations(passages, markers, pages),
                zone=zone,
                evidence=tuple(evidence),
                model=self.name,
                number_by=number_by,
            )
        )


def _markers(passages: Sequence[Passage], number_by: NumberBy) -> list[int]:
    """Return the marker of each passage."""
    cited = [one.item for one in passages]
    counted = sources(cited, number_by)
    order = list(dict.fromkeys(counted[item.number] for item in cited))
    return [order.index(counted[item.number]) + 1 for item in cited]


def _citations(
    passages: Sequence[Passage], markers: Sequence[int], pages: Pages | None
) -> tuple[Citation, ...]:
    found = [cite(k, one.item.hit, one.span, pages) for k, one in zip(markers, passages, strict=True)]
    return tuple(sorted(found, key=lambda one: one.marker))


def _pieces(passages: Sequence[Passage], markers: Sequence[int], zone: Zone) -> list[str]:
    """Return the text in pieces, one passage each."""
    lead = f"{WEAK_LEAD} " if zone == "weak" else ""
    said = [with_marker(shown(one.quote), marker) for marker, one in zip(markers, passages, strict=True)]
    return [f"{lead if place == 0 else ' '}{sentence}" for place, sentence in enumerate(said)]
