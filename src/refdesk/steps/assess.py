"""`assess`: how far the hits support an answer."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Protocol, get_args

from refdesk.context import Context, Zone
from refdesk.documents import Hit
from refdesk.errors import StepError
from refdesk.pipeline import Kind, OnError, Run, Step
from refdesk.pipeline.workers import WorkerOption


class Assessor(Protocol):
    """Return the zone of a question and its hits: none, weak, ok or unknown."""

    def assess(self, question: str, hits: Sequence[Hit]) -> Zone | Awaitable[Zone]: ...


AssessFunction = Callable[[str, Sequence[Hit]], Any]

ABSTAIN_BELOW, WEAK_BELOW = 0.20, 0.35
"""Limits for `maxsim`, measured with the default embedder."""
HIGHEST = 1.0 + 1e-3
"""Score that `maxsim` does not exceed, but for rounding."""


@dataclass(frozen=True, kw_only=True)
class Assess(Step):
    """Set the zone by the best reranker score: `none` lets `answer` refuse, `weak` lets it say so.

    The limits are on the reranker's own scale; the defaults are for `maxsim`, 0 to 1. Without any score, or
    with one outside that scale and the default limits, the zone is unknown, with a warning. Without any hit
    it is `none`.
    """

    kind: ClassVar[Kind] = "context_optimizer"
    reads: ClassVar[frozenset[str]] = frozenset({"question", "standalone", "hits", "skip_retrieval"})
    writes: ClassVar[frozenset[str]] = frozenset({"zone"})
    after: ClassVar[tuple[Kind, ...]] = ("retriever", "memory")
    worker: ClassVar[str] = "assessor"
    method: ClassVar[str] = "assess"
    leaves: ClassVar[str] = "The zone as it was, which is `unknown`."

    abstain_below: float = ABSTAIN_BELOW
    """Best score under which the zone is `none`."""
    weak_below: float = WEAK_BELOW
    """Best score under which it is `weak`."""
    assessor: Annotated[
        Assessor | type[Assessor] | tuple[Any, Mapping[str, Any]] | AssessFunction | None,
        WorkerOption("assess"),
    ] = None
    """An implementation of your own."""
    on_error: OnError = "continue"

    def problems(self) -> Iterator[tuple[str, str]]:
        limits = (self.abstain_below, self.weak_below)
        if any(limit != limit for limit in limits):
            yield "One of its limits is not a number.", "Give a score."
        elif all(isinstance(limit, int | float) for limit in limits) and limits[0] > limits[1]:
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
            zone = self._by_score(scores, run)
        run.measure(zone=zone, best_score=max(scores, default=None))
        return context.evolve(zone=zone)

    def _by_score(self, scores: Sequence[float], run: Run) -> Zone:
        if not scores:
            run.warn("The hits have no reranker score, so how far they support an answer is unknown.")
            return "unknown"
        best = max(scores)
        defaults = (self.abstain_below, self.weak_below) == (ABSTAIN_BELOW, WEAK_BELOW)
        if defaults and (best > HIGHEST or min(scores) < 0):
            run.warn(
                f"The default limits are for scores from 0 to 1, and the best is {best:g}, so how far the "
                "hits support an answer is unknown. Set `abstain_below` and `weak_below` for this reranker."
            )
            return "unknown"
        return "none" if best < self.abstain_below else "weak" if best < self.weak_below else "ok"


def _zone(returned: Any, step: Step) -> Zone:
    for zone in get_args(Zone):
        if returned == zone:
            return zone  # type: ignore[no-any-return]
    raise StepError(
        f"The assessor returned {returned!r:.80}; allowed: {', '.join(get_args(Zone))}.", step=step.label
    )
