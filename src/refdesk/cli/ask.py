"""`refdesk ask`: what a loop does, an answer as it is written, its sources, and how it came about."""

from contextlib import suppress
from typing import Annotated

import typer

from refdesk.cli.answers import show_answer, show_sources
from refdesk.cli.conditions import joined
from refdesk.cli.options import Collections, Filters, ModeChoice, Question, TopK, readable
from refdesk.cli.records import answer_record, run_record
from refdesk.cli.session import Session, command
from refdesk.cli.terminal import Wrapping
from refdesk.cli.traces import show_trace
from refdesk.cli.turns import Line, Turns, show
from refdesk.context import Answer, Context
from refdesk.events import Event, Token

AGENTIC = "agentic"
FORGETFUL = (
    "note: nothing of the conversation is read or kept: the pipeline has neither `recall` nor `remember`, as"
    " --pipeline default has."
)
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
Agentic = Annotated[
    bool,
    typer.Option(
        "--agentic", help=f"Let the model decide what to search for, turn by turn: --pipeline {AGENTIC}."
    ),
]
Seconds = Annotated[float | None, typer.Option("--seconds", help="Time limit, else the settings' one.")]
Stream = Annotated[
    bool | None,
    typer.Option("--stream/--no-stream", help="Show the answer while it is written, as on a terminal."),
]
ConversationName = Annotated[
    str | None,
    typer.Option(
        "--conversation",
        metavar="NAME",
        callback=readable,
        help="Conversation that the question goes on with, or begins; kept by pipelines with `remember`"
        " (all presets but `simple`).",
    ),
]
UserName = Annotated[
    str, typer.Option("--user", metavar="NAME", callback=readable, help="Whose conversation it is.")
]
ShowTrace = Annotated[bool, typer.Option("--trace", help="Show on stderr what every step did.")]


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "ask", asks=True)(ask)


async def ask(
    session: Session,
    question: Question,
    collections: Collections = None,
    top_k: TopK = None,
    mode: ModeChoice = None,
    filters: Filters = None,
    llm: LLMString = None,
    pipeline: PipelineName = None,
    agentic: Agentic = False,
    seconds: Seconds = None,
    conversation: ConversationName = None,
    user: UserName = "",
    stream: Stream = None,
    trace: ShowTrace = False,
) -> None:
    """Answer a question with citations, or say why not."""
    from refdesk.desk import answered

    if session.json and stream:
        raise typer.BadParameter("it cannot be used with --json.", param_hint="--stream")
    if conversation == "":
        raise typer.BadParameter("it is empty; name one, or leave it out.", param_hint="--conversation")
    if user and conversation is None:
        raise typer.BadParameter("nothing is kept of a user without --conversation.", param_hint="--user")
    pipeline = _chosen(pipeline, agentic=agentic)
    streams = not session.json and (session.out.is_terminal if stream is None else stream)
    live = Live(session, streams=streams)
    async with session.desk() as desk:
        try:
            context = await desk.run(
                pipeline,
                question,
                collections=collections,
                mode=mode,
                top_k=top_k,
                filters=joined(filters),
                llm=llm,
                seconds=seconds,
                conversation=conversation or "",
                user=user,
                on_event=live,
            )
        finally:
            live.end()
    if trace and not session.json:
        show_trace(session, context)
    if conversation and not any(one.kind == "memory" for one in context.trace):
        session.note(FORGETFUL)
    _show(session, answered(context), context, streamed=streams)


def _show(session: Session, answer: Answer, context: Context, *, streamed: bool) -> None:
    if session.json:
        session.print_json({**answer_record(answer), **run_record(context)})
    elif streamed:
        show_sources(session, answer)
    else:
        show_answer(session, answer)


class Live:
    """Shows a run while it goes on: pieces of the answer on stdout, turns of a loop on stderr."""

    def __init__(self, session: Session, *, streams: bool) -> None:
        self._err = session.err
        self._pieces = Pieces(session) if streams else None
        self._turns = Turns()
        self._told = session.watched or not session.json
        self._held: list[Line] = []

    def __call__(self, event: Event) -> None:
        if isinstance(event, Token):
            if self._pieces:
                self._pieces.show(event.text)
        elif self._told:
            lines = self._turns.lines(event)
            if self._pieces and self._pieces.begun:
                self._held.extend(lines)  # on one terminal they would break a line of the answer
            else:
                show(self._err, lines)

    def end(self) -> None:
        """End the answer's last line, also of an answer that was broken off."""
        if self._pieces and self._pieces.begun:
            self._pieces.end()
        show(self._err, self._held)


class Pieces:
    """Prints the pieces of an answer as they come."""

    def __init__(self, session: Session) -> None:
        self._out = session.out.file
        self._wrapping = Wrapping(session.out.width if session.out.is_terminal else 0)
        self.begun = False

    def show(self, text: str) -> None:
        self.begun = True
        self._write(self._wrapping.feed(text))

    def end(self) -> None:
        self._write(self._wrapping.flush() + "\n")

    def _write(self, text: str) -> None:
        with suppress(BrokenPipeError):  # its reader is gone; the end of the command notices, too
            self._out.write(text)
            self._out.flush()


def _chosen(pipeline: str | None, *, agentic: bool) -> str | None:
    """Return the name of the pipeline, None for the settings' one."""
    if agentic and pipeline not in (None, AGENTIC):
        raise typer.BadParameter(
            f"it is short for --pipeline {AGENTIC}, and --pipeline is {pipeline!r}.", param_hint="--agentic"
        )
    return AGENTIC if agentic else pipeline
