"""What tests of answers have in common: a question, contexts with hits, and what a reader is shown."""

from collections.abc import Sequence
from typing import Any

import refdesk
from refdesk.context import Answer, Context
from refdesk.documents import Chunk, Hit
from refdesk.events import Done, Event, Token
from refdesk.pipeline import Pipeline, Step
from refdesk.results import Results, numbered
from refdesk.steps import Search

QUESTION = "How many days of leave do employees get?"
TRUE = "Employees get 30 days of leave per year [[1]]."
FALSE = "Employees get 99 days of leave [[1]]."


async def found(desk: refdesk.Desk, **options: Any) -> Context:
    """Return a context with hits from the library."""
    return await desk.step(Search(top_k=3), await desk.start(QUESTION, **options))


def given(*texts: str) -> Context:
    """Return a context with hits of some texts, in order, that are in no library."""
    return Context(
        question=QUESTION, results=(Results(question=QUESTION, hits=numbered([hit(t) for t in texts])),)
    )


def hit(text: str, name: str = "") -> Hit:
    name = name or text.split()[0].lower()
    chunk = Chunk(
        chunk_id=name,
        document_id=f"d-{name}",
        collection="elsewhere",
        position=0,
        start=0,
        end=len(text),
        text=text,
    )
    return Hit(chunk=chunk, title=name, url=None, source_id=name)


async def streamed(
    desk: refdesk.Desk, *steps: Step, llm: Any = None, history: Sequence[Any] = ()
) -> tuple[Answer, str, Context]:
    """Return the answer of a pipeline, the tokens joined, and the context."""
    stream = desk.stream(QUESTION, pipeline=Pipeline(steps), llm=llm, history=history)
    events: list[Event] = [event async for event in stream]
    done = events[-1]
    assert isinstance(done, Done)
    assert done.context is not None
    return done.answer, "".join(one.text for one in events if isinstance(one, Token)), done.context
