"""`refdesk collections`: named sets of documents."""

import sys
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from refdesk.cli.options import CollectionName, Yes
from refdesk.cli.session import Session, command
from refdesk.cli.tables import facts, table
from refdesk.cli.terminal import say
from refdesk.errors import InputError

if TYPE_CHECKING:
    from refdesk.documents import Collection

Description = Annotated[str, typer.Option("--description", metavar="TEXT", help="What the collection holds.")]
HEADINGS = ("collection", "documents", "chunks", "languages", "description")


def add_to(app: typer.Typer) -> None:
    """Add the command group."""
    group = typer.Typer(help="List, create, describe and delete collections.")
    command(group, "list")(list_collections)
    command(group, "create")(create)
    command(group, "describe")(describe)
    command(group, "delete")(delete)
    app.add_typer(group, name="collections")


async def list_collections(session: Session) -> None:
    """List all collections."""
    async with session.desk() as desk:
        found = await desk.collections()
    if session.json:
        session.print_json(found)
        return
    rows = [(one.name, one.documents, one.chunks, one.languages, one.description) for one in found]
    table(session.out, HEADINGS, rows)


async def create(session: Session, name: CollectionName, description: Description = "") -> None:
    """Create a collection, or change the description of an existing one."""
    async with session.desk() as desk:
        _show(session, await desk.create_collection(name, description=description))


async def describe(session: Session, name: CollectionName) -> None:
    """Describe one collection."""
    async with session.desk() as desk:
        _show(session, await desk.collection(name))


def delete(session: Session, name: CollectionName, yes: Yes = False) -> None:
    """Delete a collection with all its documents."""
    import anyio

    if not yes:
        _confirm(f"Delete the collection {name!r} with all its documents?", name)
    anyio.run(partial(_delete, session, name))


async def _delete(session: Session, name: str) -> None:
    async with session.desk() as desk:
        receipt = await desk.delete_collection(name)
    if session.json:
        session.print_json(receipt)
    else:
        say(session.out, f"Deleted {name} with {receipt.documents} documents and {receipt.chunks} chunks.")


def _confirm(question: str, name: str) -> None:
    if not sys.stdin.isatty():
        raise InputError(
            f"Deleting {name!r} needs a confirmation, and nobody can be asked.", remedy="Add --yes."
        )
    typer.confirm(question, abort=True, err=True)


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
