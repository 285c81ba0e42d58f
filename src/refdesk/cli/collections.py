"""`refdesk collections`: named sets of documents."""

from typing import TYPE_CHECKING, Annotated

import typer

from refdesk.cli.confirming import confirm
from refdesk.cli.options import CollectionName, Everything, Yes
from refdesk.cli.receipts import Answers, Wipe, show_receipt
from refdesk.cli.session import Session, command
from refdesk.cli.tables import facts, table
from refdesk.cli.terminal import say

if TYPE_CHECKING:
    from refdesk.documents import Collection

Description = Annotated[str, typer.Option("--description", metavar="TEXT", help="What the collection holds.")]
HEADINGS = ("collection", "documents", "chunks", "languages", "description")


def add_to(app: typer.Typer) -> None:
    """Add the command group."""
    group = typer.Typer(help="List, create, describe, purge and delete collections.")
    command(group, "list", asks=True)(list_collections)
    command(group, "create")(create)
    command(group, "describe", asks=True)(describe)
    command(group, "delete")(delete)
    command(group, "purge")(purge)
    command(group, "wipe")(wipe)
    app.add_typer(group, name="collections")


async def list_collections(session: Session, everything: Everything = False) -> None:
    """List all collections, and count what may be read in them."""
    session.refuse_asker(everything)
    async with session.desk() as desk:
        found = await desk.collections(upkeep=everything)
    if session.json:
        session.print_json(found)
        return
    rows = [(one.name, one.documents, one.chunks, one.languages, one.description) for one in found]
    table(session.out, HEADINGS, rows)


async def create(session: Session, name: CollectionName, description: Description = "") -> None:
    """Create a collection, or change the description of an existing one."""
    async with session.desk() as desk:
        _show(session, await desk.create_collection(name, description=description))


async def describe(session: Session, name: CollectionName, everything: Everything = False) -> None:
    """Describe one collection, and count what may be read in it."""
    session.refuse_asker(everything)
    async with session.desk() as desk:
        _show(session, await desk.collection(name, upkeep=everything))


def delete(
    session: Session, name: CollectionName, answers: Answers = False, wipe: Wipe = False, yes: Yes = False
) -> None:
    """Delete a collection with all its documents."""
    import anyio

    confirm(f"Delete the collection {name!r} with all its documents?", f"Deleting {name!r}", yes=yes)

    async def work() -> None:
        async with session.desk() as desk:
            receipt = await desk.delete_collection(name, answers=answers, wipe=wipe)
        show_receipt(session, receipt, f"Deleted the collection {name}:")

    anyio.run(work)


def purge(
    session: Session, name: CollectionName, answers: Answers = False, wipe: Wipe = False, yes: Yes = False
) -> None:
    """Delete all documents of a collection, and keep its name and description."""
    import anyio

    confirm(f"Delete all documents of {name!r}?", f"Purging {name!r}", yes=yes)

    async def work() -> None:
        async with session.desk() as desk:
            receipt = await desk.purge_collection(name, answers=answers, wipe=wipe)
        show_receipt(session, receipt, f"Deleted from {name}:")

    anyio.run(work)


async def wipe(session: Session) -> None:
    """Leave nothing of what was deleted or replaced in files. Readers that are open have to begin again."""
    async with session.desk() as desk:
        await desk.wipe()
    if session.json:
        session.print_json({"wiped": True})
    else:
        say(session.out, "Nothing is left in files of what was deleted or replaced before.")


def _show(session: Session, collection: "Collection") -> None:
    if session.json:
        session.print_json(collection)
        return
    facts(
        session.out,
        [
            ("collection", collection.name),
            ("description", collection.description),
            ("documents", collection.documents),
            ("chunks", collection.chunks),
            ("languages", collection.languages),
            ("embedding", collection.fingerprint),
        ],
    )
