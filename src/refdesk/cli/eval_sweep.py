"""`refdesk eval sweep`: configurations of a pipeline beside one another, within a budget."""

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from refdesk.cli.eval_runs import Runs, store_of
from refdesk.cli.progress import counting, ingest_progress
from refdesk.cli.session import Session, command
from refdesk.cli.tables import table
from refdesk.cli.terminal import say
from refdesk.errors import InputError
from refdesk.places import shown

if TYPE_CHECKING:
    from refdesk.evaluation.comparing.statistics import Estimate
    from refdesk.evaluation.sweeps.effects import Effect
    from refdesk.evaluation.sweeps.report import SweepReport
    from refdesk.evaluation.sweeps.rows import Row
    from refdesk.evaluation.sweeps.sweeping import Sweeping

SweepFile = Annotated[str, typer.Argument(metavar="FILE", help="What to try, as YAML.")]
Data = Annotated[
    str | None, typer.Option("--data", metavar="DIR|FILE", help="Data set, instead of the file's.")
]
BudgetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--budget",
        metavar="WHAT=N",
        help="`runs=20`, `seconds=600` or `dollars=2`, instead of the file's; may be repeated.",
    ),
]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with the runs of this sweep that are there.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Check the file, and show what would be tried.")]


def add_to(group: typer.Typer) -> None:
    """Add the command."""
    command(group, "sweep", asks=True)(sweep)


async def sweep(
    session: Session,
    file: SweepFile,
    data: Data = None,
    budget: BudgetOption = None,
    resume: Resume = False,
    runs: Runs = None,
    dry_run: DryRun = False,
) -> None:
    """Try configurations on the same questions: quality, latency, cost, and what each factor does."""
    from refdesk.evaluation.datasets.reading import read_data
    from refdesk.evaluation.sweeps.reading import read_sweep
    from refdesk.evaluation.sweeps.sweeping import Sweeping

    read = read_sweep(file, settings=session.settings(), data=data or "", budget=_budget(budget or ()))
    questions = read_data(read.data, split=read.split)
    for warning in questions.warnings:
        session.note(f"warning: {warning}")
    sweeping = Sweeping(read, questions, store_of(session, runs), resume=resume)
    if dry_run:
        _show_plan(session, sweeping)
        return
    try:
        await _run(session, sweeping)
    except asyncio.CancelledError:
        _show(session, sweeping.report())
        session.note("Broken off; what was asked is kept, and --resume goes on.")
        raise
    _show(session, sweeping.report())


async def _run(session: Session, sweeping: "Sweeping") -> None:
    await sweeping.check()
    with ingest_progress(session) as on_event:
        await sweeping.prepare(on_event)
    with counting(session, sweeping.questions) as count:

        def on_asked(name: str, more: int) -> None:
            for _ in range(more):
                count(name)

        await sweeping.ask(on_asked)


def _budget(given: "list[str] | tuple[()]") -> dict[str, float]:
    """Read `WHAT=N`. Errors: `InputError`."""
    found = {}
    for one in given:
        name, _, number = one.partition("=")
        try:
            found[name.strip()] = float(number)
        except ValueError:
            raise InputError(f"The budget {one!r} is no WHAT=N.", remedy="Write seconds=600.") from None
    return found


def _show_plan(session: Session, sweeping: "Sweeping") -> None:
    rows = [(one.candidate.name, shown(one.setup.settings.library)) for one in sweeping.runs]
    if session.json:
        session.print_json(
            [{"name": one.candidate.name, "values": dict(one.candidate.values)} for one in sweeping.runs]
        )
        return
    say(session.out, f"{len(rows)} configurations, {len(sweeping.data.cases):,} questions each")
    table(session.out, ("configuration", "library"), rows)


def _show(session: Session, report: "SweepReport") -> None:
    if session.json:
        session.print_json(report.to_json())
        return
    name = ", ".join(filter(None, (report.data, report.split)))
    say(session.out, f"{name}: {report.questions:,} questions, {report.objective}")
    costs = any(row.cost or row.tokens for row in report.rows)
    headings = ["configuration", "mean", "above base (95 %)", "p", "changed", "p50 ms", "p95 ms", "asked"]
    rows = [[*_cells(row, report.objective, costs=costs)] for row in report.rows]
    table(session.out, [*headings, *(["tokens", "cost"] if costs else [])], rows)
    if report.effects:
        say(session.out, "\nEffect of each value beside another, the other factors held equal:")
        effects = [_effect(one, report.objective) for one in report.effects]
        table(session.out, ("factor", "value", "beside", "effect (95 %)"), effects)
    say(session.out, f"\n{report.verdict}")
    if report.price:
        say(session.out, report.price)
    for warning in report.warnings:
        session.note(f"warning: {warning}")
    for row in report.rows:
        if row.error:
            session.note(f"warning: {row.name} failed: {row.error}")


def _cells(row: "Row", objective: str, *, costs: bool) -> Iterator[Any]:
    from refdesk.evaluation.reporting.numbers import written
    from refdesk.evaluation.sweeps.inwords import figure, p_in_words

    yield row.name
    yield figure(objective, row.objective.value) if row.objective else ""
    yield _interval(row.difference, objective)
    yield "" if row.chance is None else p_in_words(row.chance)
    yield str(row.changed) if row.difference else ""
    yield from ("" if value is None else f"{value * 1000:.0f}" for value in (row.p50, row.p95))
    yield str(row.asked) if row.status == "done" else f"{row.asked}, {row.status}"
    if costs:
        yield from (written("tokens", row.tokens), written("cost", row.cost))


def _effect(one: "Effect", objective: str) -> tuple[str, ...]:
    from refdesk.evaluation.sweeps.factors import in_words

    told = _interval(one.effect, objective) or "not told from another factor's"
    return one.factor, in_words(one.value), in_words(one.beside), told


def _interval(estimate: "Estimate | None", objective: str) -> str:
    from refdesk.evaluation.sweeps.inwords import difference

    return "" if estimate is None else difference(objective, estimate)
