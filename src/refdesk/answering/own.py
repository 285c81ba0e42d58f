"""What the user's own code answers: a text, pieces of one, or a whole answer."""

from collections.abc import AsyncGenerator, AsyncIterable, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing, nullcontext
from dataclasses import replace
from typing import Any

import anyio.to_thread

from refdesk.answering.writing import write
from refdesk.context import Answer, Evidence, NumberBy, Zone
from refdesk.errors import StepError
from refdesk.events import AnswerEvent, Done, Token

_END = object()


async def own_answer(
    question: str,
    returned: Any,
    evidence: Sequence[Evidence],
    *,
    name: str = "own",
    zone: Zone = "unknown",
    step: str = "answer",
    number_by: NumberBy = "chunk",
) -> AsyncGenerator[AnswerEvent, None]:
    """Give what an implementation returned as answerers give theirs.

    Text goes the same way as a model's: `[[n]]` becomes a citation of evidence n, links stay where the
    evidence has them. An `Answer` is taken as it is. Errors: `StepError` for anything else, and for text that
    is blank.
    """
    if isinstance(returned, Answer):
        yield Token(_filled(returned.text, step))
        yield Done(replace(returned, zone=zone) if returned.zone == "unknown" else returned)
        return
    pieces = pieces_of(returned, step)
    async with aclosing(pieces):
        written = write(
            question,
            pieces,
            evidence,
            evidence=evidence,
            model=name,
            zone=zone,
            cites=False,
            number_by=number_by,
        )
        async with aclosing(written) as events:
            async for event in events:
                if isinstance(event, Done):
                    _filled(event.answer.text, step, returned)
                yield event


async def pieces_of(returned: Any, step: str = "answer") -> AsyncGenerator[str, None]:
    """Yield the text that an implementation returned, whole or in pieces. Errors: `StepError`."""
    if isinstance(returned, str | list | tuple):
        for piece in [returned] if isinstance(returned, str) else returned:
            yield _text(piece, step)
    elif isinstance(returned, AsyncIterable):
        async with aclosing(returned) if isinstance(returned, AsyncGenerator) else nullcontext():
            async for piece in returned:
                yield _text(piece, step)
    elif isinstance(returned, Iterable) and not isinstance(returned, bytes | bytearray | Mapping | set):
        rest: Iterator[Any] = iter(returned)
        while (piece := await anyio.to_thread.run_sync(next, rest, _END, abandon_on_cancel=True)) is not _END:
            yield _text(piece, step)
    else:
        raise _nonsense(returned, step)


def _text(piece: Any, step: str) -> str:
    if not isinstance(piece, str):
        raise _nonsense(piece, step)
    return piece


def _filled(text: Any, step: str, returned: Any = None) -> str:
    if not isinstance(text, str) or not text.strip():
        raise _nonsense(text if returned is None else returned, step)
    return text


def _nonsense(value: Any, step: str) -> StepError:
    return StepError(
        f"The answerer returned {value!r:.80}; allowed are text, pieces of text, and an Answer.",
        step=step,
        remedy="Return text that is not blank.",
    )
