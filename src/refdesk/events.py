"""What happens during long work, as values that the terminal, logs and streams read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from refdesk.context import NO_USAGE, Answer, Citation, Context, Measure, StepOutcome, Usage
from refdesk.errors import RefdeskError
from refdesk.tooluse import TerminatedBy, ToolUse

Outcome = Literal["added", "updated", "unchanged", "skipped", "failed", "removed"]
"""`skipped`: nothing to index in it (no text, or a format without text), which is no error."""


@dataclass(frozen=True, slots=True)
class IngestStarted:
    """Ingestion knows how many sources there are."""

    collection: str
    total: int


@dataclass(frozen=True, slots=True)
class SourceFinished:
    """One source is done; `reason` and `message` say why where it failed."""

    source_id: str
    outcome: Outcome
    chunks: int = 0
    reason: str = ""
    message: str = ""


IngestEvent = IngestStarted | SourceFinished


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the answer's text; all pieces joined are `answer.text`."""

    text: str


@dataclass(frozen=True, slots=True)
class Done:
    """The answer is complete."""

    answer: Answer
    context: Context | None = None
    """All that a pipeline noted on the way to it."""


@dataclass(frozen=True, slots=True)
class Citations:
    """The citations of the answer are checked."""

    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class Invitation:
    """What the house says below the answer, which is no part of its text."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StepStarted:
    """A step of a run began. `path` leads from the pipeline to the step."""

    run_id: str
    path: tuple[str, ...]
    kind: str
    facts: Mapping[str, Measure] = field(default_factory=dict)
    """What the step is given, as telemetry may show it: counts and names, no texts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFinished:
    """A step ended well, had nothing to do (`skipped`), or was broken off (`cancelled`)."""

    run_id: str
    path: tuple[str, ...]
    kind: str
    outcome: StepOutcome
    seconds: float
    measures: Mapping[str, Measure] = field(default_factory=dict)
    usage: Usage = NO_USAGE


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFailed:
    """A step failed; by its policy the run `stopped` or `continued`."""

    run_id: str
    path: tuple[str, ...]
    kind: str
    outcome: StepOutcome
    seconds: float
    error: RefdeskError
    measures: Mapping[str, Measure] = field(default_factory=dict)
    usage: Usage = NO_USAGE


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCalled:
    """A request to a language model ended, well or not. `path` leads to the step that made it."""

    run_id: str
    path: tuple[str, ...]
    model: str
    seconds: float
    usage: Usage
    error: BaseException | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    """A pipeline begins to work on a question."""

    run_id: str
    pipeline: str
    """Its name, empty for one made in code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFinished:
    """The pipeline is through, has stopped with an error, or was broken off (`cancelled`)."""

    run_id: str
    pipeline: str
    outcome: StepOutcome
    seconds: float
    usage: Usage = NO_USAGE
    error: RefdeskError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStarted:
    """A loop begins to run a tool. `path` leads to the loop."""

    run_id: str
    path: tuple[str, ...]
    iteration: int
    call_id: str
    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFinished:
    """A tool of a loop was run, or was not, see its outcome; also for calls that were never started."""

    run_id: str
    path: tuple[str, ...]
    use: ToolUse


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopFinished:
    """A loop has ended, also where it was broken off."""

    run_id: str
    path: tuple[str, ...]
    terminated_by: TerminatedBy
    iterations: int
    tool_history: tuple[ToolUse, ...] = ()


AnswerEvent = Token | Done
"""What an answerer gives."""

StepEvent = StepStarted | StepFinished | StepFailed
LoopEvent = ToolStarted | ToolFinished | LoopFinished

Event = RunStarted | RunFinished | StepEvent | LoopEvent | ModelCalled | Token | Citations | Invitation | Done
"""What a run gives."""

Sink = Callable[[Event], None]
