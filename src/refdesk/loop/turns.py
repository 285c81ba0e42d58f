"""What was said in a loop, and how a model is shown it again.

Passages are kept by number and laid out when a request is made: each once, where it first comes, and the
oldest are cut to their titles where the model's window has no room.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from refdesk.evidence import estimate_tokens, evidence_block, quoted
from refdesk.llm import Calling, Message, ToolCall
from refdesk.loop import prompts
from refdesk.loop.ledger import Ledger
from refdesk.loop.written import written_call, written_result

Count = Callable[[str], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What the model is told of one call."""

    call: ToolCall
    said: str
    numbers: tuple[int, ...] = ()
    """Passages that are shown behind it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What a controller wrote, and what it was told."""

    text: str = ""
    results: tuple[Result, ...] = ()
    remark: str = ""
    """Said where it called nothing and the loop goes on."""


def fitted(
    turns: Sequence[Turn], ledger: Ledger, calling: Calling, budget: int, count: Count = estimate_tokens
) -> tuple[Message, ...]:
    """Return turns as messages within `budget` tokens, as few of the oldest passages cut as can be.

    Where even the last turn's passages have no room, they are shortened.
    """
    if not turns:
        return ()
    for cut in range(len(turns)):
        messages = _View(ledger, calling, cut).messages(turns)
        if tokens_of(messages, count) <= budget:
            return messages
    rest = _View(ledger, calling, len(turns)).messages(turns)
    room = max(budget - tokens_of(rest, count), 0) // max(len(turns[-1].results), 1)
    return _View(ledger, calling, len(turns) - 1, room).messages(turns)


def tokens_of(messages: Iterable[Message], count: Count = estimate_tokens) -> int:
    """Count messages with the calls in them."""
    return sum(
        count(message.text + "".join(call.name + call.arguments for call in message.calls))
        for message in messages
    )


@dataclass(slots=True)
class _View:
    """Lays out turns in order; remembers which passages it has shown."""

    ledger: Ledger
    calling: Calling
    cut: int
    """Turns whose passages are cut."""
    room: int | None = None
    """Tokens for the passages of each result that is not cut; None for as many as it takes."""
    seen: set[int] = field(default_factory=set)

    def messages(self, turns: Sequence[Turn]) -> tuple[Message, ...]:
        return tuple(
            message
            for place, turn in enumerate(turns)
            for message in self._turn(turn, shown=place >= self.cut)
        )

    def _turn(self, turn: Turn, *, shown: bool) -> list[Message]:
        told = [(result.call, self._text(result, shown=shown)) for result in turn.results]
        if not told:
            said = Message("assistant", turn.text or "(nothing)")
            return [said, Message("user", turn.remark)] if turn.remark else [said]
        if self.calling == "native":
            calls = tuple(call for call, _ in told)
            results = [Message("tool", text, call=call) for call, text in told]
            return [Message("assistant", turn.text, calls=calls), *results]
        asked = "\n".join(written_call(call) for call, _ in told)
        answered = "\n\n".join([*(written_result(call, text) for call, text in told), prompts.NEXT])
        return [Message("assistant", asked), Message("user", answered)]

    def _text(self, result: Result, *, shown: bool) -> str:
        if not result.numbers:
            return result.said
        items = self.ledger.passages(result.numbers)
        if not shown:
            titles = "; ".join(f"[[{item.number}]] {_title(item.hit.title)}" for item in items)
            return f"{result.said}\n{CUT} {titles}"
        new = [item for item in items if item.number not in self.seen]
        block = evidence_block(new, budget=self.room)
        for item in block.shown:
            self.seen.add(item.number)
            if item.shortened:
                self.ledger.shorten(item)
        again = [f"[[{item.number}]]" for item in items if item not in new]
        parts = [result.said, block.text if block.shown else ""]
        parts += [f"Shown above: {', '.join(again)}."] if again else []
        parts += [f"No room for {len(block.left_out)} of them: ask for fewer."] if block.left_out else []
        return "\n".join(part for part in parts if part)


def _title(title: str) -> str:
    return quoted(title.replace("\n", " "))[:TITLE].removeprefix("> ")


CUT = "Their text is cut to save room:"
TITLE = 80
