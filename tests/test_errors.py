"""Errors travel between processes, and say what to do."""

import pickle

import pytest

from refdesk.errors import (
    InputError,
    LimitReached,
    LLMError,
    ParseError,
    PipelineError,
    Problem,
    RefdeskError,
    RemoteError,
    ReplyUnreadable,
    StepError,
)

PROBLEM = Problem(position="1", step="search", reason="It is wrong.", remedy="Mend it.", line=3)


@pytest.mark.parametrize(
    "error",
    [
        InputError("No.", remedy="Yes."),
        ParseError("No.", reason="encrypted"),
        RemoteError("No.", retryable=True),
        LLMError("No.", retryable=True),
        ReplyUnreadable("No.", reply="x"),
        StepError("No.", step="search", remedy="Yes."),
        LimitReached("No.", kind="run_seconds", limit=3),
        PipelineError([PROBLEM], name="own"),
    ],
)
def test_errors_can_be_pickled(error: RefdeskError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert again.__dict__ == error.__dict__


def test_a_problem_says_where() -> None:
    assert str(PROBLEM) == "step 1 (search), line 3: It is wrong. Mend it."
