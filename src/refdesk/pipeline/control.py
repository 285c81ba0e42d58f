"""Steps that run other steps: `when`, `repeat`."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import Field

from refdesk.context import Context
from refdesk.pipeline.conditions import Condition, ConditionOption, holds
from refdesk.pipeline.outcomes import FIELDS
from refdesk.pipeline.run import Run
from refdesk.pipeline.step import Kind, Step

EVERYTHING = frozenset(FIELDS)


@dataclass(frozen=True, kw_only=True)
class When(Step):
    """Run some steps where a condition holds, and others where it does not."""

    kind: ClassVar[Kind] = "control"
    reads: ClassVar[frozenset[str]] = EVERYTHING
    writes: ClassVar[frozenset[str]] = EVERYTHING
    leaves: ClassVar[str] = "What the inner steps had done before the one that failed."

    condition: Annotated[Condition, ConditionOption()]
    """A function of the context, or text such as `hits<3` or `zone=weak`."""
    steps: Annotated[tuple[Step, ...], Field(min_length=1)]
    """What to run where it holds."""
    otherwise: tuple[Step, ...] = ()
    """What to run where it does not."""

    @property
    def blocks(self) -> tuple[tuple[Step, ...], ...]:
        return (self.steps, self.otherwise) if self.otherwise else (self.steps,)

    async def __call__(self, context: Context, run: Run) -> Context:
        held = holds(self.condition, context)
        run.measure(held=held)
        return await run.steps(self.steps if held else self.otherwise, context, streams=run.streams)


@dataclass(frozen=True, kw_only=True)
class Repeat(Step):
    """Run steps again until a condition holds, at most some times. Nothing in it is shown before it ends."""

    kind: ClassVar[Kind] = "control"
    reads: ClassVar[frozenset[str]] = EVERYTHING
    writes: ClassVar[frozenset[str]] = EVERYTHING
    leaves: ClassVar[str] = "What the inner steps had done before the one that failed."

    steps: Annotated[tuple[Step, ...], Field(min_length=1)]
    """What to run in each round."""
    until: Annotated[Condition, ConditionOption()]
    """Is asked after each round: a function of the context, or text such as `verdict=pass`."""
    times: Annotated[int, Field(ge=1, le=10)] = 2
    """Rounds at most."""

    @property
    def blocks(self) -> tuple[tuple[Step, ...], ...]:
        return (self.steps,)

    async def __call__(self, context: Context, run: Run) -> Context:
        rounds = 0
        while rounds < self.times:
            rounds += 1
            async with run.part(str(rounds), "round") as inside:
                context = await inside.steps(self.steps, context)
            if context.error is not None or holds(self.until, context):
                break
        else:
            run.measure(exhausted=True)
        run.measure(rounds=rounds)
        return context
