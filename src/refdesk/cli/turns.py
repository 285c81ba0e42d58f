"""What an agentic loop does, while it does it: turns, calls of tools, what came of them, how it ended.

Names of tools, arguments and results are texts of models and documents: each is cleaned, and kept to a line.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from refdesk.cleaning import visible
from refdesk.cli.terminal import clean, one_line, say
from refdesk.cli.traces import requests
from refdesk.context import NO_USAGE, Measure, Usage
from refdesk.events import (
    Event,
    LoopFinished,
    ModelCalled,
    StepFinished,
    StepStarted,
    ToolFinished,
    ToolStarted,
)
from refdesk.tooluse import TerminatedBy, ToolUse

if TYPE_CHECKING:
    from rich.console import Console

LONGEST = 160
"""Characters of a call, and of what came of it, that are shown; JSON has all of them."""
LONGEST_TEXT = 120
LONGEST_VALUE = 40
ENOUGH = 4000
"""Characters of a text that are looked at."""
PLAIN = ("query", "text", "reason")
"""Arguments that are shown without their names."""
RAW = "raw"
"""Where there is what could not be read."""
SYNTHESIS = "synthesis"
"""No tool of the model's: the answer that is made of what was found, after the loop has come to a limit."""
ENDING_TOOLS = ("answer", "give_up")
"""What came of them is how the loop ends."""
ENDINGS: Mapping[TerminatedBy, str] = {
    "answered": "answered",
    "gave_up": "gave up",
    "max_iterations": "ran out of turns",
    "budget": "stopped at a limit",
    "error": "ended by an error",
    "cancelled": "broken off",
}
_TURN = re.compile(r"turn-(\d+)\Z")


@dataclass(frozen=True, slots=True)
class Line:
    """A line for people."""

    text: str
    indent: int = 0
    style: str = ""


def show(console: "Console", lines: Iterable[Line]) -> None:
    """Print lines. Where nobody reads them any more, the run goes on."""
    for line in lines:
        with suppress(OSError):
            say(console, line.text, line.style, indent=line.indent)


@dataclass(slots=True, eq=False)
class _Call:
    """A call that was shown."""

    id: str
    tool: str
    text: str


@dataclass(slots=True)
class _Loop:
    """A loop, as far as it was told."""

    name: str
    """Stands before its turns where it is not the first of the run."""
    turn: int = 0
    calls: int = 0
    """In this turn."""
    running: list[_Call] = field(default_factory=list)
    found: set[str] = field(default_factory=set)

    def begin(self, turn: int) -> Iterator[Line]:
        """Tell a turn, once."""
        if turn > self.turn:
            self.turn, self.calls = turn, 0
            yield Line(f"{self.name}turn {turn}", style="bold")

    def ended(self, use: ToolUse) -> _Call | None:
        """Return the call that a use was, None where it was never started."""
        call = next((one for one in self.running if (one.id, one.tool) == (use.call_id, use.tool)), None)
        if call is not None:
            self.running.remove(call)
        return call

    def news(self, use: ToolUse) -> int:
        """Count the chunks that nothing found before."""
        known = len(self.found)
        self.found.update(use.returned_chunk_ids)
        return len(self.found) - known


