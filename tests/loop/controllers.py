"""Controllers that do anything at random: their replies, and what is known of how they were asked."""

import json
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from refdesk.errors import LLMError
from refdesk.llm import DEFAULTS, Calling, Message, Options, ToolCall

SECRET = "Employees get no leave when it comes."
PLACES = {
    "staff": {
        "leave": "Employees get 30 days of leave per year.\n\nUnused leave expires in March.\n\nIt is paid.",
        "travel": "Trains are booked in second class.\n\nFlights need the approval of the head.",
        "kitchen": "The kitchen closes at six.",
        "rules": "\n\n".join(
            f"Rule {n} of leave: employees {w} "
            + "with the consent of the head of their part of the house, " * 12
            for n, w in enumerate(("rest", "swim", "run", "sing", "cook", "read"), 1)
        ),
    },
    "pumps": {
        "x200": "The warranty of the X200 pump is five years.\n\nThe X200 pump weighs nine kilograms.",
        "x300": "The X300 pump has no warranty.",
    },
    "secret": {"merger": f"The merger is called Halcyon. {SECRET}"},
}
WORDS = (
    "leave",
    "days of leave",
    "pump warranty",
    "kitchen",
    "merger HALCYON",
    "LEAVE!",
    "ünïcode 🙂",
    "zebra",
)


@dataclass(frozen=True, slots=True)
class Reply:
    """What a controller says in one turn: a text, calls, or a failure."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    fails: bool = False

    def written(self) -> str:
        """Return it as a model writes it that calls nothing natively."""
        return "\n".join(
            [
                self.text,
                *(f'{{"name": {json.dumps(c.name)}, "arguments": {c.arguments}}}' for c in self.calls),
            ]
        )


@dataclass(slots=True)
class AnyController:
    """Replies in turn, then again and again with the last; without tools it writes `says`."""

    replies: list[Reply]
    calling: Calling
    says: str = "It is so [[1]], and so [[2]]."
    name: str = "any"
    requests: list[tuple[tuple[Message, ...], Options]] = field(default_factory=list)
    made: list[Reply] = field(default_factory=list)
    """Its replies as a controller."""

    async def stream(
        self, messages: tuple[Message, ...], options: Options = DEFAULTS
    ) -> AsyncGenerator[str, None]:
        self.requests.append((messages, options))
        if not asks_for_calls(options):
            yield self.says
            return
        reply = self.replies[min(len(self.made), len(self.replies) - 1)]
        self.made.append(reply)
        if reply.fails:
            raise LLMError("The server is down.")
        native = self.calling == "native"
        yield reply.text if native else reply.written()
        if native and reply.calls:
            options.on_calls(reply.calls)

    @property
    def turns(self) -> Iterator[tuple[Message, ...]]:
        """Return what it was asked as a controller."""
        return (messages for messages, options in self.requests if asks_for_calls(options))


def asks_for_calls(options: Options) -> bool:
    return bool(options.tools or options.json_schema)


def _arguments(values: st.SearchStrategy[Any]) -> st.SearchStrategy[str]:
    return values.map(lambda value: json.dumps(value, ensure_ascii=False))


def _object(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=fields)


QUERIES = st.sampled_from(WORDS) | st.text(max_size=12)
NUMBERS = st.integers(-1, 25) | st.sampled_from([10**30, "3", 2.5, None])
TEXTS = st.lists(
    st.sampled_from(
        [
            "Leave is 30 days",
            "[[1]]",
            "[[2]]",
            "[[7]]",
            "[3]",
            "[x](https://evil.example)",
            ". ",
            "\n\n",
            "~~~",
            "`",
        ]
    )
    | st.text(max_size=6),
    max_size=6,
).map(" ".join)
IDS = st.sampled_from(["", "a", "b", "call00001"])
GOOD = {
    "search": st.fixed_dictionaries(
        {"query": QUERIES},
        optional={"limit": NUMBERS, "collection": st.sampled_from(["staff", "pumps", "secret", "all", None])},
    ),
    "read": _object(
        passage=st.integers(0, 12) | st.sampled_from(["[[1]]", "2", "nothing", True]),
        before=NUMBERS,
        after=NUMBERS,
    ),
    "answer": st.fixed_dictionaries({"text": TEXTS}),
    "give_up": _object(reason=TEXTS),
    "note": _object(text=st.sampled_from(["a", "fail", "bytes", "cancel", "deep"]), times=NUMBERS),
    "act": _object(text=QUERIES),
}
BROKEN = st.sampled_from(
    ["", "{", '{"query": ', "[]", "null", '"leave"', '{"query": "leave"', "{'text': 'x'}", "\\", "[" * 400]
)
CALLS = st.one_of(
    *(
        st.builds(ToolCall, name=st.just(name), arguments=_arguments(values) | BROKEN, id=IDS)
        for name, values in GOOD.items()
    ),
    st.builds(ToolCall, name=st.just("search"), arguments=_arguments(GOOD["search"]), id=IDS),
    st.builds(
        ToolCall, name=st.sampled_from(["find", "functions.search", "", "\x1b[2J"]), arguments=BROKEN, id=IDS
    ),
)
FINE = st.one_of(
    st.builds(lambda query, limit: ("search", {"query": query, "limit": limit}), QUERIES, st.integers(1, 8)),
    st.builds(
        lambda passage, after: ("read", {"passage": passage, "after": after}), st.integers(1, 8), NUMBERS
    ),
    GOOD["note"].map(lambda arguments: ("note", arguments)),
    st.just(("act", {"text": "x"})),
).flatmap(
    lambda made: st.builds(ToolCall, name=st.just(made[0]), arguments=st.just(json.dumps(made[1])), id=IDS)
)
SEVERAL = st.builds(Reply, calls=st.lists(FINE, min_size=1, max_size=5).map(tuple))
REPLIES = st.one_of(
    SEVERAL,
    SEVERAL,
    SEVERAL,
    st.builds(
        Reply,
        calls=st.lists(CALLS, min_size=1, max_size=3).map(tuple),
        text=st.sampled_from(["", "I look."]),
    ),
    st.builds(Reply, calls=CALLS.map(lambda call: (call, call, call))),
    st.builds(
        Reply, text=st.sampled_from(["", "Leave is 30 days [[1]].", "No idea [[9]].", "<think>so</think>"])
    ),
    st.builds(Reply, fails=st.booleans(), text=st.just("I search.")),
)
SEARCHING = Reply(calls=(ToolCall(name="search", arguments='{"query": "leave", "limit": 8}'),))
ENDINGS = st.builds(
    lambda text: Reply(calls=(ToolCall(name="answer", arguments=json.dumps({"text": text})),)),
    st.permutations([f"It is [[{n}]]." for n in range(1, 9)]).map(" ".join),
)
SCRIPTS = st.builds(
    lambda begins, replies, ends: [*([SEARCHING] if begins else []), *replies, ends],
    st.booleans(),
    st.lists(REPLIES, max_size=4),
    ENDINGS | REPLIES,
)
