"""`rerank`: hits to better ordered hits."""

import math
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from numbers import Real
from typing import Annotated, Any, ClassVar, Protocol

from pydantic import Field

from refdesk.context import Context, Measure
from refdesk.documents import Hit
from refdesk.errors import StepError
from refdesk.evidence import evidence_block, number_hits
from refdesk.pipeline import Kind, LLMValue, OnError, Run, Step
from refdesk.pipeline.prompts import Prompt, PromptOption, messages_of
from refdesk.pipeline.workers import ModelOption, WorkerOption
from refdesk.reranking.judged import judge, judging_prompt
from refdesk.results import Results, numbered
from refdesk.steps.window import room

LLM_SCORES = "llm"
"""The reranker that is a language model giving scores from 0 to 10."""
NAMES = (LLM_SCORES, "maxsim", "none", "auto")


class Reranker(Protocol):
    """Order hits: hits, pairs of hit and score, or one score per hit in the order given."""

    def rerank(self, question: str, hits: Sequence[Hit]) -> Any | Awaitable[Any]: ...


RerankFunction = Callable[[str, Sequence[Hit]], Any]


@dataclass(frozen=True, kw_only=True)
class Rerank(Step):
    """Order the hits anew by reading each beside the question. Nothing is dropped unless that is asked for.

    Hits behind `depth` keep their order behind those that were read. `threshold` drops those, and hits that
    score lower, but never more than leaves `keep_at_least`. A hit to which a model gave no score stays,
    behind; one that an implementation of your own leaves out is dropped. Scores of an earlier reranker go.
    """

    kind: ClassVar[Kind] = "context_optimizer"
    reads: ClassVar[frozenset[str]] = frozenset({"question", "standalone", "hits", "skip_retrieval"})
    writes: ClassVar[frozenset[str]] = frozenset(
        {"results", "evidence", "distilled", "rerank_scores", "reranker"}
    )
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
    excerpt: Annotated[int, Field(ge=20)] | None = None
    """Characters of each hit that are read, from its beginning, after its title; else all."""
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
        if isinstance(self.reranker, str) and self.reranker not in NAMES:
            for near in get_close_matches(self.reranker, NAMES, 1, 0.75):
                yield f"There is no reranker {self.reranker!r}.", f"Did you mean {near!r}?"

    def skips(self, context: Context) -> str:
        if context.skip_retrieval:
            return "retrieval is skipped"
        return "" if context.hits else "there are no hits"

    def facts(self, context: Context) -> Mapping[str, Measure]:
        return {"hits": len(context.hits)}

    async def __call__(self, context: Context, run: Run) -> Context:
        hits = tuple(replace(hit, rerank_score=None) for hit in context.hits)
        depth = self.depth or run.services.settings.rerank_depth
        found = await self._read(context.standalone, hits[:depth], run)
        if found is None:
            run.measure(reason="no reranker is configured")
            return context
        name, ordered = found
        scores = {h.chunk.chunk_id: h.rerank_score for h in ordered if h.rerank_score is not None}
        kept = self._kept(ordered, hits[depth:], hits, run)
        best = max(scores.values(), default=None)
        run.measure(original=len(hits), kept=len(kept), dropped=len(hits) - len(kept), best_score=best)
        results = (Results(question=context.question, hits=numbered(kept)),)
        return context.evolve(rerank_scores=scores, reranker=name).with_results(results)

    async def _read(self, question: str, hits: Sequence[Hit], run: Run) -> tuple[str, tuple[Hit, ...]] | None:
        """Return what `_ordered` makes of the hits, or of their beginnings; whole hits come back."""
        if self.excerpt is None:
            return await self._ordered(question, hits, run)
        short = [beginning(hit, self.excerpt) for hit in hits]
        found = await self._ordered(question, short, run)
        if found is None:
            return None
        whole = {one.chunk.chunk_id: hit.chunk for one, hit in zip(short, hits, strict=True)}
        ordered = tuple(replace(one, chunk=whole[one.chunk.chunk_id]) for one in found[1])
        return f"{found[0]}, {self.excerpt} characters", ordered  # limits of whole hits do not hold for it

    async def _ordered(
        self, question: str, hits: Sequence[Hit], run: Run
    ) -> tuple[str, tuple[Hit, ...]] | None:
        """Return the name of the reranker and the hits in its order, None where there is no reranker."""
        if self.reranker == LLM_SCORES:
            own = ", own prompt" if self.prompt is not None else ""
            return f"llm({run.model(self.llm).name}{own})", await self._judged(question, hits, run)
        if self.reranker is not None and not isinstance(self.reranker, str):
            return worker_name(self.reranker), ordered_by(await self.work(question, hits), hits, self)
        reranker = await run.services.reranker(hits, self.reranker or "")
        if reranker is None:
            return None
        ordered = ordered_by(await reranker.rerank(question, hits), hits, self)
        return reranker.name, ordered

    async def _judged(self, question: str, hits: Sequence[Hit], run: Run) -> tuple[Hit, ...]:
        if self.prompt is not None:
            messages = messages_of(self.prompt, question=question, hits=tuple(hits))
        else:
            block = evidence_block(number_hits(hits), budget=room(run.services.settings, question))
            for warning in block.warnings:
                run.warn(warning)
            messages = judging_prompt(question, block)
        scores = await judge(run.model(self.llm), messages, len(hits))
        if forgotten := len(hits) - len(scores):
            run.warn(f"The model gave no score to {forgotten} of {len(hits)} hits; they stay, behind.")
        scored = [replace(hit, rerank_score=scores.get(number)) for number, hit in enumerate(hits, 1)]
        return by_score(scored)

    def _kept(
        self, ordered: Sequence[Hit], unread: Sequence[Hit], hits: Sequence[Hit], run: Run
    ) -> tuple[Hit, ...]:
        """Return what stays, in order; where it is too little, the best of what was dropped stays, too."""
        kept = [*ordered, *unread]
        if self.threshold is not None and ordered and all(hit.rerank_score is None for hit in ordered):
            run.warn("The reranker gave no scores, so the threshold drops nothing.")
        elif self.threshold is not None:
            kept = [hit for hit in ordered if hit.rerank_score is None or hit.rerank_score >= self.threshold]
        if self.keep is not None:
            kept = kept[: self.keep]
        names = {hit.chunk.chunk_id for hit in kept}
        dropped = {hit.chunk.chunk_id: hit for hit in (*ordered, *hits)}
        spare = [hit for name, hit in dropped.items() if name not in names]
        return (*kept, *spare[: max(0, self.keep_at_least - len(kept))])


