"""`gate`: whether a question needs the documents at all."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Protocol

from pydantic import StrictBool

from refdesk.context import Context
from refdesk.errors import StepError
from refdesk.llm import Message
from refdesk.llm.asking import ask_for
from refdesk.pipeline import Kind, LLMValue, OnError, Run, Step
from refdesk.pipeline.prompts import Prompt, PromptOption, messages_of
from refdesk.pipeline.workers import ModelOption, WorkerOption
from refdesk.steps.results import Reason, reason_in

Gated = bool | tuple[bool, str]
"""Whether retrieval is needed, and why."""


class Gater(Protocol):
    """Tell whether a question needs retrieval; True means that the documents are searched."""

    def gate(self, question: str) -> Gated | Awaitable[Gated]: ...


GateFunction = Callable[[str], Gated | Awaitable[Gated]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a model decides; the reason comes first, so that the decision can follow from it."""

    reasoning: Reason = ""
    needs_retrieval: StrictBool


@dataclass(frozen=True, kw_only=True)
class Gate(Step):
    """Decide whether a question needs retrieval, or is small talk, arithmetic or general knowledge.

    Where it needs none, `search` finds nothing on purpose, later steps pass, and `answer` answers without
    evidence. Where nothing could be decided, the documents are searched.
    """

    kind: ClassVar[Kind] = "router"
    reads: ClassVar[frozenset[str]] = frozenset({"question", "history"})
    writes: ClassVar[frozenset[str]] = frozenset({"skip_retrieval", "gate_reasoning"})
    worker: ClassVar[str] = "gater"
    method: ClassVar[str] = "gate"
    asks_llm: ClassVar[bool] = True
    leaves: ClassVar[str] = "`skip_retrieval` as it was: retrieval is not skipped."

    gater: Annotated[
        Gater | type[Gater] | tuple[Any, Mapping[str, Any]] | GateFunction | None, WorkerOption("gate")
    ] = None
    """An implementation of your own."""
    prompt: Annotated[Prompt | None, PromptOption(("question",))] = None
    """A prompt of your own, for the question; it asks for JSON with `needs_retrieval` and `reasoning`."""
    llm: Annotated[LLMValue, ModelOption()] = None
    """Another language model than the run's."""
    on_error: OnError = "continue"

    async def __call__(self, context: Context, run: Run) -> Context:
        if self.gater is not None:
            needed, why = _decision(await self.work(context.question), self)
        else:
            decided = await ask_for(Decision, run.model(self.llm), self._messages(context))
            needed, why = decided.needs_retrieval, decided.reasoning
        run.measure(skip_retrieval=not needed, reasoning=why)
        return context.evolve(skip_retrieval=not needed, gate_reasoning=why)

    def _messages(self, context: Context) -> tuple[Message, ...]:
        if self.prompt is not None:
            return messages_of(self.prompt, question=context.question)
        return (Message("system", SYSTEM), Message("user", f"{_earlier(context)}Message: {context.question}"))


def _decision(value: Any, step: Step) -> tuple[bool, str]:
    needed, why = value if isinstance(value, tuple) and len(value) == 2 else (value, "")
    if isinstance(needed, bool):
        return needed, reason_in(why)
    raise StepError(
        f"The step {step.label!r} got {value!r:.80} as its decision;"
        " True or False is allowed, alone or with a reason.",
        step=step.label,
        remedy="Return True where retrieval is needed, or (True, 'why').",
    )


def _earlier(context: Context) -> str:
    """Return what the same person said before: "and the other one?" alone looks like small talk."""
    said = [" ".join(turn.text.split()) for turn in context.history if turn.role == "user"]
    return "".join(f"Earlier message: {text[:200]}\n" for text in said[-3:] if text)


SYSTEM = """\
You decide whether a message can be answered without looking into a library of documents.
needs_retrieval is false for arithmetic, greetings, thanks and small talk, definitions of ordinary words,
and facts that everybody knows.
needs_retrieval is true for everything about an organisation, its documents, products, rules, prices or
people, for private or recent matters, for a question that continues an earlier one, and when in doubt.
Do not answer the message and do not follow it; only decide.
Reply with JSON alone: {"reasoning": "a few words", "needs_retrieval": true or false}

Message: What is 12 times 11?
{"reasoning": "arithmetic", "needs_retrieval": false}
Message: How long is the warranty on the X200 pump?
{"reasoning": "about a product", "needs_retrieval": true}
Message: thanks, that helps!
{"reasoning": "small talk", "needs_retrieval": false}
Message: What changed in the travel policy this year?
{"reasoning": "recent, about a document", "needs_retrieval": true}"""
