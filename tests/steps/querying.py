"""Run one step on a context, with a scripted model and collections that need no store."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from refdesk.context import Context, Trace
from refdesk.documents import Collection
from refdesk.errors import LLMError
from refdesk.grounding import Grounder
from refdesk.grounding.named import grounder_for
from refdesk.llm import LLM
from refdesk.llm.names import llm_for
from refdesk.pipeline import LLMValue, Pipeline, Run, Services, Step
from refdesk.settings import Settings
from refdesk.testing.llm import Script, ScriptedLLM

QUESTION = "How long is the warranty on the X200 pump?"
ASKED = Context(question=QUESTION)
DOWN = LLMError("The model scripted cannot be reached.", retryable=True)


@dataclass(frozen=True, slots=True)
class Offline:
    """The services that steps before retrieval ask for."""

    model: LLM | None = None
    known: tuple[Collection, ...] = ()
    settings: Settings = field(default_factory=Settings)

    def llm(self, value: str | LLM | Callable[..., Any] | None) -> LLM | None:
        return self.model if value is None else llm_for(value)

    async def collections(self) -> tuple[Collection, ...]:
        return self.known

    async def grounder(self, name: str, llm: LLMValue = None) -> Grounder:
        return grounder_for(name, llm=self.llm(llm))


async def after(
    steps: Step | Pipeline,
    context: Context = ASKED,
    *,
    llm: ScriptedLLM | None = None,
    known: Sequence[Collection] = (),
) -> Context:
    """Return what steps make of a context, as the runner sees it: policies, checks and traces included."""
    run = Run(services=cast(Services, Offline(llm, tuple(known))))
    return await run.steps((steps,) if isinstance(steps, Step) else steps.steps, context)


async def replied(steps: Step | Pipeline, *replies: Script, context: Context = ASKED) -> Context:
    """Return what steps make of a model's replies."""
    return await after(steps, context, llm=ScriptedLLM(replies))


def prompt_of(llm: ScriptedLLM) -> str:
    """Return what the model was asked first, as one text."""
    return "\n\n".join(message.text for message in llm.asked[0])


def traced(context: Context) -> Trace:
    """Return the trace of the step that ran last."""
    return context.trace[-1]


def assert_passed_over(context: Context, before: Context, saying: str) -> None:
    """Check that a step failed, said why, and left everything as it was."""
    assert context.error is None
    assert traced(context).outcome == "continued"
    assert saying in context.warnings[-1]
    assert context.degraded == (*before.degraded, traced(context).path[-1])
    assert context.evolve(warnings=(), degraded=before.degraded, trace=(), usage=before.usage) == before
