"""Progress of long work, on stderr, only where somebody sees it; it leaves nothing behind."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from refdesk.cli.session import Session
from refdesk.cli.terminal import one_line

if TYPE_CHECKING:
    from refdesk.events import IngestEvent

Listener = Callable[["IngestEvent"], None]


@contextmanager
def ingest_progress(session: Session) -> Iterator[Listener]:
    """Count sources, with the time that remains; give what takes the events."""
    if not session.watched:
        yield lambda event: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from refdesk.events import IngestStarted

    narrow = session.err.width < 60
    columns = (BarColumn(10 if narrow else 30), MofNCompleteColumn(), TimeRemainingColumn(compact=True))
    failed = 0
    with Progress(
        *columns, TextColumn("{task.description}", markup=False), console=session.err, transient=True
    ) as bar:
        task = bar.add_task("", total=None)

        def take(event: "IngestEvent") -> None:
            nonlocal failed
            if isinstance(event, IngestStarted):
                bar.update(task, total=(bar.tasks[0].total or 0) + event.total)
                return
            failed += event.outcome == "failed"
            bar.update(
                task, advance=event.outcome != "removed", description=f"{failed} failed" if failed else ""
            )

        yield take


@contextmanager
def stages(session: Session) -> Iterator[Callable[[str], None]]:
    """Show a running clock with the stage at hand; give what takes the stages' names."""
    if not session.watched:
        yield lambda line: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(20), TimeElapsedColumn(), TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=session.err, transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda line: bar.update(task, description=one_line(line))
