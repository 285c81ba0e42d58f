"""What `answer` gives where its model fails."""

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Literal

from refdesk.answering.fallback import Events, Failure, begun_within, or_instead
from refdesk.answering.listing import list_sources
from refdesk.context import Context, Evidence, NumberBy
from refdesk.errors import LLMError
from refdesk.pipeline import Run

OnModelError = Literal["stop", "quotes", "sources"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StandIn:
    """Takes the place of what was to answer and fails before a reader saw anything of it, with a warning."""

    policy: OnModelError
    seconds: float | None
    """Within which the model has to begin."""
    context: Context
    evidence: Sequence[Evidence]
    number_by: NumberBy
    run: Run

    async def over(self, events: Events, model: str, *, final: bool) -> Events:
        """Give the events of a model, or what stands in for it; see `or_instead` for `final`."""
        timed = begun_within(events, self.seconds, model)
        async with aclosing(or_instead(timed, self._instead, final=final)) as given:
            async for event in given:
                yield event

    async def _instead(self, error: Failure) -> Events | None:
        if self.policy == "sources":
            self.run.degrade("model", f"The model failed, so the sources are listed: {error}")
            return list_sources(
                self.context.question,
                self.evidence,
                zone=self.context.zone,
                number_by=self.number_by,
                links=self.run.services.settings.links,
            )
        if self.policy == "stop" or not self.evidence or not isinstance(error, LLMError):
            return None
        self.run.degrade("model", f"The model failed, so the documents are quoted: {error}")
        extractive = await self.run.services.extractive()
        question, zone = self.context.standalone, self.context.zone
        return extractive.stream(question, self.evidence, zone=zone, number_by=self.number_by)
