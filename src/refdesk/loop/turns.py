"""What was said in a loop, and how a model is shown it again.

Passages are kept by number and laid out when a request is made: each once, where it first comes, and the
oldest are cut to their titles where the model's window has no room.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from refdesk.context import Evidence
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


@dataclass(frozen=True, slots=True)
class Fitted:
    """Turns as messages, and the passages whose text is in them."""

    messages: tuple[Message, ...] = ()
    shown: tuple[Evidence, ...] = ()


def fitted(
    turns: Sequence[Turn], ledger: Ledger, calling: Calling, budget: int, count: Count = estimate_tokens
) -> Fitted:
    """Return turns as messages within `budget` tokens, as few of the oldest passages cut as can be.

    Where even the last turn's passages have no room, they are shortened.
    """
    if not turns:
        return Fitted()
    for cut in range(len(turns)):
        found = _View(ledger, calling, cut).fitted(turns)
        if tokens_of(found.messages, count) <= budget:
            return found
    rest = _View(ledger, calling, len(turns)).fitted(turns).messages
    room = max(budget - tokens_of(rest, count), 0) // max(len(turns[-1].results), 1)
    return _View(ledger, calling, len(turns) - 1, room).fitted(turns)


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
    seen: dict[int, Evidence] = field(default_factory=dict)

    def fitted(self, turns: Sequence[Turn]) -> Fitted:
        messages = tuple(
            message
            for place, turn in enumerate(turns)
            for message in self._turn(turn, shown=place >= self.cut)
        )
        return Fitted(messages, tuple(self.seen.values()))

    def _turn(self, turn: Turn, *, shown: bool) -> list[Message]:
        told = [(brief(result.call), self._text(result, shown=shown)) for result in turn.results]
        text = turn.text[:LONGEST_AGAIN]
        if not told:
            said = Message("assistant", text or "(nothing)")
            return [said, Message("user", turn.remark)] if turn.remark else [said]
        if self.calling == "native":
            calls = tuple(call for call, _ in told)
            results = [Message("tool", text, call=call) for call, text in told]
            return [Message("assistant", text, calls=calls), *results]
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
        self.seen |= {item.number: item for item in block.shown}
        again = [f"[[{item.number}]]" for item in items if item not in new]
        parts = [result.said, block.text if block.shown else ""]
        parts += [f"Shown above: {', '.join(again)}."] if again else []
        parts += [f"No room for {len(block.left_out)} of them: ask for fewer."] if block.left_out else []
        return "\n".join(part for part in parts if part)


def brief(call: ToolCall) -> ToolCall:
    """Return a call as its model is shown it again: what is no JSON object, or very long, as a text in one.

    Servers read these arguments, and many refuse the whole conversation for one that they cannot read.
    """
    name = call.name[:LONGEST_NAME]
    written = call.arguments.strip() or "{}"
    if len(written) > LONGEST_AGAIN or not _is_object(written):
        written = json.dumps({"raw": written[:LONGEST_AGAIN]}, ensure_ascii=False)
    return (
        call
        if (name, written) == (call.name, call.arguments)
        else replace(call, name=name, arguments=written)
    )


def _is_object(written: str) -> bool:
    try:
        return isinstance(json.loads(written), dict)
    except (ValueError, RecursionError):
        return False


def _title(title: str) -> str:
    return quoted(title.replace("\n", " "))[:TITLE].removeprefix("> ")


CUT = "Their text is cut to save room:"
TITLE = 80
LONGEST_AGAIN = 8000
"""Characters of a reply, and of the arguments of a call, that a model is shown again."""
LONGEST_NAME = 64
