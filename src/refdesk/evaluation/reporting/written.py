"""The report as a file, and the values behind it."""

import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from refdesk.errors import InputError
from refdesk.evaluation.reporting.cases import gathered
from refdesk.evaluation.reporting.page import CASES, render
from refdesk.evaluation.reporting.pairs import compared
from refdesk.evaluation.reporting.summary import summarise
from refdesk.evaluation.reporting.verdicts import criteria
from refdesk.evaluation.runs.outcomes import Run

SUFFIXES = (".html", ".htm")


def check_target(path: str | os.PathLike[str]) -> None:
    """Check before any work that a report can be written there. Errors: `InputError`."""
    target = Path(path)
    if target.suffix.lower() not in SUFFIXES:
        raise InputError(
            f"A report cannot be called {str(target)!r}.", remedy=f"Give a name with {' or '.join(SUFFIXES)}."
        )
    if not target.absolute().parent.is_dir():
        raise InputError(f"The folder of the report {str(target)!r} does not exist.", remedy="Make it first.")


def write_report(runs: Sequence[Run], path: str | os.PathLike[str], *, most: int = CASES) -> int:
    """Write a page about runs, and return its size in bytes; `most` cases are shown one by one.

    Errors: `InputError` for another ending than .html, for a folder that is not there or not writable.
    """
    check_target(path)
    content = render(runs, most=most).encode()
    try:
        Path(path).write_bytes(content)
    except OSError as error:
        raise InputError(
            f"Cannot write the report {os.fspath(path)!r}: {error.strerror or error}.",
            remedy="Check the folder and its free space.",
        ) from error
    return len(content)


def report_record(runs: Sequence[Run]) -> dict[str, Any]:
    """Return what a report shows as plain values: runs, comparisons with the first one, every case."""
    good = criteria(runs)
    comparisons = compared(runs) if len(runs) > 1 else []
    return {
        "runs": [summarise(run, good).to_json() for run in runs],
        "comparisons": [one.to_json() for one in comparisons],
        "cases": [
            {
                "case_id": one.known.case_id,
                "question": one.known.question,
                "changed": one.changed,
                "gain": one.gain,
                "went": one.states,
                "outcomes": [asdict(outcome) if outcome else None for outcome in one.outcomes],
            }
            for one in gathered(runs, good, comparisons)
        ],
    }
