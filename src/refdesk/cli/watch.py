"""`refdesk ingest --watch`: stay, and ingest again after each burst of changes."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from watchfiles import DefaultFilter, awatch

from refdesk.cli.exits import innermost, report
from refdesk.cli.jobs import Job
from refdesk.errors import InputError, RefdeskError

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

    async def wait(self) -> None:
        await self.seen.wait()
        self.seen = anyio.Event()


async def keep_ingesting(job: Job, desk: "Desk") -> None:
    """Ingest, then again whenever a file changes, until Ctrl-C.

    The first round raises its errors; later ones print them and go on.
    """
    changes = Changes()
    paths, library = _places(job.paths, desk.settings.library)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(changes.listen, paths, library)
        await job.round(desk, compact=True)
        job.session.note("Watching for changes; Ctrl-C ends it.")
        while True:
            await changes.wait()
            await _round(job, desk)


async def _round(job: Job, desk: "Desk") -> None:
    try:
        await job.round(desk, compact=True)
    except Exception as error:
        if not isinstance(innermost(error), RefdeskError):
            raise
        report(error, verbose=job.session.verbose)


def _places(paths: Sequence[str], library: str) -> tuple[list[Path], Path]:
    return [_resolved(path) for path in paths], Path(library).resolve()


def _resolved(path: str) -> Path:
    place = Path(path).expanduser()
    if not place.exists():
        raise InputError(f"Cannot watch {path!r}: it does not exist.", remedy="Check the path.")
    return place.resolve()
