"""Exit codes, and the one line on stderr that an error is."""

import sys
import traceback
from enum import IntEnum
from typing import TextIO

from refdesk.cli.terminal import clean, one_line
from refdesk.errors import PipelineError, RefdeskError


class ExitCode(IntEnum):
    """How a command ended. The numbers are stable; each member's `meaning` is what the docs say."""

    meaning: str

    def __new__(cls, number: int, meaning: str) -> "ExitCode":
        member = int.__new__(cls, number)
        member._value_ = number
        member.meaning = meaning
        return member

    OK = 0, "Done. A refused answer or a search without hits is also done."
    ERROR = 1, "Failed; stderr has one line `error [code]: ...` that says what to do."
    USAGE = 2, "The command line cannot be used: an unknown option, a missing argument, a wrong option value."
    PARTLY = 3, "Ingestion went to its end, but some sources failed; the summary lists them."
    INTERRUPTED = 130, "Stopped by Ctrl-C; what was reported as stored is stored."


def report(error: BaseException, *, verbose: bool, stream: TextIO | None = None) -> ExitCode:
    """Print an error, after its traceback where `verbose`, and return the exit code."""
    stream = stream or sys.stderr
    error = innermost(error)
    if verbose:
        stream.write(clean("".join(traceback.format_exception(error))))
    stream.write(error_line(error, verbose=verbose) + "\n")
    return ExitCode.ERROR


def error_line(error: BaseException, *, verbose: bool = False) -> str:
    """Return `error [code]: message remedy`; of a pipeline, each problem on a line of its own."""
    if isinstance(error, PipelineError):
        return f"error [{error.code}]: " + "\n".join(map(one_line, str(error).splitlines()))
    if isinstance(error, RefdeskError):
        return f"error [{error.code}]: {one_line(str(error))}"
    ask = "Please report this" if verbose else "Please report this, with what the same command prints with -v"
    what = ": ".join(filter(None, (type(error).__name__, one_line(str(error)).rstrip("."))))
    return f"error [unexpected]: {what}. {ask}."


def usage_line(message: str, command: str) -> str:
    """Return the line for a command line that cannot be used."""
    text = one_line(message).replace("Value error, ", "")
    return f"error [usage]: {text if text.endswith(('.', '?', '!')) else text + '.'} Run: {command} --help."


def innermost(error: BaseException) -> BaseException:
    """Take an error out of groups that hold nothing else."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error
