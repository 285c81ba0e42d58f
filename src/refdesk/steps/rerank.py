"""`rerank`: hits to better ordered hits."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Protocol

from pydantic import Field

from refdesk.context import Context, Measure
from refdesk.documents import Hit
from refdesk.errors import StepError
from refdesk.pipeline import Kind, LLMValue, OnError, Run, Step
from refdesk.pipeline.prompts import Prompt, PromptOption, messages_of
from refdesk.pipeline.workers import ModelOption, WorkerOption
from refdesk.reranking.judged import judge, judging_prompt
from refdesk.results import Results, numbered

LLM_SCORES = "llm"
"""The reranker that is a language model giving scores from 0 to 10."""


class Reranker(Protocol):
    """Order hits: hits, pairs of hit and score, or one score per hit in the order given."""

    def rerank(self, question: str, hits: Sequence[Hit]) -> Any | Awaitable[Any]: ...


RerankFunction = Callable[[str, Sequence[Hit]], Any]


@dataclass(frozen=True, kw_only=True)
class Rerank(Step):
    """Order the hits anew by reading each beside the question. Nothing is dropped unless that is asked for.

    Hits behind `depth` keep their order behind those that were read. `threshold` drops those, and hits that
    score lower, but never more than leaves `keep_at_least`. A hit that the reranker forgot stays, behind.
    """

    kind: ClassVar[Kind] = "context_optimizer"
    reads: ClassVar[frozenset[str]] = frozenset({"question", "standalone", "hits", "skip_retrieval"})
    writes: ClassVar[frozenset[str]] = frozenset({"results", "evidence", "distilled", "rerank_scores"})
    after: ClassVar[tuple[Kind, ...]] = ("retriever", "memory")
    worker: ClassVar[str] = "reranker"
    method: ClassVar[str] = "rerank"
    leaves: ClassVar[str] = "The order of retrieval, no scores; the zone is unknown."

    reranker: Annotated[
        str | Reranker | type[Reranker] | tuple[Any, Mapping[str, Any]] | RerankFunction | None,
        WorkerOption("rerank", names=True),
    ] = None
    """A reranker's name as in the setting `reranker`, `llm` for scores from 0 to 10 of a language model, or
    an implementation of your own; else the setting."""
    prompt: Annotated[Prompt | None, PromptOption(("question", "hits"))] = None
    """A prompt of your own for `llm`; it asks for JSON with a score for each number."""
    llm: Annotated[LLMValue, ModelOption()] = None
    """Another language model than the run's, for `llm`."""
    depth: Annotated[int, Field(ge=1)] | None = None
    """Hits that are read, else the setting `rerank_depth`."""
    keep: Annotated[int, Field(ge=1)] | None = None
    """Hits that are kept, else all."""
    threshold: float | None = None
    """Least score of a hit, on the reranker's own scale; without it nothing is filtered."""
    keep_at_least: Annotated[int, Field(ge=0)] = 1
    """Hits that stay however low they score."""
    on_error: OnError = "continue"

    @property
    def needs_llm(self) -> bool:
        return self.reranker == LLM_SCORES and self.llm is None

    def problems(self) -> Iterator[tuple[str, str]]:
        if self.reranker != LLM_SCORES and (self.prompt is not None or self.llm is not None):
            yield "Its `prompt` and `llm` are for `reranker: llm`.", "Write that, or leave them out."

    def skips(self, context: Context) -> str:
        if context.skip_retrieval:
            return "retrieval is skipped"
        return "" if context.hits else "there are no hits"

    def facts(self, context: Context) -> Mapping[str, Measure]:
        return {"hits": len(context.hits)}

    async def __call__(self, context: Context, run: Run) -> Context:
        hits = context.hits
        depth = self.depth or run.services.settings.rerank_depth
        ordered = await self._ordered(context.standalone, hits[:depth], run)
        if ordered is None:
            run.measure(reason="no reranker is configured")
            return context
        unread = () if self.threshold is not None else hits[depth:]
        kept = self._kept((*ordered, *unread))
        scores = {h.chunk.chunk_id: h.rerank_score for h in ordered if h.rerank_score is not None}
        best = max(scores.values(), default=None)
        run.measure(original=len(hits), kept=len(kept), dropped=len(hits) - len(kept), best_score=best)
        results = (Results(question=context.question, hits=numbered(kept)),)
        return context.evolve(rerank_scores=scores).with_results(results)

    async def _ordered(self, question: str, hits: Sequence[Hit], run: Run) -> tuple[Hit, ...] | None:
        if self.reranker == LLM_SCORES:
            return await self._judged(question, hits, run)
        if self.reranker is not None and not isinstance(self.reranker, str):
            return ordered_by(await self.work(question, hits), hits, self)
        reranker = await run.services.reranker(hits, self.reranker or "")
        return None if reranker is None else await reranker.rerank(question, hits)

    async def _judged(self, question: str, hits: Sequence[Hit], run: Run) -> tuple[Hit, ...]:
        given = self.prompt and messages_of(self.prompt, question=question, hits=hits)
        scores = await judge(run.model(self.llm), given or judging_prompt(question, hits), len(hits))
        if forgotten := [number for number in range(1, len(hits) + 1) if number not in scores]:
            run.warn(f"The model gave no score to {len(forgotten)} of {len(hits)} hits; they stay, behind.")
        scored = [replace(hit, rerank_score=scores.get(number)) for number, hit in enumerate(hits, 1)]
        return by_score(scored)

    def _kept(self, hits: Sequence[Hit]) -> tuple[Hit, ...]:
        if self.threshold is not None:
            least = self.threshold
            passing = [hit for hit in hits if hit.rerank_score is None or hit.rerank_score >= least]
            failing = [hit for hit in hits if not (hit.rerank_score is None or hit.rerank_score >= least)]
            hits = [*passing, *failing[: max(0, self.keep_at_least - len(passing))]]
        return tuple(hits if self.keep is None else hits[: max(self.keep, self.keep_at_least)])


def by_score(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """Order hits by their rerank score, those without one behind, equals in the order they had."""
    return tuple(sorted(hits, key=lambda hit: (hit.rerank_score is None, -(hit.rerank_score or 0.0))))


def ordered_by(returned: Any, hits: Sequence[Hit], step: Step) -> tuple[Hit, ...]:
    """Return hits as an implementation ordered them; those that it left out are gone. Errors: `StepError`."""
    values = list(returned) if isinstance(returned, Sequence) and not isinstance(returned, str) else None
    if values is None:
        raise _nonsense(returned, step)
    if all(isinstance(one, Hit) for one in values):
        return tuple(values)
    if all(isinstance(one, tuple) and len(one) == 2 and isinstance(one[0], Hit) for one in values):
        return by_score([replace(hit, rerank_score=_number(score, step)) for hit, score in values])
    if len(values) == len(hits):
        return by_score(
            [replace(hit, rerank_score=_number(score, step)) for hit, score in zip(hits, values, strict=True)]
        )
    raise _nonsense(returned, step)


def _number(score: Any, step: Step) -> float:
    if isinstance(score, bool) or not isinstance(score, int | float) or score != score:
        raise _nonsense(score, step)
    return float(score)


def _nonsense(value: Any, step: Step) -> StepError:
    return StepError(
        f"The reranker of the step {step.label!r} returned {value!r:.80}.",
        step=step.label,
        remedy="Return hits in order, pairs of hit and score, or one score per hit.",
    )
