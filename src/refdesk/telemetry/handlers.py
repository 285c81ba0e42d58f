"""Handlers by the name of an event: `refdesk.pipeline.search.stop`, `refdesk.pipeline.*.exception`.

A step's events end with `start`, `stop` or `exception`, and so do those of its parts, such as
`refdesk.pipeline.answer.self_correct.stop` and a loop's `refdesk.pipeline.investigate.turn.stop`. Every call
of a tool is a `refdesk.pipeline.investigate.tool.stop`, also one that was refused. A request to a model ends
with `refdesk.llm.stop` or `refdesk.llm.exception`, a whole run with `refdesk.run.stop` or
`refdesk.run.exception`. Handlers are the process's; every record names its run, so runs at once can be told
apart.
"""

import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from refdesk.cleaning import visible
from refdesk.context import NO_USAGE, Measure, Usage
from refdesk.events import (
    Event,
    ModelCalled,
    RunFinished,
    RunStarted,
    StepFailed,
    StepFinished,
    StepStarted,
    ToolFinished,
)
from refdesk.telemetry.texts import as_text, figures

LOG = logging.getLogger("refdesk.telemetry")
PARTS = ("part", "round", "turn", "tool")
"""Kinds of what is traced inside a step."""
_NUMBER = re.compile(r"-\d+\Z")
_ROUND = re.compile(r"\d+\Z")
_TURN = re.compile(r"turn-\d+\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What a handler is told of one event."""

    name: str
    run_id: str
    path: tuple[str, ...] = ()
    outcome: str = ""
    """Empty at a start."""
    seconds: float | None = None
    measures: Mapping[str, Measure] = field(default_factory=dict)
    """Figures and, where the handler asked for them, texts."""
    usage: Usage = NO_USAGE
    model: str = ""
    error: BaseException | None = None


Handler = Callable[[Record], None]


@dataclass(frozen=True, slots=True, eq=False)
class Handle:
    """An attached handler."""

    pattern: str
    handler: Handler
    texts: bool


_attached: list[Handle] = []


def attach(pattern: str, handler: Handler, *, texts: bool = False) -> Handle:
    """Call a function for each event whose name fits a pattern with `*`, until it is detached.

    Questions, queries and other texts are in `measures` only with `texts`. A handler that raises is detached,
    with a line in the log; the run goes on.
    """
    handle = Handle(pattern, handler, texts)
    _attached.append(handle)
    return handle


def detach(handle: Handle) -> None:
    """Stop calling a handler; one that is not attached is passed over."""
    if handle in _attached:
        _attached.remove(handle)


def tell(event: Event) -> None:
    """Call the handlers that an event concerns. It is a listener of every run of a desk."""
    if not _attached or (record := _record(event)) is None:
        return
    for handle in tuple(_attached):
        if fnmatchcase(record.name, handle.pattern):
            _call(handle, record)


def _call(handle: Handle, record: Record) -> None:
    try:
        handle.handler(record if handle.texts else replace(record, measures=figures(record.measures)))
    except Exception:
        detach(handle)
        LOG.exception("The handler of %r failed at %s and was detached.", handle.pattern, record.name)


def _record(event: Event) -> Record | None:
    """Return what handlers are told of an event, None for one that has no name."""
    match event:
        case StepStarted(kind="tool") | StepFinished(kind="tool"):
            return None  # what came of it is known a moment later
        case ToolFinished():
            return _of_call(event)
        case StepStarted():
            return Record(
                name=_name(event, "start"), run_id=event.run_id, path=event.path, measures=event.facts
            )
        case StepFinished() | StepFailed():
            failed = isinstance(event, StepFailed)
            return Record(
                name=_name(event, "exception" if failed else "stop"),
                run_id=event.run_id,
                path=event.path,
                outcome=event.outcome,
                seconds=event.seconds,
                measures=event.measures,
                usage=event.usage,
                error=event.error if isinstance(event, StepFailed) else None,
            )
        case ModelCalled():
            failed, broken_off = isinstance(event.error, Exception), event.error is not None
            return Record(
                name=f"refdesk.llm.{'exception' if failed else 'stop'}",
                run_id=event.run_id,
                path=event.path,
                outcome="stopped" if failed else "cancelled" if broken_off else "done",
                seconds=event.seconds,
                usage=event.usage,
                model=event.model,
                error=event.error if failed else None,
            )
        case RunStarted():
            return Record(name="refdesk.run.start", run_id=event.run_id)
        case RunFinished():
            return Record(
                name=f"refdesk.run.{'exception' if event.error else 'stop'}",
                run_id=event.run_id,
                outcome=event.outcome,
                seconds=event.seconds,
                usage=event.usage,
                error=event.error,
            )
    return None


def _of_call(event: ToolFinished) -> Record:
    use = event.use
    return Record(
        name=f"refdesk.pipeline.{_plain(event.path[-1])}.tool.stop",
        run_id=event.run_id,
        path=event.path,
        outcome=use.outcome,
        seconds=use.seconds,
        measures={
            "tool": visible(use.tool),
            "iteration": use.iteration,
            "call_id": visible(use.call_id),
            "hits": len(use.returned_chunk_ids),
            "arguments": as_text(use.arguments),
            "summary": visible(use.summary),
        },
    )


def _name(event: StepStarted | StepFinished | StepFailed, ending: str) -> str:
    """Return the name of a step's event; one of a part has the step's name before its own."""
    label = "tool" if event.kind == "tool" else _plain(event.path[-1])
    if event.kind in PARTS and len(event.path) > 1:
        label = f"{_plain(_owner(event.path))}.{label}"
    return f"refdesk.pipeline.{label}.{ending}"


def _owner(path: tuple[str, ...]) -> str:
    """Return the name of the step that a part belongs to; parts of a turn belong to the loop."""
    around = path[-2]
    return path[-3] if len(path) > 2 and _TURN.match(around) else around


def _plain(label: str) -> str:
    return "round" if _ROUND.match(label) else _NUMBER.sub("", label)
