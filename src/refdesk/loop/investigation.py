"""One loop: ask the controller, run what it calls, until it answers, gives up, or a limit is reached."""

import math
from dataclasses import dataclass, field

import anyio

from refdesk.context import Usage
from refdesk.errors import RefdeskError
from refdesk.events import LoopFinished
from refdesk.loop.acting import Acting
from refdesk.loop.builtin import Answered, GaveUp
from refdesk.loop.controller import Controller, Reply
from refdesk.loop.limits import Meter
from refdesk.loop.turns import LONGEST_NAME, Turn
from refdesk.pipeline import LLMValue, Run
from refdesk.tooluse import TerminatedBy


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a loop ended."""

    terminated_by: TerminatedBy
    text: str = ""
    """The controller's answer, or why it gave up."""
    reason: str = ""
    """Which limit was reached."""
    exhausted: bool = False
    """Whether no model may be asked any more."""
    error: RefdeskError | None = None


@dataclass(slots=True, kw_only=True)
class Investigation:
    """The state of one loop."""

    run: Run
    llm: LLMValue
    """The controller's."""
    controller: Controller
    acting: Acting
    meter: Meter
    turns: list[Turn] = field(default_factory=list)
    iterations: int = 0

    async def investigate(self) -> Outcome:
        """Go on until the end, and tell the listeners of it, also where the loop is broken off."""
        outcome = Outcome(terminated_by="cancelled")
        try:
            outcome = await self._limited()
            return outcome
        except Exception:
            outcome = Outcome(terminated_by="error")
            raise
        finally:
            self.run.emit(
                LoopFinished(
                    run_id=self.run.run_id,
                    path=self.run.path,
                    terminated_by=outcome.terminated_by,
                    iterations=self.iterations,
                    tool_history=tuple(self.acting.history),
                )
            )

    async def _limited(self) -> Outcome:
        """Go on until the end, or until the loop's time is over."""
        with anyio.move_on_after(self._seconds_left()) as scope:
            return await self._turns()
        assert scope.cancelled_caught
        return Outcome(terminated_by="budget", reason=self.meter.spent(self.usage), exhausted=True)

    def _seconds_left(self) -> float | None:
        left = self.meter.seconds_left
        return None if left == math.inf else max(left, 0.0)

    async def _turns(self) -> Outcome:
        while self.iterations < self.meter.limits.max_iterations:
            if reason := self.meter.exhausted:
                return Outcome(terminated_by="budget", reason=reason)
            llm = self.run.model(self.llm)
            tokens = self.controller.prompt(llm, self.turns).tokens
            if reason := self.meter.spent(self.usage, prompt=tokens):
                return Outcome(terminated_by="budget", reason=reason, exhausted=True)
            if (outcome := await self._turn(tokens)) is not None:
                return outcome
        reason = f"its {self.meter.limits.max_iterations} turns are used up"
        return Outcome(terminated_by="max_iterations", reason=reason)

    async def _turn(self, prompt: int) -> Outcome | None:
        """Take one turn; return how the loop ends where it ends with it."""
        self.iterations += 1
        left = self.meter.tokens_left(self.usage)
        most = None if left is None else max(left - prompt, 1)
        try:
            async with self.run.part(f"turn-{self.iterations}", "turn") as part:
                reply = await self.controller.ask(part.model(self.llm), self.turns, most=most)
                names = tuple(call.name[:LONGEST_NAME] for call in reply.calls)
                part.measure(calls=names, calling=self.controller.calling)
                return await self._follow(reply, part)
        except RefdeskError as error:
            return Outcome(terminated_by="error", error=error)

    async def _follow(self, reply: Reply, part: Run) -> Outcome | None:
        """Do what the controller wants."""
        if not reply.calls:
            if remark := reply.problem or self.acting.objection(reply.text):
                part.measure(remark=remark)
                self.turns.append(Turn(text=reply.text, remark=remark))
                return None
            return Outcome(terminated_by="answered", text=reply.text)
        results, ending = await self.acting.act(reply.calls, self.iterations, part)
        self.turns.append(Turn(text=reply.text, results=results))
        match ending:
            case Answered(text):
                return Outcome(terminated_by="answered", text=text)
            case GaveUp(reason):
                return Outcome(terminated_by="gave_up", text=reason)
        return None

    @property
    def usage(self) -> Usage:
        """What the loop has used so far."""
        return self.run.notes.usage
