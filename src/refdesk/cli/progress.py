"""Progress of long work, on stderr: a bar that leaves nothing behind, or in a pipe a line now and then."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from refdesk.cli.session import Session
from refdesk.cli.terminal import one_line

if TYPE_CHECKING:
    from rich.progress import Progress

    from refdesk.events import IngestEvent

NARROW = 60
SOONEST, LATEST = 30.0, 300.0
"""Seconds between two lines in a pipe; as time goes by they become fewer."""
Clock = Callable[[], float]


class Lines:
    """Tells how far long work is where no terminal shows a bar, and nothing where it is soon done."""

    def __init__(self, session: Session, clock: Clock = time.monotonic) -> None:
        self._session, self._clock = session, clock
        self._silent = session.watched or session.json
        self._began = self._last = clock()

    def tell(self, done: int, total: int | None, *more: str) -> None:
        """Say it if it is time to: every 30 seconds, later whenever a tenth of the time has passed again."""
        now = self._clock()
        if self._silent or now - self._last < min(max(SOONEST, (now - self._began) / 10), LATEST):
            return
        self._last = now
        of = f" of {total:,}" if total else ""
        minutes = f"{(now - self._began) / 60:.1f} min"
        self._session.note(", ".join(filter(None, (f"{done:,}{of} done", *more, f"after {minutes}"))))


@contextmanager
def ingest_progress(
    session: Session, clock: Clock = time.monotonic
) -> "Iterator[Callable[[IngestEvent], None]]":
    """Count sources, with the time that remains; give what takes the events."""
    from refdesk.events import IngestStarted

    done = chunks = failed = 0
    total: int | None = None
    lines = Lines(session, clock)
    with _bar(session) as bar:
        task = bar.add_task("", total=None)

        def take(event: "IngestEvent") -> None:
            nonlocal done, chunks, failed, total
            if isinstance(event, IngestStarted):
                total = event.total
                bar.update(task, total=total)
            elif event.outcome != "removed":
                done, chunks = done + 1, chunks + event.chunks
                failed += event.outcome == "failed"
                told = f"{failed} failed" if failed else ""
                bar.update(task, advance=1, description=told)
                lines.tell(done, total, f"{chunks:,} chunks", told)

        yield take


@contextmanager
def counting(session: Session, total: int, clock: Clock = time.monotonic) -> Iterator[Callable[[str], None]]:
    """Count up to a total, with the time that remains; give what takes a word on what is at hand."""
    done, lines = 0, Lines(session, clock)
    with _bar(session) as bar:
        task = bar.add_task("", total=total)

        def take(what: str) -> None:
            nonlocal done
            done += 1
            bar.update(task, advance=1, description=one_line(what))
            lines.tell(done, total)

        yield take


@contextmanager
def stages(session: Session) -> Iterator[Callable[[str], None]]:
    """Show a running clock with the stage at hand; give what takes the stages' names."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(20), TimeElapsedColumn(), TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=session.err, transient=True, disable=not session.watched) as bar:
        task = bar.add_task("", total=None)
        yield lambda line: bar.update(task, description=one_line(line))


def _bar(session: Session) -> "Progress":
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    return Progress(
        BarColumn(10 if session.err.width < NARROW else 30),
        MofNCompleteColumn(),
        TimeRemainingColumn(compact=True),
        TextColumn("{task.description}", markup=False),
        console=session.err,
        transient=True,
        disable=not session.watched,
    )
