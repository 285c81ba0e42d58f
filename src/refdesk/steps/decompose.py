"""`decompose`: a question that asks several things to questions that ask one each."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Protocol

from pydantic import AliasChoices, Field

from refdesk.context import Context
from refdesk.llm import Message
from refdesk.llm.asking import ask_for
from refdesk.pipeline import Kind, LLMValue, OnError, Run, Step
from refdesk.pipeline.prompts import Prompt, PromptOption, messages_of
from refdesk.pipeline.workers import ModelOption, WorkerOption
from refdesk.steps.results import distinct, listed, one_line


class Decomposer(Protocol):
    """Split a question. A simple one comes back alone."""

    def decompose(self, question: str) -> Sequence[str] | Awaitable[Sequence[str]]: ...


DecomposeFunction = Callable[[str], Sequence[str] | Awaitable[Sequence[str]]]


@dataclass(frozen=True, slots=True)
class Parts:
    """What a model makes of a question."""

    sub_questions: Annotated[
        tuple[str, ...],
        Field(validation_alias=AliasChoices("sub_questions", "subquestions", "questions")),
    ]


@dataclass(frozen=True, kw_only=True)
class Decompose(Step):
    """Split a question into sub-questions, which are searched instead of it.

    Blank and repeated ones are dropped, and those beyond `most`; where none is left, the query stands alone.
    """

    kind: ClassVar[Kind] = "query_optimizer"
    reads: ClassVar[frozenset[str]] = frozenset({"query", "skip_retrieval"})
    writes: ClassVar[frozenset[str]] = frozenset({"sub_questions"})
    worker: ClassVar[str] = "decomposer"
    method: ClassVar[str] = "decompose"
    asks_llm: ClassVar[bool] = True
    leaves: ClassVar[str] = "The query undivided."

    decomposer: Annotated[
        Decomposer | type[Decomposer] | tuple[Any, Mapping[str, Any]] | DecomposeFunction | None,
        WorkerOption("decompose"),
    ] = None
    """An implementation of your own."""
    prompt: Annotated[Prompt | None, PromptOption(("question",))] = None
    """A prompt of your own, for the query as it is so far; it asks for JSON with a list `sub_questions`."""
    llm: Annotated[LLMValue, ModelOption()] = None
    """Another language model than the run's."""
    most: Annotated[int, Field(ge=1, le=20)] = 4
    """Sub-questions at most; each is a search of its own."""
    on_error: OnError = "continue"

    def skips(self, context: Context) -> str:
        return "retrieval is skipped" if context.skip_retrieval else ""

    async def __call__(self, context: Context, run: Run) -> Context:
        if self.decomposer is not None:
            given = listed(await self.work(context.query), self, "sub-questions")
        else:
            messages = self._messages(context.query)
            given = (await ask_for(Parts, run.model(self.llm), messages)).sub_questions
        found = [one_line(one, self, "sub-question") for one in distinct(given)]
        kept = tuple(found[: self.most]) or (context.query,)
        run.measure(sub_questions=kept, dropped=max(len(given) - len(kept), 0))
        return context.evolve(sub_questions=kept)

    def _messages(self, query: str) -> tuple[Message, ...]:
        if self.prompt is not None:
            return messages_of(self.prompt, question=query)
        return (Message("system", SYSTEM.format(most=self.most)), Message("user", f"Question: {query}"))


SYSTEM = """\
You split questions for a search engine over documents.
Reply with JSON alone: {{"sub_questions": ["...", "..."]}}
- A question about one thing is not split: return it unchanged, as the only one.
- Else return 2 to {most} questions that together cover it. Each must be understood without the others, so
  repeat the names that it is about, and each must find something different.
- Leave names, codes and abbreviations exactly as written. Do not answer. Keep the language of the question.

Question: How long is the warranty on the X200 pump?
{{"sub_questions": ["How long is the warranty on the X200 pump?"]}}
Question: Compare the X200 and the X300, and where can I buy them?
{{"sub_questions": ["features of the X200", "features of the X300", "where to buy the X200 and the X300"]}}"""
