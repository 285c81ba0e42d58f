"""`ground`: how far the evidence holds the answer."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from numbers import Real
from typing import Annotated, Any, ClassVar, Protocol

from refdesk.context import Context, Grounding
from refdesk.documents import Hit
from refdesk.errors import StepError
from refdesk.grounding import unchecked
from refdesk.grounding.judged import JudgedGrounder
from refdesk.grounding.lexical import LexicalGrounder
from refdesk.pipeline import Kind, LLMValue, OnError, Run, Step
from refdesk.pipeline.workers import ModelOption, WorkerOption

LEXICAL, JUDGE = "lexical", "judge"
NAMED = (LEXICAL, JUDGE)


class Grounder(Protocol):
    """Judge an answer's text by hits: a `Grounding`, or a score from 0 to 1."""

    def ground(
        self, answer: str, hits: Sequence[Hit]
    ) -> Grounding | float | Awaitable[Grounding | float]: ...


GroundFunction = Callable[[str, Sequence[Hit]], Any]


@dataclass(frozen=True, kw_only=True)
class Ground(Step):
    """Check which parts of the answer the evidence holds.

    A refusal and an answer without evidence are not checked: that is a score of None, never a good one.
    """

    kind: ClassVar[Kind] = "grounding"
    reads: ClassVar[frozenset[str]] = frozenset({"answer", "evidence"})
    writes: ClassVar[frozenset[str]] = frozenset({"answer", "grounding"})
    after: ClassVar[tuple[Kind, ...]] = ("answer_generator",)
    worker: ClassVar[str] = "grounder"
    method: ClassVar[str] = "ground"
    leaves: ClassVar[str] = "No grounding: the answer was not checked."

    grounder: Annotated[
        str | Grounder | type[Grounder] | tuple[Any, Mapping[str, Any]] | GroundFunction,
        WorkerOption("ground", names=True),
    ] = LEXICAL
    """`lexical`, `judge` for a language model, or an implementation of your own."""
    llm: Annotated[LLMValue, ModelOption()] = None
    """Another language model than the run's, for `judge`."""
    on_error: OnError = "continue"

    @property
    def needs_llm(self) -> bool:
        return self.grounder == JUDGE and self.llm is None

    def problems(self) -> Iterator[tuple[str, str]]:
        if isinstance(self.grounder, str) and self.grounder not in NAMED:
            near = get_close_matches(self.grounder, NAMED, 1)
            hint = (
                f"Did you mean {near[0]!r}?"
                if near
                else f"Known: {', '.join(NAMED)}, and names given as workers."
            )
            yield f"There is no grounder {self.grounder!r}.", hint
        elif self.llm is not None and self.grounder != JUDGE:
            yield f"Its `llm` is used by the grounder {JUDGE!r} alone.", f"Set `grounder` to {JUDGE!r}."

    def skips(self, context: Context) -> str:
        return "" if context.answer is not None else "there is no answer"

    async def __call__(self, context: Context, run: Run) -> Context:
        assert context.answer is not None
        if context.answer.refusal is not None:
            grounding = unchecked("the answer is a refusal", "")
        else:
            hits = tuple(item.hit for item in context.evidence)
            grounding = await self._grounding(context.answer.text, hits, run)
        run.measure(
            score=grounding.score,
            hallucinated_spans=len(grounding.hallucinated_spans),
            faithful_spans=len(grounding.faithful_spans),
        )
        if grounding.reason:
            run.measure(reason=grounding.reason)
        return context.evolve(answer=replace(context.answer, grounding=grounding), grounding=grounding)

    async def _grounding(self, text: str, hits: Sequence[Hit], run: Run) -> Grounding:
        if self.grounder == LEXICAL:
            return await LexicalGrounder().ground(text, hits)
        if self.grounder == JUDGE:
            return await JudgedGrounder(run.model(self.llm)).ground(text, hits)
        return _checked(await self.work(text, hits), text, self)


def _checked(returned: Any, text: str, step: Step) -> Grounding:
    """Return what an implementation returned. Errors: `StepError`, also for spans not in the text."""
    if isinstance(returned, Real) and not isinstance(returned, bool) and 0 <= float(returned) <= 1:
        return Grounding(score=float(returned), grounder="own")
    if not isinstance(returned, Grounding):
        raise _nonsense(f"{returned!r:.80}", step)
    if returned.score is not None and not 0 <= returned.score <= 1:
        raise _nonsense(f"the score {returned.score}", step)
    for span in (*returned.faithful_spans, *returned.hallucinated_spans):
        if not 0 <= span.start <= span.end <= len(text) or text[span.start : span.end] != span.text:
            raise _nonsense(f"a span {span.start} to {span.end} that is not {span.text!r:.40}", step)
    return returned if returned.grounder else replace(returned, grounder="own")


def _nonsense(what: str, step: Step) -> StepError:
    return StepError(
        f"The grounder returned {what}; allowed are a Grounding and a score from 0 to 1.",
        step=step.label,
        remedy="Return None as the score of a Grounding where the answer could not be checked.",
    )
