"""Runs as files: a header with its status as JSON, outcomes as JSON lines, read back as what they were."""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from refdesk.errors import StoreError
from refdesk.evaluation.runs.outcomes import CaseOutcome, RunHeader, RunStatus

HEAD = "run.json"
LINES = "cases.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What `run.json` holds."""

    header: RunHeader
    status: RunStatus
    error: str = ""
    finished: str = ""


_HEAD = TypeAdapter(Head)
_OUTCOME = TypeAdapter(CaseOutcome)


def read_head(folder: Path) -> Head:
    """Read the header of a run. Errors: `StoreError` where it is none."""
    path = folder / HEAD
    try:
        return _HEAD.validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise _unreadable(path, error) from error


def write_head(folder: Path, head: Head) -> None:
    """Write the header of a run, whole or not at all. Errors: `StoreError`."""
    path = folder / HEAD
    try:
        fresh = path.with_name(f"{HEAD}.{os.getpid()}")
        text = json.dumps(asdict(head), ensure_ascii=False, indent=1, allow_nan=False)
        fresh.write_text(text, "utf-8", errors="replace")
        fresh.replace(path)
    except OSError as error:
        raise unwritable(path, error) from error


def line_of(outcome: CaseOutcome) -> bytes:
    """Return an outcome as a line. Errors: `ValueError` for a measure that is no number."""
    text = json.dumps(asdict(outcome), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "replace") + b"\n"


def read_outcomes(folder: Path) -> Mapping[str, CaseOutcome]:
    """Read outcomes by case, of several of one case the last. Errors: `StoreError` for a damaged line.

    A last line that was cut off, since the process was killed while it wrote, is left out.
    """
    path = folder / LINES
    try:
        content = path.read_bytes() if path.exists() else b""
    except OSError as error:
        raise _unreadable(path, error) from error
    return {one.case_id: one for one in _outcomes(path, content)}


def _outcomes(path: Path, content: bytes) -> Iterator[CaseOutcome]:
    whole = content.rpartition(b"\n")[0]
    for number, line in enumerate(whole.split(b"\n") if whole else (), 1):
        try:
            yield _OUTCOME.validate_json(line)
        except ValidationError as error:
            raise _unreadable(path, error, line=number) from error


def cut_to_whole_lines(path: Path) -> None:
    """Take away a last line that was cut off. Errors: `OSError`."""
    with path.open("ab+") as file:
        file.seek(0)
        file.truncate(file.read().rfind(b"\n") + 1)


def _unreadable(path: Path, error: Exception, *, line: int | None = None) -> StoreError:
    where = f"line {line} of " if line else ""
    said = str(error)
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        said = f"{'.'.join(map(str, first['loc'])) or 'it'}: {first['msg']}"
    return StoreError(
        f"The run in {str(path.parent)!r} cannot be read: {where}{path.name}: {said}.",
        remedy="Mend the file, or remove the run.",
    )


def unwritable(path: Path, error: OSError) -> StoreError:
    """Say that a file of a run cannot be written."""
    return StoreError(
        f"Cannot write {str(path)!r}: {error.strerror or error}.",
        remedy="Check the folder and its free space.",
    )
