"""Answer without a model: quote the sentences that answer best, or say that there is none."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field

from refdesk.answering import BELOW_THRESHOLD, NOTHING_FOUND
from refdesk.answering.choosing import Passage, choose
from refdesk.answering.ranking import SentenceRanker
from refdesk.answering.refusing import refuse
from refdesk.answering.showing import shown, with_marker
from refdesk.citations.build import cite
from refdesk.context import Answer, Evidence, Zone
from refdesk.documents import Pages
from refdesk.embedding import Embedder
from refdesk.events import AnswerEvent, Done, Token


@dataclass(slots=True)
class ExtractiveAnswerer:
    """Quotes one to three sentences of the evidence, each with its citation; adds nothing of its own.

    In the zone `weak` it says so first. It measures the zone itself.
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
    ) -> AsyncGenerator[AnswerEvent, None]:
        """Give one `Token` per quoted passage. `zone` is not read: the sentences themselves decide."""
        ranking = await self.ranker.rank(question, evidence)
        zone = ranking.zone
        if not evidence or zone == "none":
            reason = BELOW_THRESHOLD if evidence else NOTHING_FOUND
            for event in refuse(question, reason, evidence, model=self.name):
                yield event
            return
        passages = choose(ranking)
        text = ""
        for piece in _pieces(passages, zone):
            text += piece
            yield Token(piece)
        yield Done(
            Answer(
                question=question,
                text=text,
                citations=tuple(cite(k, one.item.hit, one.span, pages) for k, one in enumerate(passages, 1)),
                zone=zone,
                evidence=tuple(evidence),
                model=self.name,
            )
        )


def _pieces(passages: Sequence[Passage], zone: Zone) -> list[str]:
    """Return the text in pieces, one passage each."""
    lead = f"{WEAK_LEAD} " if zone == "weak" else ""
    said = [with_marker(shown(passage.quote), marker) for marker, passage in enumerate(passages, 1)]
    return [f"{lead if place == 0 else ' '}{sentence}" for place, sentence in enumerate(said)]


WEAK_LEAD = "This is the closest that the documents come to it:"
