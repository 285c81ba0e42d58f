"""`refdesk eval safety`: probes that a pipeline has to withstand, every one of them."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from refdesk.cli.eval_options import LLMString, Seed
from refdesk.cli.exits import ExitCode
from refdesk.cli.progress import counting
from refdesk.cli.session import Session, command
from refdesk.cli.tables import table
from refdesk.cli.terminal import say
from refdesk.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from refdesk.desk import Desk
    from refdesk.evaluation.datasets.cases import Case
    from refdesk.evaluation.safety.asking import SafetyReport
    from refdesk.evaluation.safety.probes import Probe
    from refdesk.evaluation.safety.probing import Prober

PipelineName = Annotated[
    str | None, typer.Option("--pipeline", metavar="NAME|FILE", help="What answers, else the settings' one.")
]
JudgeString = Annotated[
    str | None, typer.Option("--judge", metavar="MODEL", help="Model that rules where rules cannot tell.")
]
ProbeFiles = Annotated[
    list[str] | None,
    typer.Option(
        "--probes", metavar="FILE", help="Probes in YAML instead of the shipped ones; may be repeated."
    ),
]
Shipped = Annotated[bool, typer.Option("--shipped", help="With --probes: the shipped ones as well.")]
Categories = Annotated[
    list[str] | None,
    typer.Option("--category", metavar="NAME", help="Ask only probes of this category; may be repeated."),
]
Ordinary = Annotated[
    str | None,
    typer.Option(
        "--ordinary",
        metavar="DATA",
        help="Questions that the documents answer: how many of them are refused.",
    ),
]
OrdinaryLimit = Annotated[
    int,
    typer.Option(
        "--ordinary-limit", min=1, metavar="N", help="At most N of them, drawn by chance.", show_default=True
    ),
]
CollectionNames = Annotated[
    list[str] | None,
    typer.Option("--collection", "-c", metavar="NAME", help="Collection that is asked; may be repeated."),
]
ReportFile = Annotated[
    str | None, typer.Option("--report", metavar="FILE", help="Write everything to a JSON file, as it comes.")
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Exit with 1 also where a probe is unclear or was not reached.")
]


SHOWN = 20
"""Refused questions that are listed."""
NO_MODEL = (
    "No language model is configured, so sentences are quoted and nothing could obey: probes with planted "
    "documents show what is quoted. To ask whether a model obeys, name it: --llm MODEL, or the setting `llm`."
)


def add_to(group: typer.Typer) -> None:
    """Add the command."""
    command(group, "safety", asks=True)(safety)


async def safety(
    session: Session,
    pipeline: PipelineName = None,
    llm: LLMString = None,
    judge: JudgeString = None,
    probes: ProbeFiles = None,
    shipped: Shipped = False,
    categories: Categories = None,
    ordinary: Ordinary = None,
    ordinary_limit: OrdinaryLimit = 100,
    collections: CollectionNames = None,
    report: ReportFile = None,
    strict: Strict = False,
    seed: Seed = 0,
) -> None:
    """Ask what should be refused, and plant documents that should not be obeyed. One failure is a failure."""
    from refdesk.configuration import load_pipeline
    from refdesk.evaluation.runs.runheader import model_of
    from refdesk.evaluation.safety.probing import Prober

    wanted = _wanted(probes or [], shipped or not probes, categories or [])
    questions = _ordinary(ordinary, ordinary_limit, seed)
    loaded = load_pipeline(pipeline or session.settings().pipeline)
    async with session.desk() as desk:
        names = tuple(collections or [desk.settings.collection])
        await _check(session, desk, names)
        asked, judging = model_of(desk, llm or desk.settings.llm or None), model_of(desk, judge or None)
        prober = Prober(desk=desk, pipeline=loaded, collections=names, llm=asked, judge=judging)
        done = await _asked(session, prober, wanted, questions, report)
    _show(session, done, report)
    if done.failed or (strict and not done.proven):
        raise typer.Exit(ExitCode.ERROR)


def _wanted(sources: "Sequence[str]", shipped: bool, categories: "Sequence[str]") -> "tuple[Probe, ...]":
    from refdesk.evaluation.safety.probes import CATEGORIES, read_probes, shipped_probes

    if unknown := [name for name in categories if name not in CATEGORIES]:
        raise InputError(
            f"There is no category {unknown[0]!r}.", remedy=f"Known are {', '.join(CATEGORIES)}."
        )
    own = read_probes(*sources) if sources else ()
    given = [*(shipped_probes() if shipped else ()), *own]
    found = tuple(one for one in given if not categories or one.category in categories)
    if not found:
        raise InputError(f"No probe is of the category {', '.join(categories)}.")
    if twice := {one.id for one in own} & {one.id for one in shipped_probes()} if shipped else set():
        raise InputError(
            f"The shipped probes have the id {min(twice)!r}, too.", remedy="Name yours otherwise."
        )
    return found


def _ordinary(source: str | None, limit: int, seed: int) -> "tuple[Case, ...]":
    from refdesk.evaluation.datasets.reading import read_data, sampled

    if source is None:
        return ()
    data = sampled(read_data(source, corpus=False), limit, seed)
    found = tuple(case for case in data.cases if case.answerable)
    if not found:
        raise InputError(f"None of the questions of {source!r} is answerable.", remedy="Give some that are.")
    return found


async def _check(session: Session, desk: "Desk", names: "Sequence[str]") -> None:
    """See that the collections are there, and tell of what a killed run left behind."""
    from refdesk.evaluation.safety.planting import leftovers

    for name in names:
        await desk.collection(name)
    for name in await leftovers(desk):
        session.note(
            f"warning: the collection {name} has planted documents of another run. If none is under way: "
            f"refdesk collections delete {name}"
        )


async def _asked(
    session: Session,
    prober: "Prober",
    probes: "Sequence[Probe]",
    ordinary: "Sequence[Case]",
    file: str | None,
) -> "SafetyReport":
    """Ask everything; what came so far is in the file, also where it is broken off."""
    import anyio

    from refdesk.evaluation.safety.asking import OrdinaryOutcome, SafetyReport, ask_ordinary, probe_all
    from refdesk.evaluation.safety.probing import ProbeOutcome

    came: list[ProbeOutcome] = []
    asked: list[OrdinaryOutcome] = []

    def now() -> SafetyReport:
        return SafetyReport(
            pipeline=prober.pipeline.name,
            llm=prober.llm.name if prober.llm else "",
            judge=prober.judge.name if prober.judge else "",
            collections=prober.collections,
            planned=len(probes),
            probes=tuple(came),
            ordinary=tuple(asked),
        )

    def probed(one: ProbeOutcome) -> None:
        came.append(one)
        _write(file, now())
        count(one.probe.category)

    def answered(one: OrdinaryOutcome) -> None:
        asked.append(one)
        _write(file, now())
        count("ordinary questions")

    try:
        with counting(session, len(probes) + len(ordinary)) as count:
            await probe_all(prober, probes, on_outcome=probed)
            await ask_ordinary(prober, ordinary, on_outcome=answered)
    except anyio.get_cancelled_exc_class():
        session.note(f"Broken off after {len(came)} of {len(probes)} probes; nothing planted is left.")
        if file and came:
            session.note(f"What came so far is in {file}.")
        raise
    return now()


def _write(file: str | None, report: "SafetyReport") -> None:
    if file is None:
        return
    target = Path(file)
    try:
        text = json.dumps(report.to_json(), ensure_ascii=False, indent=1)
        fresh = target.with_name(f".{target.name}.writing")
        fresh.write_text(text, "utf-8", errors="replace")
        fresh.replace(target)
    except OSError as error:
        raise InputError(
            f"Cannot write the report {file!r}: {error}.", remedy="Name another file."
        ) from error


def _show(session: Session, report: "SafetyReport", file: str | None) -> None:
    if session.json:
        session.print_json(report.to_json())
        return
    rows = [
        (
            one.ruling.status,
            one.probe.category,
            one.probe.id,
            _reach(one.shown, one.retrieved),
            one.ruling.reason,
        )
        for one in sorted(report.probes, key=lambda one: one.ruling.status == "passed")
    ]
    table(session.out, ("status", "category", "probe", "planted", "why"), rows)
    say(session.out, "")
    counted = ", ".join(f"{count} {status}" for status, count in report.counts.items() if count)
    say(session.out, f"{report.planned} probes: {counted}.")
    if report.refused:
        _show_refused(session, report)
    if failed := sum(bool(one.error) for one in report.ordinary):
        session.note(f"warning: {failed} ordinary questions could not be asked; they are in no figure.")
    if not report.failed and not report.proven:
        session.note("Nothing failed, and not everything is proven: read what is unclear or was not reached.")
    if not report.llm and any(one.probe.planted for one in report.probes):
        session.note(f"note: {NO_MODEL}")
    if file:
        session.note(f"Written to {file}.")


def _show_refused(session: Session, report: "SafetyReport") -> None:
    rows = [(one.refusal, one.question) for one in report.ordinary if one.refusal]
    share = report.refused
    interval = f"{share.value:.1%} ({share.low:.1%} to {share.high:.1%})" if share else ""
    say(session.out, f"Of {len(report.ordinary)} ordinary questions {len(rows)} were refused: {interval}.")
    if rows:
        table(session.out, ("refusal", "question"), rows[:SHOWN])
    if len(rows) > SHOWN:
        say(session.out, f"and {len(rows) - SHOWN} more")


def _reach(shown: bool | None, retrieved: bool | None) -> str:
    return "" if shown is None else "shown" if shown else "found" if retrieved else "not found"
