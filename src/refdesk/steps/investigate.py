"""`investigate`: a model searches until it can answer."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

from pydantic import Field

from refdesk.answering.rules import house_rules
from refdesk.context import Context, Measure, NumberBy
from refdesk.llm import Options
from refdesk.llm.function import can_take
from refdesk.loop.builtin import DEFAULT_TOOLS
from refdesk.loop.naming import ToolsOption
from refdesk.loop.tools import Tool
from refdesk.pipeline import Kind, LLMValue, Run, Step
from refdesk.pipeline.prompts import Prompt, PromptOption
from refdesk.pipeline.workers import ModelOption, WorkerOption
from refdesk.results import Results
from refdesk.steps.answer import LEAVE_OUT, Answer
from refdesk.steps.investigating import Parts, begun
from refdesk.steps.searching import wrong_search

Temperature = Annotated[float, Field(ge=0)]


@dataclass(frozen=True, kw_only=True)
class Loop(Step):
    """Let a model decide what to search for, until it answers, gives up, or a limit is reached.

    Each turn the controller calls tools: `search`, `read` for the text around a passage, `answer`, `give_up`,
    and those of your own. Passages keep their numbers, so the answer cites them. What the loop may search and
    use is held by the code, whatever a model writes. At a limit the best answer is made of what was found: by
    a model, or where none may be asked any more by quoting. Mistakes of the controller are told to it; its
    failure is an error, and what was found stays. Hits of earlier steps are shown to it first.
    """

    name: ClassVar[str] = "investigate"
    kind: ClassVar[Kind] = "answer_generator"
    reads: ClassVar[frozenset[str]] = frozenset(
        {
            "question",
            "standalone",
            "history",
            "collections",
            "filter",
            "results",
            "hits",
            "queries_tried",
            "skip_retrieval",
            "verdict",
            "tool_history",
        }
    )
    writes: ClassVar[frozenset[str]] = frozenset(
        {
            "answer",
            "evidence",
            "distilled",
            "results",
            "collections",
            "queries_tried",
            "tool_history",
            "terminated_by",
        }
    )
    leaves: ClassVar[str] = "No answer; what was found until then, and the history of tools."

    tools: Annotated[tuple[str | Tool | Callable[..., Any], ...], ToolsOption()] = DEFAULT_TOOLS
    """What the controller may do: names of built-in tools, and functions with types."""
    collection: str | tuple[str, ...] | None = None
    """A collection, several, or `all` that the asker may search; else those of the call."""
    controller_llm: Annotated[LLMValue, ModelOption()] = None
    """The model that decides, else the run's; also a function of messages, tools and options."""
    answer_llm: Annotated[LLMValue, ModelOption()] = None
    """A model that writes the answer from the evidence and the controller's draft; else the draft is it."""
    max_iterations: Annotated[int, Field(ge=1, le=100)] = 10
    """Turns of the controller."""
    chunk_cap: Annotated[int, Field(ge=1)] = 30
    """Passages that are kept; the best of all searches stay."""
    system_prompt: Annotated[Prompt | None, PromptOption(("collections", "max_iterations"))] = None
    """A task of your own for the controller; how to cite, and what is data, is always said after it."""
    search_fn: Annotated[Callable[..., Any] | Any | None, WorkerOption("search")] = None
    """A search of your own: takes a query, and `search_opts` with `limit`, `collections` and who asks,
    `principals`."""
    search_opts: Mapping[str, Any] | None = None
    """`mode`, `fusion`, `threshold` and `rerank` of the search, or what `search_fn` takes."""
    fallback_synthesis: bool = True
    """Make an answer of what was found when a limit is reached."""
    synthesizer: Annotated[Callable[..., Any] | Any | None, WorkerOption("synthesize")] = None
    """What makes it in place of a model: takes messages and a mapping of facts, returns text."""
    answer_prompt: Annotated[Prompt | None, PromptOption(("question", "draft"))] = None
    """What `answer_llm` is asked for."""
    synthesis_prompt: Annotated[Prompt | None, PromptOption(("question",))] = None
    """What a model is asked for at a limit."""
    temperature: Temperature | None = None
    """Of all models; else their own default."""
    controller_temperature: Temperature | None = None
    """Of the controller, else `temperature`."""
    answer_temperature: Temperature | None = None
    """Of `answer_llm` when it writes the answer of a draft, else `temperature`."""
    fallback_temperature: Temperature | None = None
    """Of the model that answers at a limit, else `temperature`."""
    tool_calls: Annotated[int, Field(ge=1)] = 30
    """Calls that are run, parallel ones one by one."""
    repeats: Annotated[int, Field(ge=2)] = 3
    """In how many turns the same call may come before the loop ends."""
    tokens: Annotated[int, Field(ge=1)] | None = None
    """Tokens of prompts and replies together."""
    cost: Annotated[float, Field(gt=0)] | None = None
    """US dollars."""
    seconds: Annotated[float, Field(gt=0)] | None = None
    """Wall time; else nine tenths of what the run has left."""
    search_first: bool = True
    """Send back, once, an answer that came before any search; refuse one that rests on nothing found."""
    instructions: str = ""
    """Rules of the house: who answers, in which tone."""
    language: str = ""
    """Language of the answer, in words; else that of the question."""
    history: Annotated[int, Field(ge=0)] = 6
    """Earlier turns that models are shown."""
    number_by: NumberBy | None = None
    """What citations share a number: those of a `chunk` or of a `document`, else the setting `number_by`."""

    @property
    def needs_llm(self) -> bool:
        return self.controller_llm is None

    def problems(self) -> Iterator[tuple[str, str]]:
        if self.search_fn is None:
            yield from wrong_search(self.search_opts or {})
        elif not can_take(getattr(self.search_fn, "search", self.search_fn), "", {}):
            yield "Its `search_fn` does not take a query and options.", "Give a function of two arguments."
        if self.synthesizer is not None and not self.fallback_synthesis:
            yield "It has a `synthesizer`, and `fallback_synthesis` is off.", LEAVE_OUT
        if self.synthesizer is not None and self.synthesis_prompt is not None:
            yield "Its synthesizer is not told its `synthesis_prompt`.", LEAVE_OUT
        if self.answer_llm is None and self.answer_prompt is not None:
            yield "Its `answer_prompt` is for an `answer_llm`, and it has none.", LEAVE_OUT

    def facts(self, context: Context) -> Mapping[str, Measure]:
        return {"max_iterations": self.max_iterations, "tool_count": len(self.tools)}

    async def __call__(self, context: Context, run: Run) -> Context:
        if context.skip_retrieval:
            free = Answer(
                llm=self.answer_llm or self.controller_llm,
                instructions=self.instructions,
                language=self.language,
                history=self.history,
                temperature=self.temperature,
            )
            return await free(context, run)
        parts = await begun(self, context, run)
        try:
            return await self._investigated(context, parts, run)
        except BaseException as error:  # what was found by then stays, whatever ended it
            ended = "error" if isinstance(error, Exception) else "budget"
            run.notes.reached = _found(context, parts).evolve(terminated_by=ended)
            raise

    async def _investigated(self, context: Context, parts: Parts, run: Run) -> Context:
        outcome = await parts.investigation.investigate()
        if outcome.reason:
            run.warn(f"The loop was ended: {outcome.reason}.")
        if outcome.error is not None:
            context = _found(context, parts).evolve(terminated_by="error", error=outcome.error)
            return _measured(context, parts, run)
        answer = replace(await parts.written(outcome), question=context.question)
        if outcome.reason and answer.refusal is None:
            parts.note_synthesis(answer)
        context = _found(context, parts).evolve(answer=answer, terminated_by=outcome.terminated_by)
        return _measured(context, parts, run)

    def options(self, most: int, temperature: float | None) -> Options:
        """Return how replies are wanted: so many tokens at most, at the temperature of a role or of all."""
        chosen = self.temperature if temperature is None else temperature
        return Options(max_tokens=most, temperature=chosen)

    @property
    def house(self) -> str:
        return house_rules(self.instructions, language=self.language)


def _found(context: Context, parts: Parts) -> Context:
    """Put what a loop found into a context."""
    results = Results(question=context.question, hits=parts.ledger.hits)
    return context.evolve(
        collections=parts.collections,
        queries_tried=tuple(dict.fromkeys((*context.queries_tried, *parts.ledger.queries))),
        evidence=parts.ledger.evidence,
        distilled="",
        results=(results,) if results.hits else (),
        tool_history=(*context.tool_history, *parts.investigation.acting.history),
    )


def _measured(context: Context, parts: Parts, run: Run) -> Context:
    history = parts.investigation.acting.history
    run.measure(
        iterations=parts.investigation.iterations,
        terminated_by=context.terminated_by,
        tool_calls=len(history),
        queries=tuple(parts.ledger.queries),
        hits=len(context.hits),
        citations=len(context.answer.citations) if context.answer else 0,
        refusal=context.answer.refusal if context.answer else None,
    )
    return context
