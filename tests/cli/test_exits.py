"""Errors are one line that says what to do."""

import io

import pytest

from refdesk.cli.exits import ExitCode, report, usage_line
from refdesk.errors import NotFound


def reported(error: BaseException, *, verbose: bool = False) -> str:
    stream = io.StringIO()
    assert report(error, verbose=verbose, stream=stream) == ExitCode.ERROR
    return stream.getvalue()


def test_one_line_with_code_and_remedy() -> None:
    error = NotFound("No collection\n'a\x1b[31mb'.", remedy="Run: refdesk collections list.")
    assert reported(error) == "error [not_found]: No collection 'ab'. Run: refdesk collections list.\n"


def test_an_error_is_taken_out_of_its_groups() -> None:
    group = ExceptionGroup("tasks", [ExceptionGroup("tasks", [NotFound("No such thing.")])])
    assert reported(group) == "error [not_found]: No such thing.\n"


def test_an_unexpected_error_asks_for_a_report() -> None:
    line = reported(KeyError("x"))
    assert line.startswith("error [unexpected]: KeyError: 'x'. Please report this")
    assert line.count("\n") == 1
    assert reported(RuntimeError()).startswith("error [unexpected]: RuntimeError. Please")


def test_verbose_has_the_traceback_first_and_the_line_last() -> None:
    try:
        raise NotFound("gone \x1b[2J")
    except NotFound as error:
        text = reported(error, verbose=True)
    assert text.startswith("Traceback")
    assert text.splitlines()[-1] == "error [not_found]: gone"
    assert "\x1b" not in text


@pytest.mark.parametrize("message", ["Missing command.", "Missing command"])
def test_usage_names_the_help(message: str) -> None:
    expected = "error [usage]: Missing command. Run: refdesk documents --help."
    assert usage_line(message, "refdesk documents") == expected


def test_the_numbers_are_stable() -> None:
    assert {code.name: code.value for code in ExitCode} == {
        "OK": 0,
        "ERROR": 1,
        "USAGE": 2,
        "PARTLY": 3,
        "INTERRUPTED": 130,
    }
    assert all(code.meaning for code in ExitCode)
