"""The words for what is asked and answered: context, evidence, citations, answers, grounding."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

from refdesk.documents import DEFAULT_COLLECTION, Hit
from refdesk.errors import RefdeskError
from refdesk.filters import Filter
from refdesk.results import Results, merged
from refdesk.support import Grounding, Support
from refdesk.tooluse import TerminatedBy, ToolUse

Zone = Literal["none", "weak", "ok", "unknown"]
"""How far the evidence supports an answer; `unknown` where it could not be measured."""


Decision = Literal["pass", "improve", "reject"]

NumberBy = Literal["chunk", "document"]
"""What citations share a number in an answer's text: those of a chunk, or those of a document."""

SCREENED = "screened"
"""Refusal: the question was turned away before anything was searched."""

StepOutcome = Literal["done", "skipped", "stopped", "continued", "cancelled"]
"""How a step ended: it worked, had nothing to do, failed and ended the run, failed and was passed over, or
was broken off."""


@dataclass(frozen=True, slots=True)
class Turn:
    """Something that was said before, by the one who asks (`user`) or by the desk (`assistant`)."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """A hit as it is shown to what writes the answer, numbered from 1."""

    number: int
    hit: Hit
    shortened: bool = False
    """Whether only the beginning of the chunk was shown; the hit's chunk is then that beginning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """Where a statement comes from: `document.text[start:end] == quote`, always."""

    marker: int
    """The number in the answer's text, `[1]`; numbers follow first appearance.

    Citations share it where several sentences of a chunk are cited, or chunks of a document, see `NumberBy`.
    """
    chunk_id: str
    document_id: str
    collection: str
    title: str
    source_id: str
    url: str | None
    page: int | None
    start: int
    end: int
    quote: str
    support: Support = "unchecked"
    """Whether the cited chunk holds the statements that the marker stands at; the worst of them counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What was asked, what was answered, and on what ground."""

    question: str
    text: str
    citations: tuple[Citation, ...] = ()
    zone: Zone = "unknown"
    refusal: str | None = None
    """Why there is no answer: `nothing_found`, `below_threshold`, `budget`, `abstained`, `screened`,
    `review_rejected`, `model_unavailable`, and of a loop `gave_up` and `unfinished`."""
    evidence: tuple[Evidence, ...] = ()
    warnings: tuple[str, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict)
    """Seconds per step."""
    model: str = ""
    """What wrote the text: a model string, or `extractive`."""
    number_by: NumberBy = "chunk"
    """What a marker stands for; several citations may have the same one."""
    removed_markers: int = 0
    """Markers that were taken out of the text, since they point to no evidence."""
    removed_links: int = 0
    """Links, images, HTML tags and addresses that were taken out of it."""
    grounding: Grounding | None = None
    invitation: str = ""
    """What the house says below the answer. It is no part of the text: nothing of it is cited or checked."""
    degraded: tuple[str, ...] = ()
    """What failed on the way and was done without, as in `Context.degraded`."""

    def __str__(self) -> str:
        """Return the text, and below it the invitation."""
        return f"{self.text}\n\n{self.invitation}" if self.invitation else self.text


@dataclass(frozen=True, slots=True)
class Correction:
    """A draft of an answer that was judged unfounded, and what was wrong with it."""

    answer: str
    feedback: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a review decided about an answer, and why."""

    decision: Decision
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What language models were asked for. Usages add up."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    """US dollars, 0 where no price is known."""
    estimated: bool = False
    """Whether tokens of some request were estimated, because the model did not tell them."""

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            requests=self.requests + other.requests,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost=self.cost + other.cost,
            estimated=self.estimated or other.estimated,
        )


NO_USAGE = Usage()

Measure = str | int | float | bool | None | tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """What one step did."""

    path: tuple[str, ...]
    """Names from the pipeline down to the step: `("repeat", "2", "search")`."""
    kind: str
    outcome: StepOutcome
    started: float
    """Seconds since the run began."""
    seconds: float
    measures: Mapping[str, Measure] = field(default_factory=dict)
    """The step's own: queries, hits, dropped and the like."""
    warnings: tuple[str, ...] = ()
    error: str = ""
    usage: Usage = NO_USAGE


