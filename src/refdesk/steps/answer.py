"""`answer`: evidence to an answer, by a model, by quoting, or by an implementation of one's own."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, ClassVar, Protocol

from pydantic import Field

from refdesk.answering import BELOW_THRESHOLD, NOTHING_FOUND
from refdesk.answering.fallback import later
from refdesk.answering.freely import FreeAnswerer
from refdesk.answering.generated import GeneratedAnswerer
from refdesk.answering.history import recent
from refdesk.answering.own import own_answer
from refdesk.answering.refusing import refusal, said_of
from refdesk.answering.rules import house_rules
from refdesk.context import Answer as Answered
from refdesk.context import Context, Evidence, Measure, NumberBy, Turn
from refdesk.documents import Hit
from refdesk.events import AnswerEvent, Done, Token
from refdesk.evidence import number_hits
from refdesk.grounding.named import JUDGE
from refdesk.llm import LLM, Message, Options
from refdesk.pipeline import Kind, LLMValue, Run, Step
from refdesk.pipeline.prompts import Prompt, PromptOption, messages_of
from refdesk.pipeline.workers import ModelOption, WorkerOption
from refdesk.steps.checking import Check, GrounderValue
from refdesk.steps.correcting import Corrector
from refdesk.steps.standin import OnModelError, StandIn
from refdesk.steps.window import room


class Answerer(Protocol):
    """Answer a question from hits: text, pieces of text, or an `Answer`. `[[n]]` cites the nth hit."""

    def answer(self, question: str, hits: Sequence[Hit]) -> Any | Awaitable[Any]: ...


AnswerFunction = Callable[[str, Sequence[Hit]], Any]


@dataclass(frozen=True, kw_only=True)
class Answer(Step):
    """Answer from the evidence, with citations, or refuse with a reason.

    A language model writes where the run or the step has one, else the best sentences are quoted. Where a
    search found nothing, and in the zone `none`, the answer is a refusal and nobody is asked, also no
    answerer of your own. Where retrieval was skipped a model answers from what it knows. With `self_correct`
    a draft is checked by `grounder` and written anew until no statement is unsupported or contradicted, or
    `max_corrections` is reached; where it cannot be checked it stays, with a warning. The last grounding is
    the answer's. Earlier turns and evidence that the model's window has no room for are left out, with a
    warning.
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
            "results",
            "corrections",
            "verdict",
        }
    )
    writes: ClassVar[frozenset[str]] = frozenset({"answer", "evidence", "corrections", "grounding"})
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
    """Check the draft against the evidence, and write it anew where it does not hold."""
    grounder: GrounderValue = JUDGE
    """What checks it, as in `ground`: by default the model itself, one request for each draft."""
    max_corrections: Annotated[int, Field(ge=0, le=10)] = 2
    """How often it is written anew."""
    number_by: NumberBy | None = None
    """What citations share a number: those of a `chunk` or of a `document`, else the setting `number_by`."""
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
    show: tuple[str, ...] = ()
    """Keys of metadata that a model is shown with each source, such as `category` and `tags`."""
    on_model_error: OnModelError = "stop"
    """Where the model fails before a reader saw any text: `stop`, or with a warning `quotes` of the best
    sentences or a refusal that lists the `sources`."""
    model_timeout: Annotated[float, Field(gt=0)] | None = None
    """Seconds after which a model that has not shown any text has failed."""

    def problems(self) -> Iterator[tuple[str, str]]:
        given = {
            "self_correct": self.self_correct,
            "on_model_error": self.on_model_error != "stop",
            "model_timeout": self.model_timeout is not None,
            "show": bool(self.show),
        }
        for name in (name for name, told in given.items() if told and self.answerer is not None):
            yield f"`{name}` is for what a model writes, and it has an answerer of its own.", LEAVE_OUT
        yield from self._check.problems()
        if self.prompt is not None and self.answerer is not None:
            yield "Its answerer of its own is not told its `prompt`.", LEAVE_OUT

    def facts(self, context: Context) -> Mapping[str, Measure]:
        return {"hits": len(context.hits), "zone": context.zone}

    async def __call__(self, context: Context, run: Run) -> Context:
        llm = run.model(self.llm) if self.answerer is None and run.services.llm(self.llm) else None
        self._warn(context, llm, run)
        evidence = self._evidence(context, run)
        correcting = self.self_correct and llm is not None and bool(evidence)
        events = later(partial(self._answering, context, evidence, llm, run))
        if self.answerer is None:
            final = run.streams and not correcting
            events = self._stand_in(context, evidence, llm, run).over(events, _name(llm), final=final)
        answer = await shown(events, run, at_once=not correcting)
        new = _with(context, replace(answer, question=context.question), evidence)
        if correcting and llm is not None and answer.refusal is None and answer.model == llm.name:
            answerer = self._generated(context, llm, run)
            corrector = Corrector(answerer, self._check, self.llm, self.max_corrections)
            new = await corrector.corrected(new, run)
        assert new.answer is not None
        run.measure(
            evidence=len(new.evidence),
            citations=len(new.answer.citations),
            corrections=len(new.corrections),
            removed_markers=new.answer.removed_markers,
            removed_links=new.answer.removed_links,
            refusal=new.answer.refusal,
            model=new.answer.model,
        )
        return new

    @property
    def _check(self) -> Check:
        return Check(self.grounder, self.llm, self.label)

    def _evidence(self, context: Context, run: Run) -> tuple[Evidence, ...]:
        if context.skip_retrieval:
            return ()
        most = self.evidence or run.services.settings.evidence
        evidence = context.evidence or number_hits(context.hits[:most])
        own = self.answerer is not None or self.prompt is not None
        return number_hits([item.hit for item in evidence]) if own else evidence

    async def _answering(
        self, context: Context, evidence: Sequence[Evidence], llm: LLM | None, run: Run
    ) -> AsyncGenerator[AnswerEvent, None]:
        """Return the events of whatever answers in this case."""
        question, zone, number_by = context.question, context.zone, self._number_by(run)
        if reason := self._refused(context, evidence, llm):
            name = "own" if self.answerer is not None else _name(llm)
            return refusal(question, reason, evidence, name, said_of(reason, context.degraded))
        if self.answerer is not None:
            returned = await self.work(question, tuple(item.hit for item in evidence))
            return own_answer(question, returned, evidence, zone=zone, step=self.label, number_by=number_by)
        if llm is None:
            extractive = await run.services.extractive()
            return extractive.stream(context.standalone, evidence, zone=zone, number_by=number_by)
        if context.skip_retrieval:
            return self._freely(context, llm, run).stream(question)
        answerer = self._generated(context, llm, run)
        return answerer.stream(question, evidence, zone=zone, number_by=number_by)

    def _stand_in(self, context: Context, evidence: Sequence[Evidence], llm: LLM | None, run: Run) -> StandIn:
        return StandIn(
            policy=self.on_model_error,
            seconds=self.model_timeout,
            context=context,
            evidence=evidence,
            number_by=self._number_by(run),
            run=run,
        )

    def _number_by(self, run: Run) -> NumberBy:
        return self.number_by or run.services.settings.number_by

    def _refused(self, context: Context, evidence: Sequence[Evidence], llm: LLM | None) -> str:
        """Say why nobody is asked, empty where somebody is."""
        if evidence:
            return BELOW_THRESHOLD if context.zone == "none" else ""
        if context.skip_retrieval:
            return NOTHING_FOUND if llm is None and self.answerer is None else ""
        return "" if self.answerer is not None and not context.results else NOTHING_FOUND

    def _freely(self, context: Context, llm: LLM, run: Run) -> FreeAnswerer:
        return FreeAnswerer(
            llm=llm,
            instructions=self._instructions(),
            history=self._before(context, run),
            rejected=_rejected(context),
            messages=messages_of(self.prompt, question=context.question, hits=()) if self.prompt else (),
            options=self._options(run),
        )

    def _generated(self, context: Context, llm: LLM, run: Run) -> GeneratedAnswerer:
        before, house = self._before(context, run), self._instructions()
        said = (context.question, house, *(turn.text for turn in before))
        own = partial(_own_prompt, self.prompt, context.question) if self.prompt else None
        return GeneratedAnswerer(
            llm=llm,
            budget=self.budget or room(run.services.settings, *said, output=self.max_tokens),
            instructions=house,
            history=before,
            notes="" if own else context.distilled,
            rejected=_rejected(context),
            own_prompt=own,
            show=self.show,
            options=self._options(run),
        )

    def _before(self, context: Context, run: Run) -> tuple[Turn, ...]:
        """Return the earlier turns that are shown: they may take up a part of the window."""
        turns = context.history[-self.history :] if self.history else ()
        return recent(turns, run.services.settings.llm_window // HISTORY_SHARE)

    def _warn(self, context: Context, llm: LLM | None, run: Run) -> None:
        """Warn of what has no effect or does not fit."""
        unused = self.self_correct or self.prompt is not None
        if llm is None and self.answerer is None and unused:
            run.warn("No language model is named, so `prompt` and `self_correct` have no effect.")
        lost = min(self.history, len(context.history)) - len(self._before(context, run))
        if llm is not None and self.prompt is None and lost:
            run.warn(f"The {lost} oldest of the earlier turns were left out: they are too long.")

    def _options(self, run: Run) -> Options:
        output = self.max_tokens or run.services.settings.llm_output
        return Options(max_tokens=output, temperature=self.temperature)

    def _instructions(self) -> str:
        return house_rules(self.instructions, language=self.language, plain_language=self.plain_language)


def _with(context: Context, answer: Answered, evidence: tuple[Evidence, ...]) -> Context:
    """Put an answer into a context, with the evidence that it was written from."""
    used = answer.evidence or evidence
    answer = replace(answer, evidence=used)
    return context.evolve(answer=answer, evidence=used, grounding=answer.grounding)


def _rejected(context: Context) -> str:
    """Return why a review rejected an earlier answer, empty where none did."""
    verdict = context.verdict
    return verdict.reason if verdict is not None and verdict.decision == "reject" else ""


def _own_prompt(prompt: Prompt, question: str, hits: tuple[Hit, ...]) -> tuple[Message, ...]:
    return messages_of(prompt, question=question, hits=hits)


def _name(llm: LLM | None) -> str:
    return llm.name if llm else "extractive"


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


HISTORY_SHARE = 4
"""What was said before takes up at most one part in so many of the model's window."""
LEAVE_OUT = "Leave one of both out."