def beginning(hit: Hit, length: int) -> Hit:
    """Return a hit with the first characters of its chunk, up to a word's end, under an id of its own."""
    chunk = hit.chunk
    if len(chunk.text) <= length:
        return hit
    cut = chunk.text[:length]
    within = chunk.text[length].isalnum() and cut[-1].isalnum()
    text = cut.rsplit(None, 1)[0] if within and " " in cut.strip() else cut
    own = f"{chunk.chunk_id}:{len(text)}"
    return replace(hit, chunk=replace(chunk, chunk_id=own, text=text, end=chunk.start + len(text)))


def worker_name(worker: Any) -> str:
    """Name an implementation of one's own, by its `name` where it has one; options are a part of the name."""
    target, options = worker if isinstance(worker, tuple) else (worker, {})
    own = getattr(target, "name", None)
    name = own if isinstance(own, str) and own else getattr(target, "__qualname__", type(target).__qualname__)
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in options.items())})" if options else name


def by_score(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """Order hits by their rerank score, those without one behind, equals in the order they had."""
    return tuple(sorted(hits, key=lambda hit: (hit.rerank_score is None, -(hit.rerank_score or 0.0))))


def ordered_by(returned: Any, hits: Sequence[Hit], step: Step) -> tuple[Hit, ...]:
    """Return hits as an implementation ordered them; those that it left out are gone. Errors: `StepError`."""
    if isinstance(returned, str | bytes | Mapping) or not isinstance(returned, Iterable):
        raise _nonsense(returned, step)
    values = list(returned)
    if all(isinstance(one, Hit) for one in values):
        return _own(values, hits, step)
    if all(isinstance(one, tuple | list) and len(one) == 2 and isinstance(one[0], Hit) for one in values):
        pairs = [_scored(hit, score, step) for hit, score in values]
        return by_score(_own(pairs, hits, step))
    if len(values) == len(hits):
        return by_score([_scored(hit, score, step) for hit, score in zip(hits, values, strict=True)])
    raise _nonsense(returned, step)


def _own(ordered: Sequence[Hit], hits: Sequence[Hit], step: Step) -> tuple[Hit, ...]:
    """Check that hits are some of those that were given, each once and with its text."""
    given = {hit.chunk.chunk_id: hit.chunk for hit in hits}
    for hit in ordered:
        if given.pop(hit.chunk.chunk_id, None) != hit.chunk:
            raise _nonsense(
                hit, step, " It was not given this hit, or returned it twice or with another text."
            )
    scored = [hit if hit.rerank_score is None else _scored(hit, hit.rerank_score, step) for hit in ordered]
    return tuple(scored)


def _scored(hit: Hit, score: Any, step: Step) -> Hit:
    return replace(hit, rerank_score=_number(score, step))


def _number(score: Any, step: Step) -> float:
    if isinstance(score, bool) or not isinstance(score, Real) or not math.isfinite(score):
        raise _nonsense(score, step)
    return float(score)


def _nonsense(value: Any, step: Step, detail: str = "") -> StepError:
    return StepError(
        f"The reranker of the step {step.label!r} returned {value!r:.80}.{detail}",
        step=step.label,
        remedy="Return hits in order, pairs of hit and score, or one score per hit.",
    )