Searcher = Callable[[str, str], Awaitable[tuple[Hit, ...]]]
"""Takes a query and a collection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The record of one question. Steps take one and return a changed one; nothing in it is ever altered."""

    question: str
    history: tuple[Turn, ...] = ()
    """What was said before, oldest first."""
    conversation: str = ""
    """Under which name memory steps keep what was said; empty for no conversation."""
    user: str = ""
    """Whose conversation it is; nobody else's steps read or change it."""
    collections: tuple[str, ...] = (DEFAULT_COLLECTION,)
    """Where to search; empty means nowhere, on purpose."""
    principals: tuple[str, ...] = ()
    """Who asks, see `refdesk.documents.Scope`; the same from the first step to the last."""
    filter: Filter | None = None
    skip_retrieval: bool = False
    gate_reasoning: str = ""
    rewritten_query: str = ""
    expanded_query: str = ""
    own_words: str = ""
    """The latest message as it was put, where it is searched beside the query that was made of it."""
    sub_questions: tuple[str, ...] = ()
    selection_reasoning: str = ""
    results: tuple[Results, ...] = ()
    """One per query and collection that was searched."""
    searcher: Searcher | None = None
    """What searched, with its options, so that later steps search the same way."""
    queries_tried: tuple[str, ...] = ()
    reason_iterations: int = 0
    """Follow-up searches that were made."""
    rerank_scores: Mapping[str, float] = field(default_factory=dict)
    """Chunk id to the reranker's score."""
    reranker: str = ""
    """What gave the scores, with the fingerprint of its weights; empty where nothing did."""
    evidence: tuple[Evidence, ...] = ()
    """What the answer is written from."""
    distilled: str = ""
    """Evidence as a context optimizer condensed it; empty where it is shown as it was found."""
    tool_history: tuple[ToolUse, ...] = ()
    """What an agentic loop did, in order."""
    terminated_by: TerminatedBy | None = None
    """How an agentic loop ended; None where none ran."""
    zone: Zone = "unknown"
    answer: Answer | None = None
    corrections: tuple[Correction, ...] = ()
    verdict: Verdict | None = None
    citations: tuple[Citation, ...] = ()
    grounding: Grounding | None = None
    warnings: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()
    """What failed and was done without: names of steps, or of parts of them such as `search.vector` and
    `answer.model`. What came of such a run is not to be kept as if it were whole."""
    error: RefdeskError | None = None
    usage: Usage = NO_USAGE
    trace: tuple[Trace, ...] = ()

    def evolve(self, **changes: Any) -> Self:
        """Return this context with some fields replaced."""
        return replace(self, **changes)

    def with_results(self, results: tuple[Results, ...]) -> Self:
        """Return this context with other results; what was made of the old ones is dropped."""
        return replace(self, results=results, evidence=(), distilled="")

    @property
    def standalone(self) -> str:
        """The question as it can be understood by itself: as it was rewritten, else as it was put."""
        return self.rewritten_query or self.question

    @property
    def query(self) -> str:
        """The question as it was last rewritten or expanded."""
        return self.expanded_query or self.rewritten_query or self.question

    @property
    def queries(self) -> tuple[str, ...]:
        """What retrieval searches for: sub-questions, else expanded or rewritten query, else question.

        The asker's own words are searched beside a query that was made of them.
        """
        return self.sub_questions or tuple(dict.fromkeys((self.query, self.own_words or self.query)))

    @property
    def hits(self) -> tuple[Hit, ...]:
        """The hits of all results, a chunk once, best first."""
        return merged(self.results)

    @property
    def context_used(self) -> tuple[Evidence, ...]:
        """The evidence, by another name."""
        return self.evidence

    @property
    def correction_count(self) -> int:
        return len(self.corrections)

    @property
    def finished(self) -> bool:
        """Whether the question was turned away, so that nothing is left to do."""
        return self.answer is not None and self.answer.refusal == SCREENED

    def raise_for_error(self) -> Self:
        """Raise the error that ended the run; return the context where there was none."""
        if self.error is not None:
            raise self.error
        return self
