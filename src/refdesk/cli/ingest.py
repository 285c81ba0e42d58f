"""`refdesk ingest`: documents into a collection, and what became of every source."""

from typing import Annotated

import typer

from refdesk.cli.exits import ExitCode
from refdesk.cli.jobs import Job
from refdesk.cli.options import Collection
from refdesk.cli.session import Session, command
from refdesk.errors import RefdeskError

Paths = Annotated[list[str], typer.Argument(metavar="PATH", help="Files and folders.")]
Prune = Annotated[bool, typer.Option("--prune", help="Remove documents whose file is gone.")]
Glob = Annotated[
    str | None, typer.Option("--glob", metavar="PATTERN", help="In folders, take only such files: '**/*.md'.")
]
Watch = Annotated[bool, typer.Option("--watch", help="Stay, and ingest again whenever a file changes.")]
IdField = Annotated[
    str | None, typer.Option("--id-field", metavar="FIELD", help="Records in .json and .jsonl: their id.")
]
TextField = Annotated[str | None, typer.Option("--text-field", metavar="FIELD", help="Records: their text.")]
TitleField = Annotated[
    str | None, typer.Option("--title-field", metavar="FIELD", help="Records: their title.")
]
UrlField = Annotated[str | None, typer.Option("--url-field", metavar="FIELD", help="Records: their link.")]


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "ingest")(ingest)


def ingest(
    session: Session,
    paths: Paths,
    collection: Collection = None,
    prune: Prune = False,
    glob: Glob = None,
    watch: Watch = False,
    id_field: IdField = None,
    text_field: TextField = None,
    title_field: TitleField = None,
    url_field: UrlField = None,
) -> None:
    """Bring files and folders into a collection. What is stored already costs nothing."""
    import anyio

    named = {"id": id_field, "text": text_field, "title": title_field, "url": url_field}
    job = Job(
        session=session,
        paths=tuple(paths),
        fields={what: name for what, name in named.items() if name},
        collection=collection,
        glob=glob,
        prune=prune,
    )
    try:
        whole = anyio.run(_ingest, job, watch)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(anyio.run(_interrupted, job)) from None
    if not whole:
        raise typer.Exit(ExitCode.PARTLY)


async def _ingest(job: Job, watch: bool) -> bool:
    """Tell whether no source failed."""
    async with job.session.desk() as desk:
        if watch:
            from refdesk.cli.watch import keep_ingesting

            await keep_ingesting(job, desk)
        return await job.round(desk)


async def _interrupted(job: Job) -> str:
    """Return what to say: how much is stored, counted in the store where that can be done."""
    try:
        async with job.session.desk() as desk:
            found = await desk.collection(job.collection or desk.settings.collection)
    except RefdeskError:
        return "Interrupted; run the same command again to go on."
    return f"Interrupted. {found.documents} documents are stored; run the same command again to go on."
