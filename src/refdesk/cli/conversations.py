"""`refdesk conversations`: what is kept of conversations, and its removal."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated

import typer

from refdesk.cli.answers import show_answer
from refdesk.cli.confirming import confirm
from refdesk.cli.options import Yes, readable
from refdesk.cli.records import answer_record
from refdesk.cli.session import Session, command
from refdesk.cli.tables import table
from refdesk.cli.terminal import say
from refdesk.errors import InputError

if TYPE_CHECKING:
    from refdesk.conversations import StoredMessage, Tally
    from refdesk.desk.conversing import ConversationVerbs

Name = Annotated[
    str, typer.Argument(metavar="CONVERSATION", callback=readable, help="Name of the conversation.")
]
User = Annotated[str, typer.Option("--user", metavar="NAME", callback=readable, help="Whose it is.")]
Whose = Annotated[
    str | None,
    typer.Option("--user", metavar="NAME", help="Only those of this user; empty for those of nobody named."),
]
Last = Annotated[int | None, typer.Option("--last", min=1, metavar="N", help="Show the last N messages.")]
Limit = Annotated[int, typer.Option("--limit", min=1, metavar="N", help="List at most N.")]
Offset = Annotated[int, typer.Option("--offset", min=0, metavar="N", help="Leave out the first N.")]
Age = Annotated[
    str | None,
    typer.Option("--older-than", metavar="AGE", help="Those not used for so long: 12h, 30d, 8w, 6m, 1y."),
]
HEADINGS = ("user", "conversation", "messages", "kept", "used", "title")


def add_to(app: typer.Typer) -> None:
    """Add the command group."""
    group = typer.Typer(help="List, show, delete and purge conversations that are kept.")
    command(group, "list")(list_conversations)
    command(group, "show")(show)
    command(group, "delete")(delete)
    command(group, "purge")(purge)
    app.add_typer(group, name="conversations")


async def list_conversations(
    session: Session, user: Whose = None, limit: Limit = 100, offset: Offset = 0
) -> None:
    """List conversations, the one used last first: of all users, or of one."""
    async with session.desk() as desk:
        found = await desk.conversations.list(
            user=user or "", everyone=user is None, offset=offset, limit=limit
        )
    if session.json:
        session.print_json(found)
        return
    rows = [
        (one.user, one.name, one.messages, one.hits, f"{one.used_at:%Y-%m-%d %H:%M}", one.title)
        for one in found
    ]
    table(session.out, HEADINGS, rows)


async def show(session: Session, name: Name, user: User = "", last: Last = None) -> None:
    """Show a conversation as it was: questions, and answers with what they cite."""
    async with session.desk() as desk:
        found = await desk.conversations.show(name, user=user, last=last)
    if session.json:
        session.print_json([_record(one) for one in found])
        return
    for number, one in enumerate(found):
        if number:
            say(session.out)
        say(session.out, f"{one.role}, {one.at:%Y-%m-%d %H:%M}", "bold")
        if one.answer is None:
            say(session.out, one.text)
        else:
            show_answer(session, one.answer)


def _record(message: "StoredMessage") -> dict[str, object]:
    """Return a message with its answer as `ask --json` prints it."""
    said = {"id": message.id, "role": message.role, "at": message.at, "text": message.text}
    return {**said, "answer": answer_record(message.answer) if message.answer else None}


def delete(session: Session, name: Name, user: User = "", yes: Yes = False) -> None:
    """Delete one conversation."""
    confirm(f"Delete the conversation {name!r}?", f"Deleting {name!r}", yes=yes)
    _remove(session, lambda verbs: verbs.delete(name, user=user))


def purge(session: Session, user: Whose = None, older_than: Age = None, yes: Yes = False) -> None:
    """Delete all conversations of a user, or those of everybody that are old."""
    if user is None and older_than is None:
        raise InputError(
            "Nothing says which conversations are to be purged.",
            remedy="Add --user NAME or --older-than 30d.",
        )
    whose = "of everybody" if user is None else f"of {user!r}"
    old = f" not used for {older_than}" if older_than else ""
    confirm(f"Delete all conversations {whose}{old}?", "Purging conversations", yes=yes)
    _remove(session, lambda verbs: verbs.purge(user=user, older_than=older_than))


def _remove(session: Session, work: "Callable[[ConversationVerbs], Awaitable[Tally]]") -> None:
    import anyio

    async def run() -> "Tally":
        async with session.desk() as desk:
            return await work(desk.conversations)

    gone = anyio.run(run)
    if session.json:
        session.print_json(gone)
    else:
        say(
            session.out,
            f"Deleted {gone.conversations:,} conversations with {gone.messages:,} messages and"
            f" {gone.hits:,} kept passages.",
        )
