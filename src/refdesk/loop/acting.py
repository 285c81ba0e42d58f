"""Run the calls of one turn: each gets a result, in the order of the calls, whatever goes wrong."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

import anyio
from pydantic_core import to_jsonable_python

from refdesk.documents import Hit
from refdesk.embedding.parallel import in_order
from refdesk.errors import MissingExtra, RefdeskError, SettingsError, ToolError
from refdesk.events import ToolFinished, ToolStarted
from refdesk.evidence import quoted
from refdesk.llm import ToolCall
from refdesk.llm.failures import scrub
from refdesk.loop import prompts
from refdesk.loop.builtin import Again, Answered, GaveUp
from refdesk.loop.ledger import Found, Ledger, Noted
from refdesk.loop.limits import Meter
from refdesk.loop.tools import Tool, arguments_of, text_of_result
from refdesk.loop.turns import Result
from refdesk.pipeline import Run
from refdesk.results import Results
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
    seconds: float = 0.0


@dataclass(slots=True, kw_only=True)
class Acting:
    """The tools of one loop, and what became of their calls."""

    run: Run
    """Of the loop; events name its path."""
    tools: Mapping[str, Tool]
    ending: frozenset[str]
    """Names of tools whose call ends the loop."""
    ledger: Ledger
    meter: Meter
    search_first: bool
    history: list[ToolUse] = field(default_factory=list)
    objected: bool = False
    """Whether an answer without any search was sent back."""

    async def act(
        self, calls: Sequence[ToolCall], iteration: int, part: Run
    ) -> tuple[tuple[Result, ...], Ending | None]:
        """Run the calls of a turn; return a result for each, and how the loop ends where one ends it."""
        planned: list[Planned] = []
        for call in calls:
            planned.append(self._plan(call, planned))
        work = [one for one in planned if not one.said]
        await in_order(lambda one: self._run(one, iteration, part), work, anyio.CapacityLimiter(AT_ONCE))
        results = tuple(self._settle(one, iteration) for one in planned)
        return results, next((one.returned for one in planned if isinstance(one.returned, Ending)), None)

    def _plan(self, call: ToolCall, before: Sequence[Planned]) -> Planned:
        """Decide whether a call is run, and read its arguments."""
        plan = Planned(call=call, tool=self.tools.get(call.name))
        if plan.tool is None:
            plan.outcome, plan.said = "error", self._unknown(call.name)
            plan.arguments = {"raw": call.arguments}
            self.meter.count(call.name, plan.arguments)
            return plan
        try:
            plan.values = arguments_of(plan.tool, call.arguments)
            plan.arguments = to_jsonable_python(plan.values, fallback=str, inf_nan_mode="strings")
        except ToolError as error:
            plan.outcome, plan.said, plan.arguments = "error", str(error), {"raw": call.arguments}
        left = self.meter.count(call.name, plan.arguments)
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
        if name == "answer" and name in self.ending and self.objects():
            return prompts.UNSEEN if before else prompts.UNSEARCHED
        if not left and name not in self.ending:
            return prompts.NO_CALLS_LEFT
        return prompts.NO_ACTION if plan.tool and plan.tool.acts and self.ledger.results else ""

    def objects(self) -> bool:
        """Tell whether an answer is sent back, since nothing was searched; that happens once."""
        if not self.search_first or self.objected or self.ledger.results or "search" not in self.tools:
            return False
        self.objected = True
        return True

    async def _run(self, plan: Planned, iteration: int, part: Run) -> None:
        """Run a call. What it raises becomes what the model is told, but for wrong settings."""
        assert plan.tool is not None
        name, began = plan.tool.name, time.perf_counter()
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
                plan.returned = _found(await plan.tool.run(**plan.values))
            except (SettingsError, MissingExtra):
                raise
            except Exception as error:  # a tool of the user's own may raise anything
                plan.outcome, plan.said = "error", _said(name, error)
                inner.warn(plan.said) if not isinstance(error, ToolError) else None
            outcome = "repeated" if isinstance(plan.returned, Again) else plan.outcome
            inner.measure(iteration=iteration, outcome=outcome, **_figures(plan))
        plan.seconds = time.perf_counter() - began

    def _settle(self, plan: Planned, iteration: int) -> Result:
        """Give what was found its numbers, note the call, and return what the model is told."""
        said = plan.said
        numbers: tuple[int, ...] = ()
        ids: tuple[str, ...] = ()
        match plan.returned:
            case Found() as found:
                noted = self.ledger.note(found)
                numbers, ids = noted.numbers, _ids(found)
                said = " ".join([found.said, *_remarks(noted, self.ledger.cap)])
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
                said, plan.outcome = _text(plan.call.name, returned)
        use = ToolUse(
            tool=plan.call.name,
            arguments=plan.arguments,
            iteration=iteration,
            call_id=plan.call.id,
            outcome=plan.outcome,
            summary=said,
            returned_chunk_ids=ids,
            seconds=plan.seconds,
        )
        self.note(use)
        return Result(call=plan.call, said=said, numbers=numbers)

    def note(self, use: ToolUse) -> None:
        """Put a call into the history, and tell of it."""
        self.history.append(use)
        self.run.emit(ToolFinished(run_id=self.run.run_id, path=self.run.path, use=use))


def _found(returned: Any) -> Any:
    """Return hits that a tool of the user's own found as passages, anything else as it is."""
    if isinstance(returned, Results):
        returned = returned.hits
    if isinstance(returned, Hit):
        returned = (returned,)
    if isinstance(returned, list | tuple) and returned and all(isinstance(one, Hit) for one in returned):
        return Found(hits=tuple(returned), said=f"Found {len(returned)} passages.")
    return returned


def _ids(found: Found) -> tuple[str, ...]:
    return tuple(dict.fromkeys(hit.chunk.chunk_id for hit in found.hits))


def _figures(plan: Planned) -> dict[str, Any]:
    found = plan.returned
    return {"query": found.query, "hits": len(found.hits)} if isinstance(found, Found) else {}


def _remarks(noted: Noted, cap: int) -> list[str]:
    """Say what did not stay."""
    said = []
    if noted.full:
        said.append(f"{noted.full} of them found no room: at most {cap} passages are kept.")
    if noted.dropped:
        gone = ", ".join(f"[[{number}]]" for number in noted.dropped)
        said.append(f"{gone} gave way to better ones; do not cite them any more.")
    return said


def _text(name: str, returned: Any) -> tuple[str, ToolOutcome]:
    try:
        return quoted(text_of_result(returned)), "done"
    except ToolError as error:
        return f"{name}: {error}", "error"


def _said(name: str, error: Exception) -> str:
    """Return what a model is told of a failure."""
    if isinstance(error, ToolError):
        return str(error)
    kind = "" if isinstance(error, RefdeskError) else f"{type(error).__name__}: "
    return f"{name} failed: {scrub(f'{kind}{error}')[:LONGEST_ERROR]}"


LONGEST_ERROR = 400
