"""`refdesk eval retrieval`: how well ways to search, and pipelines, find what a data set knows."""

from collections.abc import Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from refdesk.cli.eval_options import DataSource, Into, LLMString, Sample, Seed, Split
from refdesk.cli.progress import counting
from refdesk.cli.questions import brought, read_questions
from refdesk.cli.retrievaltables import show_report
from refdesk.cli.session import Session
from refdesk.errors import InputError

if TYPE_CHECKING:
    from refdesk.desk import Desk
    from refdesk.evaluation.datasets.beir import Beir
    from refdesk.evaluation.searching.finders import Finder, Way
    from refdesk.evaluation.searching.report import Ranking, Report
    from refdesk.pipeline import Pipeline

Modes = Annotated[
    str | None,
    typer.Option(
        "--modes",
        metavar="LIST",
        help="Some of keyword,vector,hybrid,hybrid+rerank, or `none`; all where not given.",
    ),
]
Pipelines = Annotated[
    list[str] | None,
    typer.Option("--pipeline", metavar="NAME|FILE", help="A pipeline, for what it finds; may be repeated."),
]
Limit = Annotated[
    int | None, typer.Option("--limit", min=1, metavar="N", help="Ask only the first N queries.")
]
Against = Annotated[
    str | None,
    typer.Option(
        "--against", metavar="ROW", help="Show how far the others are above this one, with 95 % intervals."
    ),
]
Results = Annotated[
    str | None,
    typer.Option(
        "--results", metavar="FILE", help="Keep what is found here; another run asks only what is not in it."
    ),
]
PerQuery = Annotated[bool, typer.Option("--per-query", help="With --json: every query's result.")]


async def retrieval(
    session: Session,
    data: DataSource,
    split: Split = "",
    modes: Modes = None,
    pipelines: Pipelines = None,
    llm: LLMString = None,
    limit: Limit = None,
    sample: Sample = None,
    seed: Seed = 0,
    against: Against = None,
    results: Results = None,
    collection: Into = None,
    per_query: PerQuery = False,
) -> None:
    """Search a data set in every mode, and by pipelines: quality, latency, and what a model is asked for."""
    from refdesk.evaluation.datasets.beircases import as_beir
    from refdesk.evaluation.searching.finders import pipeline_finder, search_finder

    ways, named = _ways(modes), _named(pipelines or ())
    names = [*(way.name for way in ways), *named]
    if not names:
        raise InputError("Nothing is measured.", remedy="Name a pipeline with --pipeline, or some modes.")
    if against is not None and against not in names:
        raise InputError(f"Nothing can be compared with {against!r}; measured are {', '.join(names)}.")
    source = read_questions(data, split, collection)
    beir = _part(as_beir(source), limit, sample, seed)
    into = collection or (f"eval-{source.name}" if source.documents else session.settings().collection)
    async with session.desk() as desk:
        finders = [search_finder(desk, way, collection=into) for way in ways]
        for name, pipeline in named.items():
            finders.append(pipeline_finder(desk, pipeline, collection=into, name=name, llm=llm))
        warnings = await brought(session, desk, source, into)
        report = await _evaluated(session, desk, beir, finders, into, results)
    report = replace(report, warnings=warnings)
    if against is not None:
        report = report.compared(against)
    if session.json:
        session.print_json(report.to_json(per_query=per_query))
    else:
        show_report(session, report)


def _ways(modes: str | None) -> "tuple[Way, ...]":
    """Return the ways that are named. Errors: `InputError` for an unknown one."""
    from refdesk.evaluation.searching.finders import WAYS

    known = {way.name: way for way in WAYS}
    names = [name.strip() for name in modes.split(",")] if modes else list(known)
    if names == ["none"]:
        return ()
    if unknown := [name for name in names if name not in known]:
        raise InputError(f"Unknown mode {unknown[0]!r}. Known modes: {', '.join(known)}.")
    return tuple(known[name] for name in dict.fromkeys(names))


def _named(sources: Sequence[str]) -> "Mapping[str, Pipeline]":
    """Return pipelines by their names, and where these are not distinct, by what was given."""
    from refdesk.configuration import load_pipeline
    from refdesk.evaluation.searching.finders import WAYS

    loaded = [(source, load_pipeline(source)) for source in dict.fromkeys(sources)]
    taken = [*(way.name for way in WAYS), *(pipeline.name for _, pipeline in loaded)]
    return {
        pipeline.name if taken.count(pipeline.name) == 1 else source: pipeline for source, pipeline in loaded
    }


def _part(beir: "Beir", limit: int | None, size: int | None, seed: int) -> "Beir":
    from refdesk.evaluation.calibrating.asking import sample

    queries = sample(dict(list(beir.queries.items())[:limit]), size, seed)
    return replace(beir, queries=queries, judgements={query: beir.judgements[query] for query in queries})


async def _evaluated(
    session: Session,
    desk: "Desk",
    data: "Beir",
    finders: "Sequence[Finder]",
    collection: str,
    results: str | None,
) -> "Report":
    """Ask what is not in the file of results; what is found is kept there, also where it is broken off."""
    import anyio

    from refdesk.evaluation.calibrating.scorefile import about
    from refdesk.evaluation.searching.retrieval import RankingFile, evaluate_retrieval

    kept: RankingFile | None = None
    if results is not None:
        depends = await about(desk, data=data.name, split=data.split, collection=collection)
        kept = RankingFile(results, depends)
    total = len(data.queries) * len(finders)
    try:
        with closing(kept) if kept else nullcontext(), counting(session, total) as count:

            def take(ranking: "Ranking") -> None:
                if kept:
                    kept.add(ranking)
                count(ranking.way)

            known = kept.known if kept else None
            return await evaluate_retrieval(data, finders, known=known, on_ranking=take)
    except anyio.get_cancelled_exc_class():
        session.note(KEPT if kept else NOT_KEPT)
        raise


KEPT = "What was found so far is kept; run the same command again to go on."
NOT_KEPT = "Nothing is kept; `--results FILE` keeps what is found, so that another run goes on."
