"""`refdesk documents`: what is stored, one document, and its removal."""

from typing import TYPE_CHECKING, Annotated

import typer

from refdesk.cli.conditions import joined
from refdesk.cli.options import Collection, Collections, Everything, Filters
from refdesk.cli.receipts import Answers, Wipe, show_receipt
from refdesk.cli.records import plain
from refdesk.cli.session import Session, command
from refdesk.cli.tables import facts, table
from refdesk.cli.terminal import say

if TYPE_CHECKING:
    from refdesk.documents import Document

Name = Annotated[str, typer.Argument(metavar="DOCUMENT", help="Source id or document id.")]
Names = Annotated[list[str], typer.Argument(metavar="DOCUMENT", help="Source ids or document ids.")]
Limit = Annotated[int | None, typer.Option("--limit", min=1, metavar="N", help="List at most N.")]
Offset = Annotated[int, typer.Option("--offset", min=0, metavar="N", help="Leave out the first N.")]
HEADINGS = ("source", "title", "language", "pages", "chunks", "readable by", "updated")


def add_to(app: typer.Typer) -> None:
    """Add the command group."""
    group = typer.Typer(help="List, show and delete documents.")
    command(group, "list", asks=True)(list_documents)
    command(group, "show", asks=True)(show)
    command(group, "delete")(delete)
    app.add_typer(group, name="documents")


async def list_documents(
    session: Session,
    collections: Collections = None,
    filters: Filters = None,
    limit: Limit = None,
    offset: Offset = 0,
    everything: Everything = False,
) -> None:
    """List documents by collection and source id."""
    session.refuse_asker(everything)
    filter = joined(filters)
    async with session.desk() as desk:
        found = await desk.documents(
            collections=collections, filters=filter, offset=offset, limit=limit, upkeep=everything
        )
    if session.json:
        session.print_json(found)
        return
    rows = [
        (
            one.source_id,
            one.title,
            one.language,
            one.pages or None,
            one.chunks,
            one.acl,
            f"{one.updated_at:%Y-%m-%d}",
        )
        for one in found
    ]
    table(session.out, HEADINGS, rows)


async def show(session: Session, name: Name, collections: Collections = None) -> None:
    """Show a document: what is known of it, and its text."""
    async with session.desk() as desk:
        document = await desk.document(name, collections=collections)
    if session.json:
        session.print_json({"document_id": document.document_id, **plain(document)})
        return
    facts(session.out, _facts(document))
    say(session.out)
    say(session.out, document.text)


async def delete(
    session: Session,
    names: Names,
    collection: Collection = None,
    answers: Answers = False,
    wipe: Wipe = False,
) -> None:
    """Delete documents with all that is kept of them. Where one is unknown, none is deleted."""
    async with session.desk() as desk:
        receipt = await desk.delete(*names, collection=collection, answers=answers, wipe=wipe)
    show_receipt(session, receipt, f"Deleted from {receipt.collection}:")


def _facts(document: "Document") -> list[tuple[str, object]]:
    return [
        ("title", document.title),
        ("source", document.source_id),
        ("collection", document.collection),
        ("id", document.document_id),
        ("url", document.url),
        ("type", document.media_type),
        ("language", document.language),
        ("readable by", document.acl),
        ("pages", len(document.pages) or None),
        ("characters", len(document.text)),
        *((str(key), value) for key, value in document.metadata.items()),
        *(("warning", warning) for warning in document.warnings),
    ]
