"""Ground an answer in a step: by a named grounder, or one of the user's own; never twice by the same."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Real
from typing import Annotated, Any, Protocol

import anyio.to_thread

from refdesk.context import Answer, Evidence
from refdesk.documents import Hit
from refdesk.errors import StepError
from refdesk.grounding import unchecked
from refdesk.grounding.claims import with_claims
from refdesk.grounding.judged import JudgedGrounder
from refdesk.grounding.named import JUDGE, problem_of
from refdesk.pipeline import LLMValue, Run
from refdesk.pipeline.workers import WorkerOption, bind
from refdesk.steps.window import room
from refdesk.support import Grounding


class Grounder(Protocol):
    """Judge an answer's text by hits: a `Grounding`, or a score from 0 to 1."""

    def ground(
        self, answer: str, hits: Sequence[Hit]
    ) -> Grounding | float | Awaitable[Grounding | float]: ...


GroundFunction = Callable[[str, Sequence[Hit]], Any]
GrounderValue = Annotated[
    str | Grounder | type[Grounder] | tuple[Any, Mapping[str, Any]] | GroundFunction,
    WorkerOption("ground", names=True),
]
"""A name, or an implementation of one's own."""


@dataclass(frozen=True, slots=True)
class Check:
    """What a step checks answers with."""

    grounder: Any
    llm: LLMValue
    step: str

    @property
    def asks_llm(self) -> bool:
        return isinstance(self.grounder, str) and self.grounder == JUDGE

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield what is wrong with the name of a grounder, and what to do."""
        if isinstance(self.grounder, str) and (problem := problem_of(self.grounder)):
            yield problem

    async def grounded(self, answer: Answer, evidence: Sequence[Evidence], run: Run) -> Answer:
        """Return an answer with its grounding, claims and the support of its citations.

        A refusal is not checked. What the same named grounder said of the same text is taken as it is. Where
        the answer could not be checked, that is a warning.
        """
        hits = tuple(item.hit for item in evidence)
        if answer.refusal is not None:
            return replace(answer, grounding=unchecked("the answer is a refusal", ""))
        if isinstance(self.grounder, str):
            grounding = await self._named(answer, hits, run)
        else:
            returned = await bind(self.grounder, "ground", self.step)(answer.text, hits)
            grounding = _read(returned, answer.text, self.step)
        if grounding.score is None and hits and grounding is not answer.grounding:
            reason = grounding.reason.rstrip(".")
            run.warn(f"The answer could not be checked against the evidence: {reason}.")
        return await anyio.to_thread.run_sync(partial(with_claims, answer, evidence, grounding))

    async def _named(self, answer: Answer, hits: Sequence[Hit], run: Run) -> Grounding:
        grounder = await run.services.grounder(self.grounder, run.model(self.llm) if self.asks_llm else None)
        found = answer.grounding
        if found is not None and not misplaced(found, answer.text):
            judging = partial(_judging, grounder, answer.text, hits)
            if found.grounder == await anyio.to_thread.run_sync(judging):
                return found
        if isinstance(grounder, JudgedGrounder):
            grounder = replace(grounder, budget=room(run.services.settings, answer.text))
            for warning in grounder.block(hits).warnings:
                run.warn(f"For the check of the answer: {warning}")
        return await grounder.ground(answer.text, hits)


def _judging(grounder: Any, text: str, hits: Sequence[Hit]) -> str:
    """Return what a grounder calls itself in what it says of a text; some leave some texts to another."""
    left = getattr(grounder, "judging", None)
    return str(left(text, hits) if left else grounder.name)


def misplaced(grounding: Grounding, text: str) -> str:
    """Return what is wrong with the spans of a grounding, empty where they stand in a text as they say."""
    for span in (*grounding.faithful_spans, *grounding.hallucinated_spans):
        if not 0 <= span.start <= span.end <= len(text) or text[span.start : span.end] != span.text:
            return f"a span {span.start} to {span.end} that is not {span.text!r:.40}"
        if not 0 <= span.score <= 1:
            return f"a span with the score {span.score}"
    return ""


def _read(returned: Any, text: str, step: str) -> Grounding:
    """Return what an implementation returned. Errors: `StepError`, also for spans not in the text."""
    number = isinstance(returned, Real) and not isinstance(returned, bool)
    if number and 0 <= float(returned) <= 1:
        return Grounding(score=float(returned), grounder="own")
    if not isinstance(returned, Grounding):
        raise _nonsense(f"{returned!r:.80}", step)
    if returned.score is not None and not 0 <= returned.score <= 1:
        raise _nonsense(f"the score {returned.score}", step)
    if wrong := misplaced(returned, text):
        raise _nonsense(wrong, step)
    reason = returned.reason or ("" if returned.score is not None else "the grounder gave no score")
    return replace(returned, reason=reason, grounder=returned.grounder or "own")


def _nonsense(what: str, step: str) -> StepError:
    return StepError(
        f"The grounder returned {what}; allowed are a Grounding and a score from 0 to 1.",
        step=step,
        remedy="Return None as the score of a Grounding where the answer could not be checked.",
    )
