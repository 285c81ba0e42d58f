"""What the user's own code returns, as an answer."""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from refdesk.answering.own import own_answer
from refdesk.context import Answer, Evidence, Zone
from refdesk.errors import StepError
from refdesk.events import Done, Token

pytestmark = pytest.mark.anyio
MakeEvidence = Callable[..., tuple[Evidence, ...]]
REPLY = ("You get 30 days [", "[1]", "], see https://evil.example ", "and [[7]].")


async def answer(returned: Any, evidence: tuple[Evidence, ...], zone: Zone = "unknown") -> Answer:
    """Return the answer after checking that its pieces are its text."""
    events = [one async for one in own_answer("Leave?", returned, evidence, zone=zone, step="mine")]
    *tokens, done = events
    assert isinstance(done, Done)
    assert "".join(one.text for one in tokens if isinstance(one, Token)) == done.answer.text
    assert len(tokens) == sum(isinstance(one, Token) for one in tokens)
    return done.answer


async def asynchronous() -> AsyncIterator[str]:
    for piece in REPLY:
        yield piece


class Pieces:
    """Asynchronous, and no generator."""

    def __init__(self) -> None:
        self.left = list(REPLY)

    def __aiter__(self) -> "Pieces":
        return self

    async def __anext__(self) -> str:
        if not self.left:
            raise StopAsyncIteration
        return self.left.pop(0)


def plain() -> Iterator[str]:
    yield from REPLY


@pytest.mark.parametrize("make", [lambda: "".join(REPLY), lambda: list(REPLY), asynchronous, Pieces, plain])
async def test_text_goes_the_way_of_a_model(make: Callable[[], Any], evidence_of: MakeEvidence) -> None:
    found = await answer(make(), evidence_of("leave.md"), zone="weak")
    assert found.text == "You get 30 days [1], see and."
    assert [one.source_id for one in found.citations] == ["leave.md"]
    assert len(found.warnings) == 2
    assert (found.model, found.zone) == ("own", "weak")


async def test_a_whole_answer_stays_as_it_is(evidence_of: MakeEvidence) -> None:
    whole = Answer(question="?", text="Mine [1].", zone="ok", model="m")
    assert await answer(whole, evidence_of("leave.md"), zone="weak") == whole
    assert (await answer(Answer(question="?", text="Mine."), (), zone="weak")).zone == "weak"


async def bad_pieces() -> AsyncIterator[Any]:
    yield "A"
    yield None


@pytest.mark.parametrize(
    "returned",
    [None, 3, "", " \n", "[[9]]", b"x", bytearray(b"x"), {"a"}, {}, ["a", 1], bad_pieces, object()],
)
async def test_nonsense_names_the_step(returned: Any, evidence_of: MakeEvidence) -> None:
    made = returned() if returned is bad_pieces else returned
    with pytest.raises(StepError) as raised:
        await answer(made, evidence_of("leave.md"))
    assert raised.value.step == "mine"


async def test_a_failure_of_ones_own_pieces_comes_through() -> None:
    def failing() -> Iterator[str]:
        yield "A"
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await answer(failing(), ())
