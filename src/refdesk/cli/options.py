"""Arguments and options that several commands take."""

from typing import Annotated, Literal

import typer

from refdesk.documents import Mode

Fusion = Literal["rrf", "zscore"]


def readable(value: str | None) -> str | None:
    """Refuse text that was not valid in the encoding of the command line."""
    if any("\ud800" <= character <= "\udfff" for character in value or ""):
        raise typer.BadParameter("the text is not valid UTF-8.")
    return value


Question = Annotated[
    str, typer.Argument(metavar="QUESTION", callback=readable, help="What is asked, in quotation marks.")
]
CollectionName = Annotated[str, typer.Argument(metavar="COLLECTION", help="Name of the collection.")]
Collection = Annotated[
    str | None, typer.Option("--collection", "-c", metavar="NAME", help="Collection, else the settings' one.")
]
Collections = Annotated[
    list[str] | None,
    typer.Option("--collection", "-c", metavar="NAME", help="Collection to read; may be repeated."),
]
TopK = Annotated[int | None, typer.Option("--top-k", "-k", min=1, metavar="N", help="How many.")]
ModeChoice = Annotated[
    Mode | None, typer.Option("--mode", metavar="MODE", help="`vector`, `keyword` or `hybrid`.")
]
FusionChoice = Annotated[
    Fusion | None,
    typer.Option("--fusion", metavar="NAME", help="How `hybrid` joins lists: `zscore` or `rrf`."),
]
Filters = Annotated[
    list[str] | None,
    typer.Option(
        "--filter",
        metavar="CONDITION",
        help="`KEY=VALUE`, also with != < <= > >=; may be repeated, all must hold.",
    ),
]
As = Annotated[
    list[str] | None,
    typer.Option(
        "--as",
        metavar="PRINCIPAL",
        help="Who asks: a user, and each of their groups; may be repeated. Else REFDESK_PRINCIPALS, "
        "refdesk.toml; without any, only what everyone may read.",
    ),
]
Acl = Annotated[
    list[str] | None,
    typer.Option(
        "--acl",
        metavar="PRINCIPAL",
        help="Who may read what its source says nothing about: a user, a group, or `public` for everyone; "
        "may be repeated. Else documents keep theirs, and new ones get the setting `acl`.",
    ),
]
Everything = Annotated[
    bool,
    typer.Option("--everything", help="Whoever may read it: for those who look after the library."),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]

Library = Annotated[
    str | None,
    typer.Option(
        "--library",
        metavar="PLACE",
        help="Folder or postgresql:// URL of the library, else REFDESK_LIBRARY, refdesk.toml, ./.refdesk.",
    ),
]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Show tracebacks of errors, and lists in full.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
