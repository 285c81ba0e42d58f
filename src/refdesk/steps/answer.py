"""`answer`: evidence to an answer, by a model, by quoting, or by an implementation of one's own."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Protocol

from pydantic import Field

from refdesk.answering import NOTHING_FOUND
from refdesk.answering.freely import FreeAnswerer
from refdesk.answering.generated import GeneratedAnswerer
from refdesk.answering.own import own_answer
from refdesk.answering.refusing import refuse
from refdesk.context import Answer as Answered
from refdesk.context import Context, Evidence, Measure
from refdesk.documents import Hit
from refdesk.errors import LLMError
from refdesk.events import AnswerEvent, Done, Token
from refdesk.evidence import estimate_tokens, number_hits
from refdesk.llm import LLM, Options
from refdesk.pipeline import Kind, LLMValue, Run, Step
from refdesk.pipeline.prompts import Prompt, PromptOption, messages_of
from refdesk.pipeline.workers import ModelOption, WorkerOption
from refdesk.steps.correcting import Corrector


class Answerer(Protocol):
    """Answer a question from hits: text, pieces of text, or an `Answer`. `[[n]]` cites the nth hit."""

    def answer(self, question: str, hits: Sequence[Hit]) -> Any | Awaitable[Any]: ...


AnswerFunction = Callable[[str, Sequence[Hit]], Any]


@dataclass(frozen=True, kw_only=True)
class Answer(Step):
    """Answer from the evidence, with citations, or refuse with a reason.

    A language model writes where the run or the step has one, else the best sentences are quoted. Without any
    hit, or in the zone `none`, the answer is a refusal and no model is called. Where retrieval was skipped a
    model answers from what it knows. With `self_correct` a draft is judged against the evidence and written
    anew until it holds, or `max_corrections` is reached; where it cannot be judged it stays, with a warning.
    """

    kind: ClassVar[Kind] = "answer_generator"
    reads: ClassVar[frozenset[str]] = frozenset(
        {
            "question",
            "standalone",
            "history",
            "hits",
            "evidence",
            "distilled",
            "zone",
            "skip_retrieval",
            "answer",
        }
    )
    writes: ClassVar[frozenset[str]] = frozenset({"answer", "evidence", "corrections"})
    worker: ClassVar[str] = "answerer"
    method: ClassVar[str] = "answer"
    leaves: ClassVar[str] = "No answer, or the one of an earlier step."

    answerer: Annotated[
        Answerer | type[Answerer] | tuple[Any, Mapping[str, Any]] | AnswerFunction | None,
        WorkerOption("answer"),
    ] = None
    """An implementation of your own."""
    prompt: Annotated[Prompt | None, PromptOption(("question", "hits"))] = None
    """A prompt of your own; where retrieval was skipped, its hits are empty."""
    llm: Annotated[LLMValue, ModelOption()] = None
    """Another language model than the run's."""
    evidence: Annotated[int, Field(ge=1)] | None = None
    """Hits that are read, else the setting `evidence`."""
    budget: Annotated[int, Field(ge=100)] | None = None
    """Tokens of evidence that a model is shown, else what `llm_window` and `llm_output` leave."""
    self_correct: bool = False
    """Judge the draft against the evidence, and write it anew where it does not hold."""
    max_corrections: Annotated[int, Field(ge=0, le=10)] = 2
    """How often it is written anew."""
    instructions: str = ""
    """Rules of the house for a model: who answers, in which tone."""
    language: str = ""
    """Language of the answer, in words; else that of the question."""
    plain_language: bool = False
    """Ask for short sentences and common words."""
    history: Annotated[int, Field(ge=0)] = 6
    """Earlier turns that a model is shown."""
    temperature: Annotated[float, Field(ge=0)] | None = None
    """Of the model; else its own default."""
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    """Tokens of the reply, else the setting `llm_output`."""
    extractive_on_failure: bool = False
    """Quote the best sentences where the model fails before it wrote anything, and warn."""

    def problems(self) -> Iterator[tuple[str, str]]:
        if self.self_correct and self.answerer is not None:
            yield "It corrects what a model writes, and has an answerer of its own.", "Leave one of both out."

    def facts(self, context: Context) -> Mapping[str, Measure]:
        return {"hits": len(context.hits), "zone": context.zone}

    async def __call__(self, context: Context, run: Run) -> Context:
        evidence = self._evidence(context, run)
        answer = await shown(self._events(context, evidence, run), run, at_once=not self.self_correct)
        answer = replace(answer, question=context.question)
        new = context.evolve(answer=answer, evidence=answer.evidence or evidence)
        if self.self_correct and evidence and answer.refusal is None and run.services.llm(self.llm):
            answerer = self._generated(context, evidence, run.model(self.llm), run)
            new = await Corrector(answerer, self.llm, self.max_corrections).corrected(new, run)
        assert new.answer is not None
        run.measure(
            evidence=len(new.evidence),
            citations=len(new.answer.citations),
            corrections=len(new.corrections),
            refusal=new.answer.refusal,
            model=new.answer.model,
        )
        return new

    def _evidence(self, context: Context, run: Run) -> tuple[Evidence, ...]:
        if context.skip_retrieval:
            return ()
        return context.evidence or number_hits(
            context.hits[: self.evidence or run.services.settings.evidence]
        )

    async def _events(
        self, context: Context, evidence: Sequence[Evidence], run: Run
    ) -> AsyncGenerator[AnswerEvent, None]:
        try:
            async with aclosing(await self._answering(context, evidence, run)) as events:
                begun = False
                async for event in events:
                    begun = True
                    yield event
        except LLMError as error:
            if begun or not self.extractive_on_failure or not evidence:
                raise
            run.warn(f"The model failed, so the documents are quoted: {error}")
            quoting = (await run.services.extractive()).stream(context.standalone, evidence)
            async with aclosing(quoting) as events:
                async for event in events:
                    yield event

    async def _answering(
        self, context: Context, evidence: Sequence[Evidence], run: Run
    ) -> AsyncGenerator[AnswerEvent, None]:
        """Return the events of whatever answers in this case."""
        question, zone = context.question, context.zone
        if self.answerer is not None:
            returned = await self.work(question, tuple(item.hit for item in evidence))
            return own_answer(question, returned, evidence, name="own", zone=zone)
        llm = run.model(self.llm) if run.services.llm(self.llm) is not None else None
        if context.skip_retrieval and llm is not None:
            return self._freely(context, llm, run).stream(question)
        if not evidence:
            return _refusal(question, NOTHING_FOUND, llm.name if llm else "extractive")
        if llm is None:
            return (await run.services.extractive()).stream(context.standalone, evidence, zone=zone)
        return self._generated(context, evidence, llm, run).stream(question, evidence, zone=zone)

    def _freely(self, context: Context, llm: LLM, run: Run) -> FreeAnswerer:
        return FreeAnswerer(
            llm=llm,
            instructions=self._instructions,
            history=context.history[-self.history :] if self.history else (),
            messages=messages_of(self.prompt, question=context.question, hits=()) if self.prompt else (),
            options=self._options(run),
        )

    def _generated(
        self, context: Context, evidence: Sequence[Evidence], llm: LLM, run: Run
    ) -> GeneratedAnswerer:
        hits = tuple(item.hit for item in evidence)
        history = context.history[-self.history :] if self.history else ()
        return GeneratedAnswerer(
            llm=llm,
            budget=self.budget or self._room(run, context.question, [turn.text for turn in history]),
            instructions=self._instructions,
            history=history,
            notes=context.distilled,
            messages=messages_of(self.prompt, question=context.question, hits=hits) if self.prompt else (),
            options=self._options(run),
        )

    def _room(self, run: Run, question: str, said: Sequence[str]) -> int:
        """Return the tokens that the window leaves for evidence."""
        settings = run.services.settings
        used = sum(estimate_tokens(text) for text in (question, self._instructions, *said))
        output = self.max_tokens or settings.llm_output
        return max(settings.llm_window - output - used - PROMPT_TOKENS, LEAST_EVIDENCE)

    def _options(self, run: Run) -> Options:
        output = self.max_tokens or run.services.settings.llm_output
        return Options(max_tokens=output, temperature=self.temperature)

    @property
    def _instructions(self) -> str:
        language = f"Answer in this language: {self.language}." if self.language else ""
        plain = PLAIN if self.plain_language else ""
        return "\n".join(part for part in (self.instructions, language, plain) if part)


async def shown(events: AsyncGenerator[AnswerEvent, None], run: Run, *, at_once: bool) -> Answered:
    """Return the answer that events end with; show its text while it comes, where it cannot be replaced."""
    async with aclosing(events):
        async for event in events:
            if isinstance(event, Token) and at_once:
                run.token(event.text)
            elif isinstance(event, Done):
                for warning in event.answer.warnings:
                    run.warn(warning)
                return replace(event.answer, warnings=())
    raise AssertionError("An answerer ends with Done.")


async def _refusal(question: str, reason: str, model: str) -> AsyncGenerator[AnswerEvent, None]:
    for event in refuse(question, reason, (), model=model):
        yield event


PLAIN = "Write in plain language: short sentences, common words, one thought in each; explain rare terms."
PROMPT_TOKENS = 600
"""Tokens of our own prompt, rather too many."""
LEAST_EVIDENCE = 300
"""Tokens of evidence that are always shown, however small the window."""
