"""Check what workers and models return, so that nonsense becomes an error of the step."""

from typing import Any

from refdesk.errors import StepError
from refdesk.pipeline import Step

LONGEST_QUERY = 2000
"""Characters; a longer query is an answer, or noise."""


def text_of(value: Any, step: Step, what: str) -> str:
    """Return a text without the white space around it. Errors: `StepError` where it is none, or blank."""
    if isinstance(value, str) and value.strip():
        return value.strip()
    raise StepError(
        f"The step {step.label!r} got {value!r:.80} as its {what}; text that is not blank is allowed.",
        step=step.label,
        remedy=f"Make the {step.worker or 'implementation'} return text.",
    )


def one_line(value: Any, step: Step, what: str) -> str:
    """Return the first line of a text, without quotes around it. Errors: `StepError`."""
    line = text_of(value, step, what).splitlines()[0].strip().strip("\"'`").strip()
    if len(line) > LONGEST_QUERY:
        raise StepError(
            f"The step {step.label!r} got {len(line)} characters as its {what}; {LONGEST_QUERY} are allowed.",
            step=step.label,
        )
    return text_of(line, step, what)
