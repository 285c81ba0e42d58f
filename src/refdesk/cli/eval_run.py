"""`refdesk eval run`: ask every case of a data set, and keep what came of it."""

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from refdesk.cli import eval_runs
from refdesk.cli.eval_options import DataSource, Into, LLMString, Sample, Seed, Split
from refdesk.cli.eval_runs import Runs, run_record, store_of
from refdesk.cli.progress import counting, ingest_progress
from refdesk.cli.runtables import show_run
from refdesk.cli.session import Session, command

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from refdesk.desk import Desk
    from refdesk.evaluation.datasets.cases import DataSet
    from refdesk.evaluation.datasets.goldcheck import LostGold
    from refdesk.evaluation.runs.outcomes import CaseOutcome, Run
    from refdesk.evaluation.runs.runheader import Asked
    from refdesk.evaluation.runs.store import RunStore

Name = Annotated[str, typer.Argument(metavar="NAME", help="What the run is called.")]
PipelineName = Annotated[
    str | None,
    typer.Option(
        "--pipeline", metavar="NAME|FILE", help="What answers, else the settings' one; see --no-answers."
    ),
]
JudgeString = Annotated[
    str | None,
    typer.Option(
        "--judge", metavar="MODEL", help="Model that judges answers; without it, words are compared."
    ),
]
Channels = Annotated[
    str | None,
    typer.Option(
        "--channels",
        metavar="LIST",
        help="Some of keyword,vector,fused,reranked, or `none`; all where not given.",
    ),
]
Answers = Annotated[
    bool,
    typer.Option("--answers/--no-answers", help="Whether to answer, or only to measure what is found."),
]
Tags = Annotated[
    list[str] | None,
    typer.Option("--tag", metavar="TAG", help="Ask only cases with this tag; may be repeated, any will do."),
]
Resume = Annotated[
    bool, typer.Option("--resume", help="Go on with a run of this name; cases that failed are asked again.")
]


def add_to(group: typer.Typer) -> None:
    """Add the command, and those that look at what it kept."""
    command(group, "run", asks=True)(run)
    eval_runs.add_to(group)


async def run(
    session: Session,
    name: Name,
    data: DataSource,
    split: Split = "",
    pipeline: PipelineName = None,
    llm: LLMString = None,
    judge: JudgeString = None,
    channels: Channels = None,
    answers: Answers = True,
    sample: Sample = None,
    seed: Seed = 0,
    tags: Tags = None,
    collection: Into = None,
    runs: Runs = None,
    resume: Resume = False,
) -> None:
    """Ask every case: what each channel finds, what is answered, how long it takes. The run is kept."""
    from refdesk.configuration import load_pipeline
    from refdesk.evaluation.datasets.reading import ingest_data, read_data, sampled
    from refdesk.evaluation.runs.runheader import Asked

    found = sampled(read_data(data, split=split), sample, seed, tags=tags or ())
    for warning in found.warnings:
        session.note(f"warning: {warning}")
    settings = session.settings()
    named = pipeline or (settings.pipeline if answers else None)
    asked = Asked(
        pipeline=None if named is None else load_pipeline(named),
        collection=collection or (f"eval-{found.name}" if found.documents else settings.collection),
        channels=_channels(channels),
        answers=answers,
        judge=judge,
        llm=llm,
        seed=seed,
    )
    store = store_of(session, runs)
    store.check(name, resume=resume)
    drawn = {"sample": sample, "tags": [*(tags or ())]}
    async with session.desk() as desk:
        with ingest_progress(session) as listener:
            await ingest_data(desk, found, collection=asked.collection, on_event=listener)
        await _note_other_recipe(session, desk, asked.collection)
        done = await _asked(session, desk, found, asked, Named(store, name, resume), drawn)
    if session.json:
        session.print_json(run_record(store, done))
    else:
        show_run(session, done)
        session.note(f"Kept in {store.folder / name}.")


async def _note_other_recipe(session: Session, desk: "Desk", collection: str) -> None:
    """Say where settings, such as the chunk size, are not those that the documents were made with."""
    other, all_of_them = await desk.services.made_otherwise(collection)
    if other:
        session.note(
            f"warning: {other:,} of {all_of_them:,} documents in {collection!r} were cut or embedded with"
            " other settings than these, and are measured as they are. Make them anew with: refdesk reembed"
            f" -c {collection}, or vary chunk_tokens in a sweep."
        )


class Named(NamedTuple):
    """Where a run is kept."""

    store: "RunStore"
    name: str
    resume: bool

    def known(self) -> int:
        """Return how many cases need not be asked again."""
        if not self.resume or self.name not in self.store.names():
            return 0
        return sum(not one.error for one in self.store.read(self.name).outcomes.values())


async def _asked(
    session: Session,
    desk: "Desk",
    data: "DataSet",
    asked: "Asked",
    place: Named,
    options: "Mapping[str, Any]",
) -> "Run":
    """Ask what is not known yet, with a bar; what is measured is kept, also where it is broken off."""
    import anyio

    from refdesk.evaluation.datasets.goldcheck import lost_in_words
    from refdesk.evaluation.runs.running import stored_run

    def lost(gold: "Sequence[LostGold]") -> None:
        for sentence in lost_in_words(gold):
            if sentence not in data.warnings:
                session.note(f"warning: {sentence}")

    with counting(session, len(data.cases) - place.known()) as count:
        new: list[str] = []
        failed = 0

        def take(outcome: "CaseOutcome") -> None:
            nonlocal failed
            if outcome.case_id in new:
                failed += bool(outcome.error)
                count(f"{failed} failed  {outcome.question}" if failed else outcome.question)

        try:
            return await stored_run(
                desk,
                data,
                asked,
                store=place.store,
                name=place.name,
                resume=place.resume,
                options=options,
                on_outcome=take,
                on_case=lambda case: new.append(case.case_id),
                on_lost=lost,
            )
        except anyio.get_cancelled_exc_class():
            session.note(KEPT)
            raise


KEPT = "What was measured so far is kept; the same command with --resume goes on."


def _channels(given: str | None) -> tuple[str, ...] | None:
    if given is None:
        return None
    names = tuple(dict.fromkeys(name.strip() for name in given.split(",")))
    return () if names == ("none",) else names
