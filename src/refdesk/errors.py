"""Every error that refdesk raises on purpose, in one tree.

    RefdeskError              refdesk_error
    ├─ InputError             input_invalid        an argument that cannot be used
    ├─ SettingsError          settings_invalid     a settings file, variable or option
    ├─ MissingExtra           extra_missing        a package that an optional part needs
    ├─ NotFound               not_found            a collection, document or chunk
    ├─ SourceError            source_unreadable    a file, folder or record
    │  └─ ParseError          parse_failed         bytes that no parser could read; `.reason`
    ├─ ModelError             model_unavailable    weights that are missing, damaged or refused
    ├─ EmbeddingMismatch      embedding_mismatch   a collection made with another embedding space
    ├─ RemoteError            remote_failed        an HTTP model server; `.retryable`, `.status`
    ├─ LLMError               llm_failed           a language model; `.retryable`
    │  ├─ ContextTooLong      context_too_long     the prompt does not fit into the model's window
    │  └─ ReplyUnreadable     reply_unreadable     a reply that is not the JSON that was asked for; `.reply`
    ├─ PipelineError          pipeline_invalid     a pipeline that cannot run; `.problems`
    ├─ StepError              step_failed          a step whose worker failed or returned nonsense; `.step`
    ├─ ToolError              tool_failed          a mistake in a call of a tool, for the model to read
    ├─ LimitReached           limit_reached        a deadline or budget; `.kind`, `.limit`
    └─ StoreError             store_failed
       └─ StoreLocked         store_locked         another process is writing

`code` is stable: the command line, the HTTP service and logs print it.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar


class RefdeskError(Exception):
    """What was tried, with the value and what is allowed; `remedy` says what to do."""

    code: ClassVar[str] = "refdesk_error"

    def __init__(self, message: str, *, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}".rstrip()

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[RefdeskError], args: tuple[Any, ...], state: dict[str, Any]) -> RefdeskError:
    """Make an error again in another process, whatever its constructor asks for."""
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


class InputError(RefdeskError):
    """An argument of a call cannot be used."""

    code = "input_invalid"


class SettingsError(RefdeskError):
    """A setting has an unknown name or an impossible value."""

    code = "settings_invalid"


class MissingExtra(RefdeskError):
    """An optional part was asked for and its package is not installed."""

    code = "extra_missing"


class NotFound(RefdeskError):
    """A collection, document or chunk does not exist, or the asker may not see it."""

    code = "not_found"


class SourceError(RefdeskError):
    """A file, folder or record could not be read."""

    code = "source_unreadable"


class ParseError(SourceError):
    """Bytes could not be turned into text; `reason` is a stable word such as `encrypted`."""

    code = "parse_failed"

    def __init__(self, message: str, *, reason: str, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.reason = reason


class ModelError(RefdeskError):
    """Model weights are missing, damaged or not the ones that were pinned."""

    code = "model_unavailable"


class EmbeddingMismatch(RefdeskError):
    """A collection was embedded in another space than the embedder in use."""

    code = "embedding_mismatch"


class RemoteError(RefdeskError):
    """A model server answered with an error, or not at all."""

    code = "remote_failed"

    def __init__(self, message: str, *, retryable: bool, remedy: str = "", status: int | None = None) -> None:
        super().__init__(message, remedy=remedy)
        self.retryable = retryable
        self.status = status


class LLMError(RefdeskError):
    """A language model failed to reply."""

    code = "llm_failed"

    def __init__(self, message: str, *, retryable: bool = False, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.retryable = retryable


class ContextTooLong(LLMError):
    """A prompt does not fit into the model's window."""

    code = "context_too_long"


class ReplyUnreadable(LLMError):
    """A model's reply is not what was asked for, also after it was asked to repair it."""

    code = "reply_unreadable"

    def __init__(self, message: str, *, reply: str, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.reply = reply


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong with a pipeline, and where."""

    position: str
    """`3` for the third step, `3.1` for the first inside it; empty for the pipeline as a whole."""
    step: str
    """The step's name as it was written."""
    reason: str
    remedy: str
    line: int | None = None
    """Line of the file, from 1."""

    def __str__(self) -> str:
        line = f"line {self.line}" if self.line is not None else ""
        step = f"step {self.position} ({self.step})" if self.position else ""
        where = ", ".join(part for part in (step, line) if part)
        return f"{where}{': ' if where else ''}{self.reason} {self.remedy}".rstrip()


class PipelineError(RefdeskError):
    """A pipeline cannot run. Nothing was run; `problems` has all that is wrong with it."""

    code = "pipeline_invalid"

    def __init__(self, problems: Sequence[Problem], *, name: str = "") -> None:
        count = f"{len(problems)} problem{'s' if len(problems) != 1 else ''}"
        lines = "".join(f"\n- {problem}" for problem in problems)
        super().__init__(f"The pipeline{f' {name!r}' if name else ''} has {count}:{lines}")
        self.problems = tuple(problems)


class StepError(RefdeskError):
    """A step failed: its worker raised, or returned what cannot be used."""

    code = "step_failed"

    def __init__(self, message: str, *, step: str, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.step = step


class ToolError(RefdeskError):
    """A tool of a loop cannot do what its call asks for. The model is told, and goes on."""

    code = "tool_failed"


class LimitReached(RefdeskError):
    """A deadline or a budget ended the work. `limit` is in seconds or in the unit of the budget."""

    code = "limit_reached"

    def __init__(self, message: str, *, kind: str, limit: float, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.kind = kind
        self.limit = limit


class StoreError(RefdeskError):
    """The store could not read or write."""

    code = "store_failed"


class StoreLocked(StoreError):
    """Another process holds the write lock."""

    code = "store_locked"


@contextmanager
def plain_errors() -> Iterator[None]:
    """Raise the first error of a task group by itself, so that callers see the error and not the group."""
    try:
        yield
    except BaseExceptionGroup as group:
        first: BaseException = group
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        raise first from first.__cause__
