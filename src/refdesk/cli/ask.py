"""`refdesk ask`: an answer as it is written, then its sources, then how it came about."""

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from refdesk.cli.answers import show_answer, show_sources
from refdesk.cli.conditions import joined
from refdesk.cli.options import Collections, Filters, ModeChoice, Question, TopK
from refdesk.cli.records import answer_record, run_record
from refdesk.cli.session import Session, command
from refdesk.cli.terminal import Wrapping
from refdesk.cli.traces import show_trace

if TYPE_CHECKING:
    from refdesk.events import Event

LLMString = Annotated[
    str | None,
    typer.Option(
        "--llm", metavar="MODEL", help="Model string such as openai:gpt-5-mini, else the settings' one."
    ),
]
PipelineName = Annotated[
    str | None,
    typer.Option("--pipeline", metavar="NAME|FILE", help="A preset or a YAML file, else the settings' one."),
]
Seconds = Annotated[float | None, typer.Option("--seconds", help="Time limit, else the settings' one.")]
Stream = Annotated[
    bool | None,
    typer.Option("--stream/--no-stream", help="Show the answer while it is written, as on a terminal."),
]
ShowTrace = Annotated[bool, typer.Option("--trace", help="Show on stderr what every step did.")]


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
    pipeline: PipelineName = None,
    seconds: Seconds = None,
    stream: Stream = None,
    trace: ShowTrace = False,
) -> None:
    """Answer a question with citations, or say why not."""
    from refdesk.desk import answered

    if session.json and stream:
        raise typer.BadParameter("it cannot be used with --json.", param_hint="--stream")
    streams = not session.json and (session.out.is_terminal if stream is None else stream)
    shown = _Shown(session)
    async with session.desk() as desk:
        context = await desk.run(
            pipeline,
            question,
            collections=collections,
            mode=mode,
            top_k=top_k,
            filters=joined(filters),
            llm=llm,
            seconds=seconds,
            on_event=shown if streams else None,
        )
    if streams:
        shown.end()
    if trace and not session.json:
        show_trace(session, context)
    answer = answered(context)
    if session.json:
        session.print_json({**answer_record(answer), **run_record(context)})
    elif streams:
        show_sources(session, answer)
    else:
        show_answer(session, answer)


class _Shown:
    """Prints the pieces of an answer as they come."""

    def __init__(self, session: Session) -> None:
        self._out = session.out.file
        self._wrapping = Wrapping(session.out.width if session.out.is_terminal else 0)
        self._begun = False

    def __call__(self, event: "Event") -> None:
        from refdesk.events import Token

        if isinstance(event, Token):
            self._begun = True
            with suppress(BrokenPipeError):  # its reader is gone; the end of the command notices, too
                self._out.write(self._wrapping.feed(event.text))
                self._out.flush()

    def end(self) -> None:
        if self._begun:
            self._out.write(self._wrapping.flush() + "\n")
