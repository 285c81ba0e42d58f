"""Steps and services for tests of pipelines."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import anyio

from refdesk.context import Answer, Context
from refdesk.events import Event, StepFailed, StepFinished, StepStarted, Token
from refdesk.llm import LLM
from refdesk.llm.names import llm_for
from refdesk.pipeline import Kind, Pipeline, Run, Step
from refdesk.settings import Settings

CONTEXT = Context(question="How many days?")


class Offline:
    """Services without a library; a model is whatever is given."""

    settings = Settings()

    def __init__(self, model: Any = None) -> None:
        self.model = model

    def llm(self, value: Any) -> LLM | None:
        chosen = value or self.model
        return llm_for(chosen) if chosen else None

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"These services have no {name}.")


def a_run(sinks: tuple[Callable[[Event], None], ...] = (), **options: Any) -> Run:
    """Return a run without a library."""
    services: Any = Offline(options.pop("model", None))
    return Run(services=services, sinks=sinks, **options)


@dataclass(frozen=True, kw_only=True)
class Say(Step):
    """Answer with given pieces of text."""

    kind: ClassVar[Kind] = "answer_generator"
    reads: ClassVar[frozenset[str]] = frozenset({"question"})
    writes: ClassVar[frozenset[str]] = frozenset({"answer"})
    leaves: ClassVar[str] = "No answer."

    pieces: tuple[str, ...] = ("Thirty ", "days.")
    """What it says."""
    fails_after: int | None = None
    """How many pieces it shows before it fails."""

    async def __call__(self, context: Context, run: Run) -> Context:
        for place, piece in enumerate(self.pieces):
            if place == self.fails_after:
                raise ValueError("broken")
            run.token(piece)
            await anyio.lowlevel.checkpoint()
        if self.fails_after == len(self.pieces):
            raise ValueError("broken")
        return context.evolve(answer=Answer(question=context.question, text="".join(self.pieces)))


@dataclass(frozen=True, kw_only=True)
class Polish(Step):
    """Replace the answer, as a quality gate may."""

    kind: ClassVar[Kind] = "quality_gate"
    reads: ClassVar[frozenset[str]] = frozenset({"answer"})
    writes: ClassVar[frozenset[str]] = frozenset({"answer"})
    after: ClassVar[tuple[Kind, ...]] = ("answer_generator",)
    leaves: ClassVar[str] = "The answer as it was."

    text: str = "Polished."
    """What it is replaced with."""

    async def __call__(self, context: Context, run: Run) -> Context:
        return context.evolve(answer=Answer(question=context.question, text=self.text))


@dataclass(frozen=True, kw_only=True)
class Do(Step):
    """Do what a function of context and run does, sync or async."""

    kind: ClassVar[Kind] = "query_optimizer"
    reads: ClassVar[frozenset[str]] = frozenset({"question"})
    writes: ClassVar[frozenset[str]] = frozenset({"rewritten_query"})
    leaves: ClassVar[str] = "The query as it was."

    work_of: Any = None
    """The function."""

    async def __call__(self, context: Context, run: Run) -> Context:
        returned = self.work_of(context, run) if self.work_of else context
        return await returned if hasattr(returned, "__await__") else returned


@dataclass(frozen=True, kw_only=True)
class Find(Step):
    """Stand for a step that searches."""

    kind: ClassVar[Kind] = "retriever"
    leaves: ClassVar[str] = "The results as they were."

    async def __call__(self, context: Context, run: Run) -> Context:
        return context


async def finished(*steps: Step, **options: Any) -> tuple[Context, list[Event]]:
    """Run steps as a pipeline; return the context and the events."""
    events: list[Event] = []
    context = await Pipeline(steps).run(CONTEXT, a_run((events.append,), **options))
    return context, events


def told(events: list[Event]) -> list[str]:
    """Return events in a line each."""
    lines = []
    for event in events:
        match event:
            case StepStarted():
                lines.append(f"{'/'.join(event.path)} started")
            case StepFinished() | StepFailed():
                lines.append(f"{'/'.join(event.path)} {event.outcome}")
            case Token():
                lines.append(f"token {event.text}")
    return lines


def shown(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, Token))
