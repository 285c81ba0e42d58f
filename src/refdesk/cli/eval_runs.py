"""`refdesk eval runs`: the runs that are kept."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from refdesk.cli.casetables import show_cases
from refdesk.cli.confirming import confirm
from refdesk.cli.options import Yes
from refdesk.cli.runtables import show_run
from refdesk.cli.session import Session, command
from refdesk.cli.tables import table
from refdesk.cli.terminal import say
from refdesk.errors import RefdeskError

if TYPE_CHECKING:
    from refdesk.evaluation.runs.outcomes import Run
    from refdesk.evaluation.runs.store import RunStore

Runs = Annotated[
    str | None,
    typer.Option("--runs", metavar="DIR", help="Folder of the runs, else `evaluations` in the library."),
]
Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the run.")]
Cases = Annotated[
    bool, typer.Option("--cases", help="Show every case, one a line; with --json all that came of it.")
]
LISTED = "list"
HEADINGS = ("run", "status", "asked", "cases", "failed", "data", "sweep", "pipeline", "started", "figures")


class ListedFirst(TyperGroup):
    """A group that lists where no command of it is named."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args or (args[0].startswith("-") and args[0] not in ctx.help_option_names):
            args = [LISTED, *args]
        return super().parse_args(ctx, args)


def add_to(group: typer.Typer) -> None:
    """Add the command group."""
    runs = typer.Typer(cls=ListedFirst, help=f"Runs that are kept: {LISTED} (the default), show, rm.")
    command(runs, LISTED)(list_runs)
    command(runs, "show")(show)
    command(runs, "rm")(remove)
    group.add_typer(runs, name="runs")


def store_of(session: Session, folder: str | None) -> "RunStore":
    """Return the runs in a folder, else those of the library."""
    from refdesk.evaluation.runs.store import RunStore, default_folder

    return RunStore(Path(folder) if folder else default_folder(session.settings()))


def run_record(store: "RunStore", run: "Run", *, cases: bool = False) -> dict[str, Any]:
    """Return a run as --json prints it."""
    from dataclasses import asdict

    from refdesk.evaluation.reporting.summary import summarise

    record = {**summarise(run).to_json(), "folder": str(store.folder / run.header.name)}
    return {**record, "cases": [asdict(one) for one in run.outcomes.values()]} if cases else record


def list_runs(session: Session, runs: Runs = None) -> None:
    """List all runs, the newest first: how they ended, on what, and their key figures."""
    store = store_of(session, runs)
    found = []
    for name in store.names():
        try:
            found.append(store.read(name))
        except RefdeskError as error:
            session.note(f"warning: {error}")
    found.sort(key=lambda run: run.header.started, reverse=True)
    records = [_listed(run) for run in found]
    if session.json:
        session.print_json(records)
    elif records:
        table(session.out, HEADINGS, [[*map(_shown, record.values())] for record in records])
    else:
        session.note(f"There are no runs in {store.folder}.")


def show(session: Session, name: Name, runs: Runs = None, cases: Cases = False) -> None:
    """Show one run: figures with intervals, what was left out and why, what failed."""
    store = store_of(session, runs)
    run = store.read(name)
    if session.json:
        session.print_json(run_record(store, run, cases=cases))
    else:
        show_run(session, run)
        if cases:
            show_cases(session, run)


def remove(session: Session, name: Name, runs: Runs = None, yes: Yes = False) -> None:
    """Delete a run."""
    store = store_of(session, runs)
    cases = len(store.read(name).outcomes)
    confirm(f"Delete the run {name!r} with {cases:,} cases?", f"Deleting {name!r}", yes=yes)
    store.remove(name)
    if session.json:
        session.print_json({"removed": name, "cases": cases})
    else:
        say(session.out, f"Deleted {name} with {cases:,} cases.")


def _listed(run: "Run") -> dict[str, Any]:
    from refdesk.evaluation.reporting.summary import main_channel

    outcomes, header = list(run.outcomes.values()), run.header
    names = {name for one in outcomes for name in one.measures}
    keys = [f"{main_channel(names)}.nDCG@10", "answer.right"]
    values = {key: [one.measures[key] for one in outcomes if key in one.measures] for key in keys}
    return {
        "run": header.name,
        "status": run.status,
        "asked": len(outcomes),
        "cases": header.cases,
        "failed": sum(bool(one.error) for one in outcomes),
        "data": header.data + (f", {header.split}" if header.split else ""),
        "sweep": header.sweep,
        "pipeline": header.pipeline,
        "started": header.started,
        "figures": {key: sum(known) / len(known) for key, known in values.items() if known},
    }


def _shown(value: Any) -> Any:
    if isinstance(value, dict):
        return ", ".join(f"{name} {figure:.3f}" for name, figure in value.items())
    return value
