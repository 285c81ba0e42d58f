"""`refdesk models`: the weights that refdesk knows by name."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from refdesk.cli.exits import ExitCode
from refdesk.cli.progress import stages
from refdesk.cli.records import plain
from refdesk.cli.session import Session, command
from refdesk.cli.tables import table
from refdesk.cli.terminal import say

if TYPE_CHECKING:
    from refdesk.models import FileCheck

Name = Annotated[
    str | None, typer.Argument(metavar="NAME", help="Name or alias, else the embedder of the settings.")
]


def add_to(app: typer.Typer) -> None:
    """Add the command group."""
    group = typer.Typer(help="List, fetch and check model weights.")
    command(group, "list")(list_known)
    command(group, "pull")(pull)
    command(group, "verify")(verify)
    app.add_typer(group, name="models")


def list_known(session: Session) -> None:
    """List the models that are known by name, and which are on this machine."""
    from refdesk.models.locate import list_models

    found = list_models(cache=_cache(session))
    if session.json:
        session.print_json(found)
        return
    rows = [
        (one.name, one.aliases[:1], one.state, round(one.megabytes), one.licence, one.summary)
        for one in found
    ]
    table(session.out, ("model", "alias", "state", "MB", "licence", "summary"), rows)


def pull(session: Session, name: Name = None) -> None:
    """Fetch a model and check every file against its pinned hash."""
    from refdesk.models.pull import pull as fetch

    with stages(session) as stage:
        folder = fetch(name or session.settings().embedder, cache=_cache(session), progress=stage)
    if session.json:
        session.print_json(folder)
    elif folder.source in ("cache", "local folder"):
        say(session.out, f"{folder.name} was there already: {folder.path}")
    else:
        say(session.out, f"{folder.name} is ready: {folder.path} (from {folder.source})")


def verify(session: Session, name: Name = None) -> None:
    """Hash every file of a fetched model again."""
    from refdesk.models.locate import verify as check

    found = check(name or session.settings().embedder, cache=_cache(session))
    if session.json:
        session.print_json({**plain(found), "ok": found.ok})
    else:
        table(session.out, ("file", "state", "sha256"), [_row(file) for file in found.files])
    if not found.ok:
        session.note(
            f"error [model_unavailable]: {found.name} is damaged. Run: refdesk models pull {found.name}."
        )
        raise typer.Exit(ExitCode.ERROR)


def _row(file: "FileCheck") -> tuple[str, str, str]:
    return (file.name, file.problem or "ok", file.sha256)


def _cache(session: Session) -> Path | None:
    folder = session.settings().cache
    return Path(folder) if folder else None
