"""`refdesk ingest`: documents into a collection, and what became of every source."""

from typing import Annotated

import typer

from refdesk.cli.exits import ExitCode
from refdesk.cli.jobs import Job
from refdesk.cli.options import Acl, Collection
from refdesk.cli.session import Session, command
from refdesk.errors import RefdeskError

EVERY = 60.0
"""Seconds between two looks at a database."""

Paths = Annotated[list[str] | None, typer.Argument(metavar="[PATH]...", help="Files and folders.")]
SqlFiles = Annotated[
    list[str] | None,
    typer.Option("--sql", metavar="FILE", help="Rows of a database, as a YAML file says; may be repeated."),
]
Prune = Annotated[
    bool,
    typer.Option("--prune", help="Remove documents whose file is gone; with --sql however many rows are."),
]
Full = Annotated[bool, typer.Option("--full", help="With --sql, read all rows, not only what changed.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Read and count; write nothing.")]
Glob = Annotated[
    str | None, typer.Option("--glob", metavar="PATTERN", help="In folders, take only such files: '**/*.md'.")
]
Watch = Annotated[
    bool,
    typer.Option("--watch", help="Stay, and ingest again whenever a file changes; databases every minute."),
]
Every = Annotated[
    float | None,
    typer.Option("--every", min=1, metavar="SECONDS", help="With --sql, stay and look so often."),
]
IdField = Annotated[
    str | None, typer.Option("--id-field", metavar="FIELD", help="Records in .json and .jsonl: their id.")
]
TextField = Annotated[str | None, typer.Option("--text-field", metavar="FIELD", help="Records: their text.")]
TitleField = Annotated[
    str | None, typer.Option("--title-field", metavar="FIELD", help="Records: their title.")
]
UrlField = Annotated[str | None, typer.Option("--url-field", metavar="FIELD", help="Records: their link.")]
AclField = Annotated[
    str | None, typer.Option("--acl-field", metavar="FIELD", help="Records: who may read them.")
]


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "ingest")(ingest)


def ingest(
    session: Session,
    paths: Paths = None,
    sql: SqlFiles = None,
    collection: Collection = None,
    acl: Acl = None,
    prune: Prune = False,
    full: Full = False,
    dry_run: DryRun = False,
    glob: Glob = None,
    watch: Watch = False,
    every: Every = None,
    id_field: IdField = None,
    text_field: TextField = None,
    title_field: TitleField = None,
    url_field: UrlField = None,
    acl_field: AclField = None,
) -> None:
    """Bring files, folders and rows of databases into a collection. What is stored already costs nothing."""
    import anyio

    if not paths and not sql:
        raise typer.BadParameter("name a PATH, or a database with --sql FILE.")
    if dry_run and (watch or every):
        raise typer.BadParameter("--dry-run does not stay; leave out --watch and --every.")
    if every and not sql:
        raise typer.BadParameter("--every is for databases: add --sql FILE. Files are watched by --watch.")

    named = {"id": id_field, "text": text_field, "title": title_field, "url": url_field, "acl": acl_field}
    job = Job(
        session=session,
        paths=tuple(paths or ()),
        sql=tuple(sql or ()),
        fields={what: name for what, name in named.items() if name},
        collection=collection,
        glob=glob,
        prune=prune,
        acl=tuple(acl) if acl else None,
        full=full,
        dry_run=dry_run,
        every=(every or EVERY) if sql else None,
    )
    try:
        whole = anyio.run(_ingest, job, watch or every is not None)
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
            found = await desk.collection(job.collection or desk.settings.collection, upkeep=True)
    except RefdeskError:
        return "Interrupted; run the same command again to go on."
    return f"Interrupted. {found.documents} documents are stored; run the same command again to go on."
