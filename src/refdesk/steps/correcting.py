"""Ground a draft, and have it written anew where its evidence does not hold it."""

from contextlib import aclosing
from dataclasses import dataclass, replace

from refdesk.answering.generated import GeneratedAnswerer
from refdesk.citations.markers import marked
from refdesk.context import Answer, Context, Correction, NumberBy
from refdesk.errors import InputError, MissingExtra, SettingsError
from refdesk.events import Done
from refdesk.evidence import estimate_tokens, quoted
from refdesk.evidence.tokens import LEAST
from refdesk.grounding.objections import objections
from refdesk.pipeline import LLMValue, Run
from refdesk.steps.checking import Check


@dataclass(frozen=True, slots=True)
class Corrector:
    """What one answer is checked and written anew with."""

    answerer: GeneratedAnswerer
    check: Check
    llm: LLMValue
    most: int

    async def corrected(self, context: Context, run: Run) -> Context:
        """Return the context with an answer that its evidence holds, or with the last one that was written.

        Its grounding is the last one. Each round is traced as `self_correct`. Errors: `LLMError` where a
        draft cannot be written anew.
        """
        assert context.answer is not None
        answer, corrections = context.answer, list(context.corrections)
        for attempt in range(1, self.most + 2):
            async with run.part("self_correct") as part:
                part.measure(attempt=attempt)
                answer = await self._grounded(answer, part)
                feedback = " ".join(objections(answer.grounding)) if answer.grounding else ""
                if not feedback:
                    break
                if attempt > self.most:
                    part.warn(f"The answer did not hold after {self.most} corrections, see its grounding.")
                    part.measure(result="given up")
                    break
                corrections.append(Correction(answer.text, feedback))
                answer = await self._anew(context, answer, feedback, part)
                part.measure(result="corrected")
            if answer.refusal is not None:
                break
        return context.evolve(
            answer=answer,
            evidence=answer.evidence,
            corrections=tuple(corrections),
            grounding=answer.grounding,
        )

    async def _grounded(self, answer: Answer, part: Run) -> Answer:
        """Return a draft with its grounding; as it was, with a warning, where its grounder fails."""
        try:
            found = await self.check.grounded(answer, answer.evidence, part)
        except (SettingsError, MissingExtra, InputError):
            raise
        except Exception as error:  # a grounder of the user's own may raise anything
            part.warn(f"The answer could not be checked against the evidence: {error}")
            part.measure(result="not checked")
            return answer
        score = found.grounding.score if found.grounding else None
        part.measure(score=score, result="not checked" if score is None else "accepted")
        return found

    async def _anew(self, context: Context, answer: Answer, feedback: str, part: Run) -> Answer:
        further = anew(marked(answer.text, answer, answer.evidence), feedback)
        answerer = replace(
            self.answerer,
            llm=part.model(self.llm),
            further=further,
            budget=max(self.answerer.budget - estimate_tokens(further), LEAST),
        )
        return await _written(answerer, context, answer.number_by, part)


def anew(draft: str, feedback: str) -> str:
    """Ask for an answer without the mistakes of a draft; both were written by models that read documents."""
    said = f"A draft of the answer:\n{quoted(draft)}\nWhat a check found wrong with it:\n{quoted(feedback)}"
    return f"{said}\n{AGAIN}"


AGAIN = "Write the answer anew, without these mistakes, with markers [[n]]. Write the answer alone."


async def _written(answerer: GeneratedAnswerer, context: Context, number_by: NumberBy, part: Run) -> Answer:
    written = answerer.stream(context.question, context.evidence, zone=context.zone, number_by=number_by)
    async with aclosing(written) as events:
        async for event in events:
            if isinstance(event, Done):
                for warning in event.answer.warnings:
                    part.warn(warning)
                return replace(event.answer, warnings=())
    raise AssertionError("An answerer ends with Done.")
