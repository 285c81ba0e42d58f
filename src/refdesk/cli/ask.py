"""`refdesk ask`: an answer as it is written, then its sources."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Annotated

import typer

from refdesk.cli.answers import show_answer, show_sources
from refdesk.cli.conditions import joined
from refdesk.cli.options import Collections, Filters, ModeChoice, Question, TopK
from refdesk.cli.records import answer_record
from refdesk.cli.session import Session, command
from refdesk.cli.terminal import Wrapping

if TYPE_CHECKING:
    from refdesk.events import AnswerEvent

LLMString = Annotated[
    str | None,
    typer.Option(
        "--llm", metavar="MODEL", help="Model string such as openai:gpt-5-mini, else the settings' one."
    ),
]
Stream = Annotated[
    bool | None,
    typer.Option("--stream/--no-stream", help="Show the answer while it is written, as on a terminal."),
]


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "ask")(ask)


async def ask(
    session: Session,
    question: Question,
    collections: Collections = None,
    top_k: TopK = None,
    mode: ModeChoice = None,
    filters: Filters = None,
    llm: LLMString = None,
    stream: Stream = None,
) -> None:
    """Answer a question with citations, or say why not."""
    if session.json and stream:
        raise typer.BadParameter("it cannot be used with --json.", param_hint="--stream")
    filter = joined(filters)
    async with session.desk() as desk:
        if not session.json and (session.out.is_terminal if stream is None else stream):
            events = desk.stream(
                question, collections=collections, mode=mode, top_k=top_k, filters=filter, llm=llm
            )
            await _show_stream(session, events)
            return
        answer = await desk.ask(
            question, collections=collections, mode=mode, top_k=top_k, filters=filter, llm=llm
        )
    if session.json:
        session.print_json(answer_record(answer))
    else:
        show_answer(session, answer)


async def _show_stream(session: Session, events: "AsyncGenerator[AnswerEvent, None]") -> None:
    from refdesk.events import Token

    wrapping = Wrapping(session.out.width if session.out.is_terminal else 0)
    async with aclosing(events):
        async for event in events:
            if isinstance(event, Token):
                session.out.file.write(wrapping.feed(event.text))
                session.out.file.flush()
            else:
                session.out.file.write(wrapping.flush() + "\n")
                show_sources(session, event.answer)
