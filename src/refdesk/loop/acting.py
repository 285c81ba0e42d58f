"""Run the calls of one turn: each gets a result, in the order of the calls, whatever goes wrong."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

import anyio
import anyio.lowlevel

from refdesk.cleaning import visible
from refdesk.embedding.parallel import in_order
from refdesk.errors import MissingExtra, SettingsError, ToolError
from refdesk.events import ToolFinished, ToolStarted
from refdesk.evidence import NUMBERS
from refdesk.llm import ToolCall
from refdesk.loop import prompts
from refdesk.loop.builtin import Again, Answered, GaveUp
from refdesk.loop.ledger import Found, Ledger
from refdesk.loop.limits import Meter
from refdesk.loop.telling import (
    as_found,
    chunk_ids,
    failure_text,
    figures,
    raw,
    recorded,
    remarks,
    result_text,
)
from refdesk.loop.tools import Tool, arguments_of
from refdesk.loop.turns import LONGEST_NAME, Result
from refdesk.pipeline import Run
from refdesk.tooluse import ToolOutcome, ToolUse

AT_ONCE = 4
"""Calls of one turn that run at the same time."""

Ending = Answered | GaveUp


@dataclass(slots=True, kw_only=True)
class Planned:
    """A call, and what is known of it before it is run."""

    call: ToolCall
    tool: Tool | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """As JSON has them."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """As the tool takes them."""
    outcome: ToolOutcome = "done"
    said: str = ""
    """Why it is not run; empty where it is."""
    returned: Any = None
    ended: bool = False
    """Whether it was run to its end."""
    began: float = 0.0
    seconds: float = 0.0


@dataclass(slots=True, kw_only=True)
class Acting:
    """The tools of one loop, and what became of their calls."""

    run: Run
    """Of the loop; events name its path."""
    tools: Mapping[str, Tool]
    ending: frozenset[str]
    """Names of tools whose call ends the loop."""
    own: frozenset[str]
    """Names of the user's own tools; they may be those of built-in ones that are not there."""
    ledger: Ledger
    meter: Meter
    search_first: bool
    told: bool = False
    """Whether the question comes with what documents may have said: earlier answers, verdicts on them."""
    history: list[ToolUse] = field(default_factory=list)
    cites: bool = True
    """Whether the controller's own answer is shown, so that it has to cite."""
    objections: set[str] = field(default_factory=set)
    """Why answers were sent back; each reason counts once."""

    async def act(
        self, calls: Sequence[ToolCall], iteration: int, part: Run
    ) -> tuple[tuple[Result, ...], Ending | None]:
        """Run the calls of a turn; return a result for each, and how the loop ends where one ends it."""
        planned: list[Planned] = []
        for call in calls:
            planned.append(self._plan(call, planned, iteration))
        work = [one for one in planned if not one.said]
        try:
            await in_order(lambda one: self._run(one, iteration, part), work, anyio.CapacityLimiter(AT_ONCE))
        except BaseException:
            self._broken_off(planned, iteration)
            raise
        results = tuple(self._settle(one, iteration) for one in planned)
        return results, next((one.returned for one in planned if isinstance(one.returned, Ending)), None)

    def _broken_off(self, planned: Sequence[Planned], iteration: int) -> None:
        """Note the calls of a turn that is not brought to its end; what was found by then stays."""
        for one in planned:
            if not one.said and not one.ended:
                one.outcome, one.said = "error", prompts.BROKEN_OFF
                one.seconds = time.perf_counter() - one.began if one.began else 0.0
            self._settle(one, iteration)

    def _plan(self, call: ToolCall, before: Sequence[Planned], iteration: int) -> Planned:
        """Decide whether a call is run, and read its arguments."""
        plan = Planned(call=call, tool=self.tools.get(call.name))
        if plan.tool is None:
            plan.outcome, plan.said = "error", self._unknown(call.name)
            plan.arguments = raw(call)
            self.meter.count(call.name, plan.arguments, iteration)
            return plan
        try:
            plan.values = arguments_of(plan.tool, call.arguments)
            plan.arguments = recorded(plan.values, call)
        except ToolError as error:
            plan.outcome, plan.said, plan.arguments = "error", str(error), raw(call)
        left = self.meter.count(call.name, plan.arguments, iteration)
        if not plan.said and (refused := self._refusal(plan, before, left=left)):
            plan.outcome, plan.said = "refused", refused
        return plan

    def _unknown(self, name: str) -> str:
        near = get_close_matches(name.lower(), self.tools, 1)
        hint = f"Did you mean {near[0]}? " if near else ""
        return f"There is no tool {name!r:.80}. {hint}There are: {', '.join(self.tools)}."

    def _refusal(self, plan: Planned, before: Sequence[Planned], *, left: bool) -> str:
        """Say why a call that could be run is not; empty where it is."""
        name = plan.call.name
        if any(one.call.name in self.ending and not one.said for one in before):
            return prompts.NOT_RUN
        answers = name == "answer" and name in self.ending
        if answers and (objection := self._objects(plan, before)):
            return objection
        if not left and name not in self.ending:
            return prompts.NO_CALLS_LEFT
        shown = self.told or bool(self.ledger.results) or self._own_results
        return prompts.NO_ACTION if plan.tool and plan.tool.acts and shown else ""

    def _objects(self, plan: Planned, before: Sequence[Planned]) -> str:
        answer = visible(str(plan.values.get("text", ""))).strip()
        return self.objection(answer, beside=bool(before)) if answer else ""

    def objection(self, answer: str, *, beside: bool = False) -> str:
        """Say why an answer is sent back; empty where it is taken. Each reason is given once."""
        found = self.ledger.results or self._own_results or "search" not in self.tools
        if self.search_first and not found:
            objection = prompts.UNSEEN if beside else prompts.UNSEARCHED
        elif self.cites and self.ledger.evidence and not NUMBERS.search(answer):
            objection = prompts.UNCITED
        else:
            return ""
        return self._once(objection)

    def _once(self, objection: str) -> str:
        kind = prompts.UNCITED if objection == prompts.UNCITED else prompts.UNSEARCHED
        if kind in self.objections:
            return ""
        self.objections.add(kind)
        return objection

    @property
    def based(self) -> bool:
        """Whether there is anything that an answer can rest on: passages, or results of other tools."""
        return bool(self.ledger.evidence) or self._own_results

    @property
    def _own_results(self) -> bool:
        """Whether a tool of the user's own has told the model something."""
        return any(use.outcome == "done" and use.tool in self.own for use in self.history)

    async def _run(self, plan: Planned, iteration: int, part: Run) -> None:
        """Run a call. What it raises becomes what the model is told, but for wrong settings."""
        assert plan.tool is not None
        name, plan.began = plan.tool.name, time.perf_counter()
        self.run.emit(
            ToolStarted(
                run_id=self.run.run_id,
                path=self.run.path,
                iteration=iteration,
                call_id=plan.call.id,
                tool=name,
                arguments=plan.arguments,
            )
        )
        async with part.part(name, "tool") as inner:
            try:
                plan.returned = as_found(await plan.tool.run(**plan.values))
            except (SettingsError, MissingExtra):
                raise
            except (Exception, SystemExit) as error:  # a tool of the user's own may raise anything
                plan.outcome, plan.said = "error", failure_text(name, error)
                if not isinstance(error, ToolError):
                    inner.warn(plan.said.removeprefix(f"{name} "))
            except anyio.get_cancelled_exc_class():
                # Goes on where nobody cancelled the loop: something that the tool waited for was cancelled.
                await anyio.lowlevel.checkpoint_if_cancelled()
                plan.outcome, plan.said = "error", f"{name} failed: {prompts.BROKEN_OFF}"
                inner.warn(plan.said)
            outcome = "repeated" if isinstance(plan.returned, Again) else plan.outcome
            inner.measure(iteration=iteration, outcome=outcome, **figures(plan.returned))
        plan.ended, plan.seconds = True, time.perf_counter() - plan.began

    def _settle(self, plan: Planned, iteration: int) -> Result:
        """Give what was found its numbers, note the call, and return what the model is told."""
        said = plan.said
        numbers: tuple[int, ...] = ()
        ids: tuple[str, ...] = ()
        match plan.returned:
            case Found() as found:
                noted = self.ledger.note(found)
                numbers, ids = noted.numbers, chunk_ids(found)
                said = " ".join([found.said, *remarks(noted, self.ledger.cap)])
            case Again(key) if key not in self.ledger.numbers:
                plan.outcome, said = "error", prompts.SAME_FAILED
            case Again(key):
                plan.outcome, numbers = "repeated", ()
                said = prompts.repeated(self.ledger.numbers.get(key, ()))
                ids = tuple(
                    i.hit.chunk.chunk_id for i in self.ledger.passages(self.ledger.numbers.get(key, ()))
                )
            case Answered():
                said = "Answered."
            case GaveUp(reason):
                said = f"Gave up: {reason}" if reason else "Gave up."
            case returned if not said:
                said, plan.outcome = result_text(plan.call.name, returned)
        use = ToolUse(
            tool=visible(plan.call.name)[:LONGEST_NAME],
            arguments=plan.arguments,
            iteration=iteration,
            call_id=plan.call.id,
            outcome=plan.outcome,
            summary=visible(said),
            returned_chunk_ids=ids,
            seconds=plan.seconds,
        )
        self.note(use)
        return Result(call=plan.call, said=said, numbers=numbers)

    def note(self, use: ToolUse) -> None:
        """Put a call into the history, and tell of it."""
        self.history.append(use)
        self.run.emit(ToolFinished(run_id=self.run.run_id, path=self.run.path, use=use))
