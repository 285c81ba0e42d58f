"""`refdesk eval`: how well a library finds, on data sets with known answers."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from refdesk.cli import calibrate, faithfulness
from refdesk.cli.progress import counting, ingest_progress
from refdesk.cli.session import Session, command
from refdesk.cli.tables import table
from refdesk.cli.terminal import say
from refdesk.errors import InputError

if TYPE_CHECKING:
    from refdesk.evaluation.beir import Beir
    from refdesk.evaluation.report import Report, Way

Data = Annotated[
    str,
    typer.Option(
        "--data", metavar="DIR", help="Folder with corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv."
    ),
]
Split = Annotated[str, typer.Option("--split", metavar="NAME", help="Which judgements.", show_default=True)]
Modes = Annotated[
    str | None,
    typer.Option(
        "--modes", metavar="LIST", help="Some of keyword,vector,hybrid,hybrid+rerank; all where not given."
    ),
]
Limit = Annotated[
    int | None, typer.Option("--limit", min=1, metavar="N", help="Ask only the first N queries.")
]
Into = Annotated[
    str | None,
    typer.Option("--collection", "-c", metavar="NAME", help="Collection for the corpus, else eval-DIR."),
]
PerQuery = Annotated[bool, typer.Option("--per-query", help="With --json: every query's result.")]


def add_to(app: typer.Typer) -> None:
    """Add the command group."""
    group = typer.Typer(help="Measure quality on data sets with known answers.")
    command(group, "retrieval")(retrieval)
    command(group, "calibrate")(calibrate.calibrate)
    command(group, "zones")(calibrate.zones)
    command(group, "grounding")(faithfulness.grounding)
    app.add_typer(group, name="eval")


async def retrieval(
    session: Session,
    data: Data,
    split: Split = "test",
    modes: Modes = None,
    limit: Limit = None,
    collection: Into = None,
    per_query: PerQuery = False,
) -> None:
    """Search a data set in every mode: quality and latency."""
    from refdesk.evaluation.beir import read_beir
    from refdesk.evaluation.retrieval import desk_search, evaluate_retrieval, ingest_corpus

    ways = _ways(modes)
    beir = _first(read_beir(data, split=split), limit)
    name = collection or f"eval-{beir.name}"
    async with session.desk() as desk:
        with ingest_progress(session) as listener:
            await ingest_corpus(desk, beir, collection=name, on_event=listener)
        with _queries(session, len(beir.queries) * len(ways)) as on_query:
            search = desk_search(desk, collection=name)
            report = await evaluate_retrieval(beir, search, ways=ways, on_query=on_query)
    if session.json:
        session.print_json(report.to_json(per_query=per_query))
    else:
        _show(session, report)


def _ways(modes: str | None) -> "tuple[Way, ...]":
    """Return the ways that are named. Errors: `InputError` for an unknown one."""
    from refdesk.evaluation.report import WAYS

    known = {way.name: way for way in WAYS}
    names = [name.strip() for name in modes.split(",")] if modes else list(known)
    if unknown := [name for name in names if name not in known]:
        raise InputError(f"Unknown mode {unknown[0]!r}. Known modes: {', '.join(known)}.")
    return tuple(known[name] for name in names)


def _first(beir: "Beir", limit: int | None) -> "Beir":
    from dataclasses import replace

    queries = dict(list(beir.queries.items())[:limit])
    return replace(beir, queries=queries, judgements={query: beir.judgements[query] for query in queries})


@contextmanager
def _queries(session: Session, total: int) -> "Iterator[Callable[[Way, str], None]]":
    with counting(session, total) as count:
        yield lambda way, query: count(way.name)


def _show(session: Session, report: "Report") -> None:
    measures = tuple(report.ways[0].scores)
    rows = [
        (way.name, *(way.scores[name] for name in measures), round(way.p50 * 1000), round(way.p95 * 1000))
        for way in report.ways
    ]
    say(
        session.out,
        f"{report.data}, {report.split}: {report.documents:,} documents, {report.queries:,} queries",
    )
    table(session.out, ("mode", *measures, "p50 ms", "p95 ms"), rows)
    for warning in report.warnings:
        session.note(f"warning: {warning}")
