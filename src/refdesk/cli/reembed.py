"""`refdesk reembed`: a collection in another embedding space, or with other chunks."""

import typer

from refdesk.cli.options import Collection
from refdesk.cli.progress import ingest_progress
from refdesk.cli.session import Session, command
from refdesk.cli.summaries import show_summary, summary_record

INTERRUPTED = (
    "Interrupted; run the same command again to go on. Until all is embedded, the old state is read."
)


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "reembed")(reembed)


def reembed(session: Session, collection: Collection = None) -> None:
    """Embed stored documents anew, with the settings of now."""
    import anyio

    try:
        anyio.run(_reembed, session, collection)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(INTERRUPTED) from None


async def _reembed(session: Session, collection: str | None) -> None:
    async with session.desk() as desk:
        with ingest_progress(session) as listener:
            summary = await desk.reembed(collection, on_event=listener)
    if session.json:
        session.print_json(summary_record(summary))
    else:
        show_summary(session, summary)
