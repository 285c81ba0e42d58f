"""`refdesk ingest --watch`: stay, and ingest again after each burst of changes, databases in intervals."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from watchfiles import DefaultFilter, awatch

from refdesk.cli.exits import innermost, report
from refdesk.cli.jobs import Job
from refdesk.errors import InputError, RefdeskError
from refdesk.places import files_beside

if TYPE_CHECKING:
    from refdesk.desk import Desk

DEBOUNCE = 1000
"""Milliseconds for which changes are gathered."""


class Changes:
    """Remembers that something changed, also while an ingestion is at work."""

    def __init__(self) -> None:
        self.seen = anyio.Event()

    async def listen(self, paths: Sequence[Path], library: Path) -> None:
        """Watch until cancelled; the library itself does not count."""
        filter = DefaultFilter(ignore_paths=[library])
        async for _ in awatch(*paths, watch_filter=filter, debounce=DEBOUNCE):
            self.seen.set()

    async def wait(self, seconds: float | None) -> None:
        """Wait for a change, or for so many seconds."""
        with anyio.move_on_after(seconds):
            await self.seen.wait()
        self.seen = anyio.Event()


async def keep_ingesting(job: Job, desk: "Desk") -> None:
    """Ingest, then again whenever a file changes and every so many seconds, until Ctrl-C.

    The first round raises its errors; later ones print them and go on.
    """
    changes, again = Changes(), replace(job, full=False)
    paths, library = _places(job.paths, desk.settings.library)
    async with anyio.create_task_group() as tasks:
        if paths:
            tasks.start_soon(changes.listen, paths, library)
        await job.round(desk, compact=True)
        job.session.note("Watching for changes; Ctrl-C ends it.")
        while True:
            await changes.wait(job.every)
            await _round(again, desk)


async def _round(job: Job, desk: "Desk") -> None:
    try:
        await job.round(desk, compact=True)
    except Exception as error:
        if not isinstance(innermost(error), RefdeskError):
            raise
        report(error, verbose=job.session.verbose)


def _places(paths: Sequence[str], library: str) -> tuple[list[Path], Path]:
    return [_resolved(path) for path in paths], files_beside(library).resolve()


def _resolved(path: str) -> Path:
    place = Path(path).expanduser()
    if not place.exists():
        raise InputError(f"Cannot watch {path!r}: it does not exist.", remedy="Check the path.")
    return place.resolve()
