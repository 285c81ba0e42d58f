"""Arguments and options that several commands take."""

from typing import Annotated, Literal

import typer

from refdesk.documents import Mode

Fusion = Literal["rrf", "zscore"]


def readable(value: str) -> str:
    """Refuse text that was not valid in the encoding of the command line."""
    if any("\ud800" <= character <= "\udfff" for character in value):
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
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]

Library = Annotated[
    str | None,
    typer.Option(
        "--library", metavar="FOLDER", help="Library folder, else REFDESK_LIBRARY, refdesk.toml, ./.refdesk."
    ),
]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Show tracebacks of errors, and lists in full.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
