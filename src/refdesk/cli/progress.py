"""Progress of long work, on stderr, only where somebody sees it; it leaves nothing behind."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from refdesk.cli.session import Session
from refdesk.cli.terminal import one_line

if TYPE_CHECKING:
    from rich.progress import Progress

    from refdesk.events import IngestEvent

NARROW = 60


@contextmanager
def ingest_progress(session: Session) -> "Iterator[Callable[[IngestEvent], None]]":
    """Count sources, with the time that remains; give what takes the events."""
    from refdesk.events import IngestStarted

    failed = 0
    with _bar(session) as bar:
        task = bar.add_task("", total=None)

        def take(event: "IngestEvent") -> None:
            nonlocal failed
            if isinstance(event, IngestStarted):
                bar.update(task, total=event.total)
            elif event.outcome != "removed":
                failed += event.outcome == "failed"
                bar.update(task, advance=1, description=f"{failed} failed" if failed else "")

        yield take


@contextmanager
def counting(session: Session, total: int) -> Iterator[Callable[[str], None]]:
    """Count up to a total, with the time that remains; give what takes a word on what is at hand."""
    with _bar(session) as bar:
        task = bar.add_task("", total=total)
        yield lambda what: bar.update(task, advance=1, description=one_line(what))


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
