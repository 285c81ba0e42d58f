"""`refdesk eval report`: stored runs as tables, as JSON, or as one HTML page."""

from typing import Annotated

import typer

from refdesk.cli.eval_runs import Runs, store_of
from refdesk.cli.reporttables import show_runs
from refdesk.cli.runtables import show_run
from refdesk.cli.session import Session, command
from refdesk.cli.tables import megabytes
from refdesk.errors import InputError

Names = Annotated[
    list[str],
    typer.Argument(metavar="RUN...", help="Names of runs; the first is what others are measured by."),
]
Out = Annotated[
    str | None,
    typer.Option(
        "--out", "-o", metavar="FILE.html", help="Write one page that needs no network, with plots."
    ),
]
Cases = Annotated[
    int,
    typer.Option(
        "--cases", min=0, metavar="N", help="Show at most N cases one by one in the page.", show_default=True
    ),
]


def add_to(group: typer.Typer) -> None:
    """Add the command."""
    command(group, "report")(report)


def report(session: Session, names: Names, out: Out = None, cases: Cases = 1000, runs: Runs = None) -> None:
    """Show a run, two with their differences, or how measures went over several."""
    from refdesk.evaluation.reporting.written import check_target, report_record, write_report

    if len(set(names)) < len(names):
        raise InputError(
            f"A run is named twice: {', '.join(names)}.",
            remedy="Name each once; repeat runs under names of their own.",
        )
    if out is not None:
        check_target(out)
    store = store_of(session, runs)
    found = [store.read(name) for name in names]
    size = write_report(found, out, most=cases) if out is not None else 0
    if session.json:
        session.print_json({**report_record(found), "written": out})
    elif out is not None:
        session.note(f"Written to {out} ({megabytes(size)}).")
    elif len(found) == 1:
        show_run(session, found[0])
    else:
        show_runs(session, found)
