"""What the user's own code answers: a text, pieces of one, or a whole answer."""

from collections.abc import AsyncGenerator, AsyncIterable, Iterable, Sequence
from contextlib import aclosing
from typing import Any

from refdesk.answering.writing import write
from refdesk.context import Answer, Evidence, Zone
from refdesk.errors import StepError
from refdesk.events import AnswerEvent, Done, Token


async def own_answer(
    question: str, returned: Any, evidence: Sequence[Evidence], *, name: str, zone: Zone = "unknown"
) -> AsyncGenerator[AnswerEvent, None]:
    """Give what an implementation returned as answerers give theirs.

    Text goes the same way as a model's: `[[n]]` becomes a citation of evidence n, links stay where the
    evidence has them. Errors: `StepError` for anything else, and for text that is blank.
    """
    if isinstance(returned, Answer):
        yield Token(returned.text)
        yield Done(returned)
        return
    pieces = _pieces(returned)
    async with aclosing(pieces):
        written = write(question, pieces, evidence, evidence=evidence, model=name, zone=zone, cites=False)
        async with aclosing(written) as events:
            async for event in events:
                if isinstance(event, Done) and not event.answer.text:
                    raise _nonsense(returned)
                yield event


async def _pieces(returned: Any) -> AsyncGenerator[str, None]:
    if isinstance(returned, str):
        yield returned
    elif isinstance(returned, AsyncIterable):
        async for piece in returned:
            yield _text(piece)
    elif isinstance(returned, Iterable) and not isinstance(returned, bytes | dict | set):
        for piece in returned:
            yield _text(piece)
    else:
        raise _nonsense(returned)


def _text(piece: Any) -> str:
    if not isinstance(piece, str):
        raise _nonsense(piece)
    return piece


def _nonsense(value: Any) -> StepError:
    return StepError(
        f"The answerer returned {value!r:.80}; allowed are text, pieces of text, and an Answer.",
        step="answer",
        remedy="Return text that is not blank.",
    )
