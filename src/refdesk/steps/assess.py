"""`assess`: how far the hits support an answer."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Protocol, get_args

from refdesk.context import Context, Zone
from refdesk.documents import Hit
from refdesk.errors import StepError
from refdesk.pipeline import Kind, OnError, Run, Step
from refdesk.pipeline.workers import WorkerOption
from refdesk.reranking.thresholds import Thresholds, completed


class Assessor(Protocol):
    """Return the zone of a question and its hits: none, weak, ok or unknown."""

    def assess(self, question: str, hits: Sequence[Hit]) -> Zone | Awaitable[Zone]: ...


AssessFunction = Callable[[str, Sequence[Hit]], Any]


@dataclass(frozen=True, kw_only=True)
class Assess(Step):
    """Set the zone by the best reranker score: `none` lets `answer` refuse, `weak` lets it say so.

    Limits are on a reranker's own scale and belong to it: they come from the options, else the calibration
    file, else what is shipped for the default reranker. Without a score, or without limits for what gave it,
    the zone is unknown, with a warning. Without any hit it is `none`.
    """

    kind: ClassVar[Kind] = "context_optimizer"
    reads: ClassVar[frozenset[str]] = frozenset(
        {"question", "standalone", "hits", "reranker", "skip_retrieval"}
    )
    writes: ClassVar[frozenset[str]] = frozenset({"zone"})
    after: ClassVar[tuple[Kind, ...]] = ("retriever", "memory")
    worker: ClassVar[str] = "assessor"
    method: ClassVar[str] = "assess"
    leaves: ClassVar[str] = "The zone as it was, which is `unknown`."

    abstain_below: float | None = None
    """Best score under which the zone is `none`, else what was measured for the reranker."""
    weak_below: float | None = None
    """Best score under which it is `weak`, else what was measured."""
    assessor: Annotated[
        Assessor | type[Assessor] | tuple[Any, Mapping[str, Any]] | AssessFunction | None,
        WorkerOption("assess"),
    ] = None
    """An implementation of your own."""
    on_error: OnError = "continue"

    def problems(self) -> Iterator[tuple[str, str]]:
        low, high = self.abstain_below, self.weak_below
        if low != low or high != high:
            yield "One of its limits is not a number.", "Give a score."
        elif isinstance(low, int | float) and isinstance(high, int | float) and low > high:
            yield "Its `abstain_below` is above `weak_below`.", "Swap them."

    def skips(self, context: Context) -> str:
        return "retrieval is skipped" if context.skip_retrieval else ""

    async def __call__(self, context: Context, run: Run) -> Context:
        hits = context.hits
        scores = [hit.rerank_score for hit in hits if hit.rerank_score is not None]
        if not hits:
            zone: Zone = "none"
        elif self.assessor is not None:
            zone = _zone(await self.work(context.standalone, hits), self)
        else:
            zone = await self._by_score(scores, context.reranker, run)
        run.measure(zone=zone, best_score=max(scores, default=None), reranker=context.reranker)
        return context.evolve(zone=zone)

    async def _by_score(self, scores: Sequence[float], reranker: str, run: Run) -> Zone:
        if not scores:
            run.warn(f"The hits have no reranker score{UNKNOWN} {NO_SCORES}")
            return "unknown"
        limits = await self._limits(reranker, run)
        if limits is None:
            named = f"the reranker {reranker!r}" if reranker else "what scored the hits"
            run.warn(f"No limits are known for {named}{UNKNOWN} {NO_LIMITS}")
            return "unknown"
        return limits.zone(max(scores))

    async def _limits(self, reranker: str, run: Run) -> Thresholds | None:
        """Return the options' limits, completed by those of the reranker."""
        own = (self.abstain_below, self.weak_below)
        wanted = bool(reranker) and None in own
        known = await run.services.thresholds(reranker) if wanted else None
        return completed(known, *own)


UNKNOWN = ", so how far the hits support an answer is unknown."
NO_SCORES = "It takes a `rerank` before this step, with a reranker that is named and answers."
NO_LIMITS = "Measure them with `refdesk eval calibrate`, or set `abstain_below` and `weak_below`."


def _zone(returned: Any, step: Step) -> Zone:
    for zone in get_args(Zone):
        if returned == zone:
            return zone  # type: ignore[no-any-return]
    raise StepError(
        f"The assessor returned {returned!r:.80}; allowed: {', '.join(get_args(Zone))}.", step=step.label
    )
