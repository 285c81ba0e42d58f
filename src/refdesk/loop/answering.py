"""What a reader sees of a loop: a draft, what an answerer makes of it, or the best at a limit."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any

from refdesk.answering import GAVE_UP, NOTHING_FOUND, UNFINISHED
from refdesk.answering.generated import GeneratedAnswerer
from refdesk.answering.own import own_answer, pieces_of
from refdesk.answering.refusing import TEXTS, refusal
from refdesk.answering.writing import write
from refdesk.citations.links import addresses
from refdesk.citations.rewriting import Rewriter
from refdesk.cleaning import visible
from refdesk.context import Evidence, NumberBy
from refdesk.events import AnswerEvent, Done
from refdesk.evidence import estimate_tokens, evidence_block, quoted
from refdesk.evidence.tokens import LEAST
from refdesk.llm import Message
from refdesk.loop.investigation import Outcome
from refdesk.pipeline import Run
from refdesk.pipeline.workers import Bound

LONGEST_REASON = 400
"""Characters that are shown of why a controller gave up."""
PIECE = 200
"""Characters of a draft that are read at once; work grows with the square of a piece."""
Events = AsyncGenerator[AnswerEvent, None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answering:
    """What the answer of one loop is made with."""

    run: Run
    question: str
    evidence: tuple[Evidence, ...]
    based: bool
    """Whether there is anything that a controller's answer can rest on."""
    seen: tuple[Evidence, ...]
    """What of it the controller was shown, so that its draft can cite it."""
    number_by: NumberBy
    controller: str
    """The controller's name."""
    rewriter: GeneratedAnswerer | None
    """What makes the answer of a draft; None where the draft is the answer."""
    rewriting: Callable[[str], str]
    """Takes a draft, returns what the rewriter is asked for."""
    synthesis: GeneratedAnswerer | None
    """What answers at a limit; None where nothing does."""
    synthesizer: Bound | None
    """What the user gave in its place: takes messages and facts, returns a text."""

    def answer(self, outcome: Outcome) -> Events:
        """Give the events of the answer that a loop ended with. Errors: `LLMError` in the midst of one."""
        if outcome.terminated_by == "gave_up":
            return self._refused(GAVE_UP, gave_up(outcome.text))
        if outcome.terminated_by == "answered" and not self.based:
            self.run.warn("The controller answered without having found anything, so that is not shown.")
            return self._refused(NOTHING_FOUND)
        if outcome.terminated_by == "answered":
            return self._drafted(outcome.text) if self.rewriter is None else self._rewritten(outcome.text)
        if not self.evidence or self.synthesis is None:
            return self._refused(UNFINISHED if self.evidence else NOTHING_FOUND)
        return self._at_limit(outcome, self.synthesis)

    async def _drafted(self, draft: str) -> Events:
        """Give the controller's own text; one without a word for a reader is no answer."""
        written = write(
            self.question,
            pieces_of([draft[at : at + PIECE] for at in range(0, len(draft), PIECE)]),
            self.seen,
            evidence=self.evidence,
            model=self.controller,
            number_by=self.number_by,
        )
        async with aclosing(written) as events:
            async for event in events:
                if isinstance(event, Done) and not event.answer.text:
                    self.run.warn("Nothing of the controller's answer can be shown.")
                    async for one in self._refused(UNFINISHED):
                        yield one
                    return
                yield event

    async def _rewritten(self, draft: str) -> Events:
        """Give what the answerer makes of a draft; the draft where it fails before it wrote anything."""
        assert self.rewriter is not None
        if not self.evidence:
            async for event in self._drafted(draft):
                yield event
            return
        further = f"A draft of the answer:\n{quoted(draft)}\n{self.rewriting(draft)}"
        begun = False
        try:
            budget = max(self.rewriter.budget - estimate_tokens(further), LEAST)
            rewriter = replace(self.rewriter, further=further, budget=budget)
            async with aclosing(
                rewriter.stream(self.question, self.evidence, number_by=self.number_by)
            ) as events:
                async for event in events:
                    begun = True
                    yield event
            return
        except Exception as error:
            if begun:
                raise
            self.run.warn(f"The answerer failed, so the controller's draft is the answer: {error}")
        async for event in self._drafted(draft):
            yield event

    async def _at_limit(self, outcome: Outcome, synthesis: GeneratedAnswerer) -> Events:
        """Give the best answer that the evidence allows; a refusal where it fails before any of it came."""
        begun = False
        try:
            async with aclosing(await self._synthesised(outcome, synthesis)) as events:
                async for event in events:
                    begun = True
                    yield event
            return
        except Exception as error:  # a synthesizer of the user's own may raise anything
            if begun:
                raise
            self.run.warn(f"No answer could be made of what was found: {error}")
        async for event in self._refused(UNFINISHED):
            yield event

    async def _synthesised(self, outcome: Outcome, synthesis: GeneratedAnswerer) -> Events:
        if self.synthesizer is not None:
            returned = await self.synthesizer(self._messages(synthesis), self._facts(outcome))
            return own_answer(self.question, returned, self.evidence, number_by=self.number_by)
        if outcome.exhausted:  # no model may be asked, so the documents are quoted
            extractive = await self.run.services.extractive()
            return extractive.stream(self.question, self.evidence, number_by=self.number_by)
        return synthesis.stream(self.question, self.evidence, number_by=self.number_by)

    def _messages(self, synthesis: GeneratedAnswerer) -> tuple[Message, ...]:
        block = evidence_block(self.evidence, budget=synthesis.budget)
        return synthesis.messages(self.question, block, "unknown")

    def _facts(self, outcome: Outcome) -> dict[str, Any]:
        return {
            "question": self.question,
            "terminated_by": outcome.terminated_by,
            "reason": outcome.reason,
            "evidence": self.evidence,
        }

    def _refused(self, reason: str, text: str = "") -> Events:
        return refusal(self.question, reason, self.evidence, self.controller, text or TEXTS[reason])


def gave_up(reason: str) -> str:
    """Say why a controller gave up, in one line without markers and links; empty where it said nothing.

    The line is made first and read as it is shown: code that is cut, or joined with what was before it, may
    be code no more.
    """
    rewriter = Rewriter({}, addresses([]))
    said = " ".join(visible(reason).split())[:LONGEST_REASON]
    shown = (rewriter.feed(COULD_NOT + said) + rewriter.finish()).strip()
    return "" if shown == COULD_NOT.strip() else shown


COULD_NOT = "Could not answer: "
