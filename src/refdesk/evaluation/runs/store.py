"""Runs that are kept: a folder each, with `run.json` (what it is and how it ended) and `cases.jsonl`."""

import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from refdesk.errors import InputError, NotFound, RefdeskError, StoreLocked
from refdesk.evaluation.runs import runlock
from refdesk.evaluation.runs.outcomes import CaseOutcome, Run, RunHeader, RunStatus
from refdesk.evaluation.runs.runlines import (
    HEAD,
    LINES,
    Head,
    cut_to_whole_lines,
    line_of,
    read_head,
    read_outcomes,
    unwritable,
    write_head,
)
from refdesk.places import files_beside
from refdesk.settings import Settings

NAME = re.compile(r"\w[\w.+=@-]{0,99}")
KILLED = "Its process ended without a word: it was killed, or the machine stopped."
FIXED = ("data", "split", "data_digest", "cases", "pipeline_yaml", "settings", "options", "versions", "seed")
"""Fields of a header that a resumed run has to have in common with what is stored."""


def default_folder(settings: Settings) -> Path:
    """Return where the runs of a library are kept."""
    return files_beside(settings.library) / "evaluations"


class BrokenOff(Exception):
    """Whoever asks for a run wants no more of it now; it is interrupted, and has not failed."""


@dataclass(frozen=True, slots=True)
class RunStore:
    """A folder of runs."""

    folder: Path

    def names(self) -> tuple[str, ...]:
        """Return the names of all runs, sorted."""
        return tuple(sorted(path.parent.name for path in self.folder.glob(f"*/{HEAD}")))

    def read(self, name: str) -> Run:
        """Return a run as it is now. Errors: `NotFound` with the nearest name, `StoreError`.

        One whose process is gone before it came to its end is crashed, whatever the file says.
        """
        folder = self._known(name)
        head = read_head(folder)
        if head.status == "running" and not runlock.is_held(folder):
            head = read_head(folder)  # it may have ended meanwhile
            if head.status == "running":
                head = replace(head, status="crashed", error=KILLED)
        return Run(
            header=head.header,
            status=head.status,
            outcomes=read_outcomes(folder),
            error=head.error,
            finished=head.finished,
        )

    def check(self, name: str, *, resume: bool = False) -> None:
        """Refuse a name that cannot be used, or is taken. Errors: `InputError`."""
        if not NAME.fullmatch(name):
            raise InputError(
                f"A run cannot be called {name!r}.",
                remedy="Use letters, digits and . _ + = @ -, at most 100, beginning with a letter or digit.",
            )
        if not resume and name in self.names():
            raise InputError(
                f"There is a run {name!r} already in {str(self.folder)!r}.",
                remedy="Give another name, go on with it (--resume), or remove it.",
            )

    def begin(self, header: RunHeader, *, resume: bool = False) -> "OpenRun":
        """Begin a run, or with `resume` go on with it; one that is not there yet begins.

        Errors: `InputError` for a name that is taken, or with `resume` where what is stored is a run of
        something else; `StoreLocked` where a process writes it now; `StoreError`.
        """
        self.check(header.name, resume=resume)
        folder = self.folder / header.name
        descriptor = _locked(folder)
        try:
            self.check(header.name, resume=resume)  # another process may have been faster
            known: Mapping[str, CaseOutcome] = {}
            if (folder / HEAD).exists():
                header = _agreed(read_head(folder).header, header)
                known = read_outcomes(folder)
            return OpenRun(folder, header, known, descriptor)
        except BaseException:
            runlock.release(descriptor)
            raise

    def remove(self, name: str) -> None:
        """Delete a run. Errors: `NotFound`, `StoreLocked` where a process writes it, `StoreError`."""
        folder = self._known(name)
        descriptor = _locked(folder)
        try:
            shutil.rmtree(folder)
        except OSError as error:
            raise unwritable(folder, error) from error
        finally:
            runlock.release(descriptor)

    def _known(self, name: str) -> Path:
        names = self.names()
        if name in names:
            return self.folder / name
        near = get_close_matches(name, names, 1)
        there = f"Runs there: {', '.join(names[:10])}." if names else "There are no runs."
        raise NotFound(
            f"There is no run {name!r} in {str(self.folder)!r}.",
            remedy=f"Did you mean {near[0]!r}?" if near else there,
        )