class Turns:
    """Makes lines of the events of a run. A run without loops has none."""

    def __init__(self) -> None:
        self._loops: dict[tuple[str, ...], _Loop] = {}
        self._usages: list[tuple[tuple[str, ...], Usage]] = []
        self._last: _Call | None = None
        """The call that the line above is about."""

    def lines(self, event: Event) -> Iterator[Line]:
        """Yield what an event tells."""
        match event:
            case ModelCalled():
                self._usages.append((event.path, event.usage))
            case StepStarted(kind="turn") if found := _TURN.match(event.path[-1]):
                yield from self._loop(event.path[:-1]).begin(int(found[1]))
            case StepFinished(kind="turn", outcome="done"):
                if not self._loop(event.path[:-1]).calls:
                    yield Line(f"no tool was called{_sent_back(event.measures)}", 2, "dim")
            case ToolStarted():
                loop = self._loop(event.path)
                yield from loop.begin(event.iteration)
                call = _Call(event.call_id, event.tool, call_text(event.tool, event.arguments))
                loop.running.append(call)
                yield self._called(loop, call)
            case ToolFinished():
                yield from self._finished(self._loop(event.path), event.use)
            case LoopFinished():
                yield Line(self._loop(event.path).name + ending(event, self._used(event.path)), style="bold")

    def _loop(self, path: tuple[str, ...]) -> _Loop:
        if path not in self._loops:
            self._loops[path] = _Loop(f"{' / '.join(map(shown, path))}: " if self._loops else "")
        return self._loops[path]

    def _called(self, loop: _Loop, call: _Call) -> Line:
        loop.calls += 1
        self._last = call
        return Line(call.text, 2)

    def _finished(self, loop: _Loop, use: ToolUse) -> Iterator[Line]:
        if use.tool == SYNTHESIS and not loop.running:
            yield Line(f"{loop.name}an answer from what was found: {shown(use.summary)}", style="dim")
            return
        yield from loop.begin(use.iteration)
        call = loop.ended(use)
        if call is None:
            call = _Call(use.call_id, use.tool, call_text(use.tool, use.arguments))
            yield self._called(loop, call)
        if came := outcome_text(use, loop.news(use)):
            about = "" if call is self._last else f"{one_line(call.text, LONGEST_TEXT)} — "
            yield Line(about + came, 4, "dim" if use.outcome in ("done", "repeated") else "yellow")
        self._last = None

    def _used(self, path: tuple[str, ...]) -> Usage:
        return sum((usage for made, usage in self._usages if made[: len(path)] == path), NO_USAGE)


def call_text(tool: str, arguments: Mapping[str, Any]) -> str:
    """Return a call as a line: `search "who directed the film" in packages`."""
    texts = {name: arguments[name] for name in PLAIN if isinstance(arguments.get(name), str)}
    place, raw = arguments.get("collection"), arguments.get(RAW)
    named = {
        **texts,
        **({"collection": place} if isinstance(place, str) else {}),
        **({RAW: raw} if isinstance(raw, str) else {}),
    }
    words = [
        shown(tool, LONGEST_VALUE) or "(no name)",
        *map(_quoted, texts.values()),
        shown(raw, LONGEST_TEXT) if isinstance(raw, str) else "",
        f"in {shown(place, LONGEST_VALUE)}" if isinstance(place, str) else "",
        ", ".join(
            f"{shown(name, LONGEST_VALUE)}={_value(value)}"
            for name, value in arguments.items()
            if value is not None and name not in named
        ),
    ]
    return one_line(" ".join(words), LONGEST)


def outcome_text(use: ToolUse, new: int) -> str:
    """Return what came of a call; empty where the end of the loop says it."""
    said = shown(use.summary)
    found = len(use.returned_chunk_ids)
    match use.outcome:
        case "error":
            return f"error: {said}"
        case "repeated":
            return "asked before"
        case "refused":
            return f"refused: {said}"
    if use.tool in ENDING_TOOLS:
        return ""
    if found:
        return f"{found} passage{'s' if found != 1 else ''}, {new} new: {duration(use.seconds)}"
    return f"{'nothing found' if use.tool in ('search', 'read') else said or 'done'}: {duration(use.seconds)}"


def ending(event: LoopFinished, usage: Usage) -> str:
    """Return how a loop ended, and what it took."""
    turns = f"{event.iterations} turn{'s' if event.iterations != 1 else ''}"
    calls = sum(use.tool != SYNTHESIS for use in event.tool_history)
    figures = [f"{calls} call{'s' if calls != 1 else ''}", *([requests(usage)] if usage.requests else [])]
    return f"{ENDINGS[event.terminated_by]} after {turns}: {', '.join(figures)}"


def duration(seconds: float) -> str:
    """Return a time in the unit that suits it."""
    return f"{seconds:,.1f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms"


def shown(text: str, limit: int = LONGEST) -> str:
    """Return the beginning of a text on one line, without what steers, hides or turns around."""
    return one_line(visible(clean(text[:ENOUGH])), limit)


def _sent_back(measures: Mapping[str, Measure]) -> str:
    remark = measures.get("remark")
    return (
        f"; the model is told: {shown(remark)}" if isinstance(remark, str) else ": its words are the answer"
    )


def _quoted(text: str) -> str:
    return '"' + shown(text, LONGEST_TEXT).replace('"', '\\"') + '"'


def _value(value: Any) -> str:
    try:
        return shown(json.dumps(value, ensure_ascii=False, default=str), LONGEST_VALUE)
    except (RecursionError, TypeError, ValueError):
        return "…"
