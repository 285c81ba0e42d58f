"""`expand`: a query with more of the words that documents may use."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Protocol

from refdesk.context import Context
from refdesk.llm import Message
from refdesk.llm.complete import complete
from refdesk.llm.replies import without_thoughts
from refdesk.pipeline import Kind, LLMValue, OnError, Run, Step
from refdesk.pipeline.prompts import Prompt, PromptOption, messages_of
from refdesk.pipeline.workers import ModelOption, WorkerOption
from refdesk.steps.results import one_line


class Expander(Protocol):
    """Add words to a query."""

    def expand(self, question: str) -> str | Awaitable[str]: ...


ExpandFunction = Callable[[str], str | Awaitable[str]]


@dataclass(frozen=True, kw_only=True)
class Expand(Step):
    """Add synonyms, related terms and the long form of abbreviations to a query.

    Nothing is lost: where a model left out words of the query, the query is put in front of what it wrote.
    What an implementation of your own returns is taken as it is.
    """

    kind: ClassVar[Kind] = "query_optimizer"
    reads: ClassVar[frozenset[str]] = frozenset({"query", "skip_retrieval"})
    writes: ClassVar[frozenset[str]] = frozenset({"expanded_query"})
    worker: ClassVar[str] = "expander"
    method: ClassVar[str] = "expand"
    asks_llm: ClassVar[bool] = True
    leaves: ClassVar[str] = "The query as it was."

    expander: Annotated[
        Expander | type[Expander] | tuple[Any, Mapping[str, Any]] | ExpandFunction | None,
        WorkerOption("expand"),
    ] = None
    """An implementation of your own."""
    prompt: Annotated[Prompt | None, PromptOption(("question",))] = None
    """A prompt of your own, for the query as it is so far."""
    llm: Annotated[LLMValue, ModelOption()] = None
    """Another language model than the run's."""
    on_error: OnError = "continue"

    def skips(self, context: Context) -> str:
        return "retrieval is skipped" if context.skip_retrieval else ""

    async def __call__(self, context: Context, run: Run) -> Context:
        if self.expander is not None:
            expanded = one_line(await self.work(context.query), self, "query")
        else:
            reply = without_thoughts(await complete(run.model(self.llm), self._messages(context.query)))
            expanded = with_all_words(context.query, one_line(reply, self, "query"))
        run.measure(query=expanded)
        return context.evolve(expanded_query=expanded)

    def _messages(self, query: str) -> tuple[Message, ...]:
        if self.prompt is not None:
            return messages_of(self.prompt, question=query)
        return (Message("system", SYSTEM), Message("user", f"Query: {query}\nExpanded:"))


def with_all_words(query: str, expanded: str) -> str:
    """Return an expanded query, with the query in front where words of it are missing."""
    complete = " ".join(query.split()).casefold() in expanded.casefold() or _words(query) <= _words(expanded)
    return expanded if complete else f"{query} {expanded}"


def _words(text: str) -> set[str]:
    """Return words without the signs around them; those inside and at the end of names such as C++ stay."""
    return {word.strip(".,;:!?\"'`()[]{}<>“”„‘’«»") for word in text.casefold().split()} - {""}


SYSTEM = """\
You widen queries for a search engine over documents.
Reply with the widened query alone, on one line.
- Keep every word of the query, first and in its order.
- Then add a few synonyms and related terms, and the long form of abbreviations that you know.
- Leave names, codes and terms that you do not know as they are.
- Do not answer, do not explain. Add words in the language of the query.

Query: PTO carry-over rules
Expanded: PTO carry-over rules paid time off vacation leave days transfer next year policy
Query: Pumpe X200 undicht
Expanded: Pumpe X200 undicht Leck tropft Dichtung defekt"""