class OpenRun:
    """A run that is being written. As a context it is finished at its end: done, interrupted or crashed."""

    def __init__(
        self, folder: Path, header: RunHeader, known: Mapping[str, CaseOutcome], descriptor: int
    ) -> None:
        self.header = header
        self.known = {name: one for name, one in known.items() if not one.error}
        """Outcomes by case id that need not be asked again; cases that failed are."""
        self._folder, self._descriptor = folder, descriptor
        self._open = True
        try:
            cut_to_whole_lines(folder / LINES)
            self._file = (folder / LINES).open("ab")
        except OSError as error:
            raise unwritable(folder / LINES, error) from error
        write_head(folder, Head(header=header, status="running"))

    def add(self, outcome: CaseOutcome) -> None:
        """Keep an outcome, at once; one that is known already costs nothing. Errors: `StoreError`."""
        if self.known.get(outcome.case_id) == outcome:
            return
        try:
            self._file.write(line_of(outcome))
            self._file.flush()
        except OSError as error:
            raise unwritable(self._folder / LINES, error) from error

    def finish(self, status: RunStatus, error: str = "") -> None:
        """Say how it ended, and let go of it. A second call does nothing."""
        if not self._open:
            return
        self._open = False
        try:
            self._file.close()
            now = datetime.now(UTC).isoformat(timespec="seconds")
            write_head(self._folder, Head(header=self.header, status=status, error=error, finished=now))
        finally:
            runlock.release(self._descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if error is None:
            self.finish("done")
        elif isinstance(error, Exception) and not isinstance(error, BrokenOff):
            self.finish("crashed", said(error))
        else:
            self.finish("interrupted", "It was broken off.")


def said(error: BaseException) -> str:
    """Return an error in words: our own as they are, others with their kind."""
    return str(error) if isinstance(error, RefdeskError) else f"{type(error).__name__}: {error}".rstrip(": ")


def _locked(folder: Path) -> int:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = runlock.acquire(folder)
    except OSError as error:
        raise unwritable(folder, error) from error
    if descriptor is None:
        raise StoreLocked(
            f"Another process writes the run {folder.name!r} now.",
            remedy="Wait until it is done, stop it, or give this run another name.",
        )
    return descriptor


def _agreed(stored: RunHeader, wanted: RunHeader) -> RunHeader:
    """Return the header that goes on. Errors: `InputError`."""
    there, now = _plain(stored), _plain(wanted)
    if differing := [one for one in FIXED if there[one] != now[one]]:
        told = "; ".join(_difference(one, there[one], now[one]) for one in differing)
        raise InputError(
            f"The run {stored.name!r} cannot be resumed, since it is of something else: {told}.",
            remedy="Call it as it was begun, or give another name.",
        )
    return stored


def _plain(header: RunHeader) -> dict[str, Any]:
    """Return a header as it comes back from a file."""
    plain: dict[str, Any] = json.loads(json.dumps(asdict(header)))
    return plain


def _difference(name: str, stored: object, wanted: object) -> str:
    if isinstance(stored, Mapping) and isinstance(wanted, Mapping):
        keys = [key for key in {**stored, **wanted} if stored.get(key) != wanted.get(key)]
        return ", ".join(f"{key} was {stored.get(key)!r:.60} and is {wanted.get(key)!r:.60}" for key in keys)
    if name == "pipeline_yaml":
        return "the pipeline differs"
    return f"{name} was {stored!r:.60} and is {wanted!r:.60}"
