"""`ground`: how far the evidence holds the answer."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

from refdesk.context import Answer, Citation, Context, Measure
from refdesk.grounding.named import JUDGE, LOCAL
from refdesk.pipeline import Kind, LLMValue, OnError, Run, Step
from refdesk.pipeline.workers import ModelOption
from refdesk.steps.checking import Check, GrounderValue
from refdesk.support import GroundedSpan, Grounding, SpanSource, Support
from refdesk.tooluse import ToolUse

LEVELS: tuple[Support, ...] = ("supported", "partial", "unsupported", "contradicted", "unchecked")


@dataclass(frozen=True, kw_only=True)
class Ground(Step):
    """Check which statements of the answer the evidence holds, and which citations are right.

    A refusal and an answer without evidence are not checked: that is a score of None, never a good one. What
    the same grounder said of the same text in an earlier step is used again.
    """

    kind: ClassVar[Kind] = "grounding"
    reads: ClassVar[frozenset[str]] = frozenset({"answer", "evidence", "citations", "tool_history"})
    writes: ClassVar[frozenset[str]] = frozenset({"answer", "grounding", "citations"})
    after: ClassVar[tuple[Kind, ...]] = ("answer_generator",)
    worker: ClassVar[str] = "grounder"
    method: ClassVar[str] = "ground"
    leaves: ClassVar[str] = "No grounding: the answer was not checked."

    grounder: GrounderValue = LOCAL
    """`local`, `lexical`, `judge` for a language model, `nli:FOLDER` for a classifier, or your own."""
    llm: Annotated[LLMValue, ModelOption()] = None
    """Another language model than the run's, for `judge`."""
    on_error: OnError = "continue"

    @property
    def needs_llm(self) -> bool:
        return self._check.asks_llm and self.llm is None

    def problems(self) -> Iterator[tuple[str, str]]:
        yield from (wrong := tuple(self._check.problems()))
        if not wrong and self.llm is not None and not self._check.asks_llm:
            yield f"Its `llm` is used by the grounder {JUDGE!r} alone.", f"Set `grounder` to {JUDGE!r}."

    def skips(self, context: Context) -> str:
        return "" if context.answer is not None else "there is no answer"

    async def __call__(self, context: Context, run: Run) -> Context:
        assert context.answer is not None
        answer = await self._check.grounded(context.answer, context.evidence, run)
        answer = replace(answer, grounding=traced(answer.grounding, context.tool_history))
        run.measure(**figures(answer))
        citations = _supported(context.citations, answer)
        return context.evolve(answer=answer, grounding=answer.grounding, citations=citations)

    @property
    def _check(self) -> Check:
        return Check(self.grounder, self.llm, self.label)


def figures(answer: Answer) -> dict[str, Measure]:
    """Return what a trace says of the grounding of an answer."""
    grounding = answer.grounding
    if grounding is None:
        return {}
    levels = Counter(one.support for one in grounding.claims)
    found: dict[str, Measure] = {
        "score": grounding.score,
        "hallucinated_spans": len(grounding.hallucinated_spans),
        "faithful_spans": len(grounding.faithful_spans),
        "claims": len(grounding.claims),
        **{level: levels[level] for level in LEVELS},
        "misattributed": sum(bool(one.misattributed) for one in grounding.claims),
        "suggested": sum(one.suggested is not None for one in grounding.claims),
    }
    return found | ({"reason": grounding.reason} if grounding.reason else {})


def traced(grounding: Grounding | None, history: Sequence[ToolUse]) -> Grounding | None:
    """Say of each source of a span which search of a loop found it first."""
    if grounding is None or not history:
        return grounding
    first: dict[str, ToolUse] = {}
    for use in history:
        for chunk in use.returned_chunk_ids if use.tool == "search" else ():
            first.setdefault(chunk, use)

    def of(spans: tuple[GroundedSpan, ...]) -> tuple[GroundedSpan, ...]:
        return tuple(replace(span, sources=tuple(map(source, span.sources))) for span in spans)

    def source(one: SpanSource) -> SpanSource:
        use = first.get(one.chunk_id)
        if use is None:
            return one
        query = str(use.arguments.get("query", ""))
        return replace(one, search_query=query, search_iteration=use.iteration)

    return replace(
        grounding,
        faithful_spans=of(grounding.faithful_spans),
        hallucinated_spans=of(grounding.hallucinated_spans),
    )


def _supported(citations: tuple[Citation, ...], answer: Answer) -> tuple[Citation, ...]:
    """Return citations with the support that those of the answer have; they were checked by `cite`."""
    levels = {replace(one, support="unchecked"): one.support for one in answer.citations}
    return tuple(
        replace(one, support=levels.get(replace(one, support="unchecked"), one.support)) for one in citations
    )
