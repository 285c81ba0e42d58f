"""`refdesk recheck`: what became of the citations of an answer that was kept."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from refdesk.cli.answers import show_citations, source_line
from refdesk.cli.exits import ExitCode
from refdesk.cli.options import Collections
from refdesk.cli.records import answer_of, plain
from refdesk.cli.session import Session, command
from refdesk.cli.terminal import say
from refdesk.errors import InputError

if TYPE_CHECKING:
    from refdesk.desk.rechecking import Recheck

File = Annotated[
    str,
    typer.Argument(
        metavar="FILE", help="What `refdesk ask --json` printed, in a file; - for standard input."
    ),
]


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "recheck", asks=True)(recheck)


async def recheck(session: Session, file: File, collections: Collections = None) -> None:
    """Check whether the citations of an earlier answer still stand; exit code 1 where one does not."""
    answer = answer_of(_read(file))
    async with session.desk() as desk:
        found = await desk.recheck(answer, collections=collections)
    if session.json:
        session.print_json(_record(found))
    else:
        _show(session, found)
    if not found.holds:
        raise typer.Exit(ExitCode.ERROR)


def _read(file: str) -> Any:
    try:
        return json.loads(sys.stdin.read() if file == "-" else Path(file).read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(
            f"Cannot read the answer in {file!r}: {error}.", remedy="Give what `refdesk ask --json` printed."
        ) from error


def _record(found: "Recheck") -> dict[str, Any]:
    """Return what `recheck --json` prints."""
    citations = [{"state": one.state, "reason": one.reason, **plain(one.citation)} for one in found.citations]
    return {
        "question": found.answer.question,
        "answer": found.answer.text,
        "holds": found.holds,
        "citations": citations,
    }


def _show(session: Session, found: "Recheck") -> None:
    say(session.out, found.answer.text)
    show_citations(session, found.answer.citations)
    lost = [one for one in found.citations if one.state in ("changed", "gone")]
    for one in lost:
        say(session.out)
        known = one.state != "gone"
        say(session.out, source_line(one.citation) if known else f"[{one.citation.marker}]", "bold")
        say(session.out, one.reason, indent=4)
    session.note(f"{len(found.citations) - len(lost)} of {len(found.citations)} citations stand.")
