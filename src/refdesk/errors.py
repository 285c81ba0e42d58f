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
    ├─ RemoteError            remote_failed        an HTTP model server; `.retryable`
    ├─ LLMError               llm_failed           a language model; `.retryable`
    └─ StoreError             store_failed
       └─ StoreLocked         store_locked         another process is writing

`code` is stable: the command line, the HTTP service and logs print it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar


class RefdeskError(Exception):
    """What was tried, with the value and what is allowed; `remedy` says what to do."""

    code: ClassVar[str] = "refdesk_error"

    def __init__(self, message: str, *, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}".rstrip()


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

    def __init__(self, message: str, *, retryable: bool, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.retryable = retryable


class LLMError(RefdeskError):
    """A language model failed to reply."""

    code = "llm_failed"

    def __init__(self, message: str, *, retryable: bool = False, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.retryable = retryable


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
