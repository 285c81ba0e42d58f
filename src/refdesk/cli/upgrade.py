"""`refdesk upgrade`: a library of an older format to the newest."""

from typing import Annotated

import typer

from refdesk.cli.session import Session, command
from refdesk.cli.terminal import say
from refdesk.errors import InputError
from refdesk.places import in_database, shown

Readers = Annotated[
    list[str],
    typer.Option(
        "--acl",
        metavar="PRINCIPAL",
        help="Who may read the documents that are there: a user, a group, or `public` for everyone; "
        "may be repeated.",
    ),
]


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "upgrade")(upgrade)


async def upgrade(session: Session, acl: Readers) -> None:
    """Bring a library of an older format to the newest; nothing is embedded or read anew."""
    from refdesk.stores.upgrading import upgrade as upgraded

    library = session.settings().library
    if in_database(library):
        raise InputError(
            f"The library {shown(library)} is in a database, which brings itself up to date.",
            remedy="Write to it, for example: refdesk ingest PATH",
        )
    documents = await upgraded(library, acl=acl)
    if session.json:
        session.print_json({"library": library, "documents": documents, "acl": acl if documents else []})
    elif documents:
        say(session.out, f"{documents:,} documents may now be read by {', '.join(acl)}.")
    else:
        say(session.out, "The library has the newest format; nothing was changed.")
