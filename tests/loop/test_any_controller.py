"""Whatever a controller replies: a loop ends, within its limits and its scope, and its books are right."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.loop.controllers import PLACES, SCRIPTS, SECRET, AnyController, Reply

import refdesk
from refdesk.blocking import BlockingDesk
from refdesk.cleaning import visible
from refdesk.context import NO_USAGE, Context
from refdesk.documents import Hit
from refdesk.errors import LLMError
from refdesk.events import Event, LoopFinished, ModelCalled, Token, ToolFinished, ToolStarted
from refdesk.llm import Message, ToolCall
from refdesk.loop.builtin import DEFAULT_TOOLS
from refdesk.steps import Loop
from refdesk.testing import HashingEmbedder
from refdesk.tooluse import TerminatedBy, ToolUse

SOURCE = re.compile(r'<source number="(\d+)">\n> Title: .*\n> From: (\S+)')
WINDOWS = (8192, 2048, 512)
ACTED: list[str] = []


@pytest.fixture(scope="module")
def desks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[BlockingDesk]]:
    """One library, before models with windows of different sizes."""
    folder = tmp_path_factory.mktemp("any") / "library"
    opened = partial(refdesk.open, folder, embedder=HashingEmbedder(), reranker="none", chunk_tokens=48)
    with ExitStack() as stack:
        desks = [stack.enter_context(opened(llm_window=size, llm_output=size // 8)) for size in WINDOWS]
        for place, texts in PLACES.items():
            for number, (name, text) in enumerate(texts.items()):
                desks[0].ingest_text(text, source_id=name, collection=place, metadata={"topic": number % 2})
        yield desks


async def note(text: str = "", times: int = 1) -> Any:
    """Note something."""
    if text == "fail":
        raise ValueError("no </source> [[1]] <|im_end|>")
    if text == "cancel":
        raise asyncio.CancelledError
    deep: Any = []
    for _ in range(2000 if text == "deep" else 0):
        deep = [deep]
    return {"bytes": b"\xff", "deep": deep, "": None}.get(text, text)


@refdesk.tool(acts=True)
def act(text: str = "") -> None:
    """Change something."""
    ACTED.append(text)


@dataclass
class Ran:
    """A loop that ended, and all that is known of it."""

    loop: Loop
    model: AnyController
    context: Context
    scope: tuple[str, ...]
    events: list[Event] = field(default_factory=list)

    def told(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def calls(self) -> tuple[ToolUse, ...]:
        return tuple(use for use in self.context.tool_history if use.tool != "synthesis")


OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "max_iterations": st.integers(2, 6) | st.just(1),
        "chunk_cap": st.integers(1, 6),
        "tool_calls": st.integers(1, 4),
        "repeats": st.integers(2, 3),
        "tokens": st.sampled_from([10**6, 10**6]) | st.integers(1, 12_000),
        "search_first": st.booleans(),
        "fallback_synthesis": st.booleans(),
        "number_by": st.sampled_from(["chunk", "document"]),
        "tools": st.lists(
            st.sampled_from([*DEFAULT_TOOLS, note, act]), unique=True, min_size=1, max_size=6
        ).map(tuple),
    },
)
SCOPES = st.sampled_from([("staff",), ("pumps", "staff"), ("pumps",)])
FILTERS = st.sampled_from([None, {"topic": 0}, {"source_id": ["leave", "x200"]}, {"topic": 9}])


@pytest.mark.parametrize("calling", ["native", "written"])
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    script=SCRIPTS,
    options=OPTIONS,
    scope=SCOPES,
    filters=FILTERS,
    answers=st.booleans(),
    window=st.sampled_from(range(len(WINDOWS))),
)
def test_a_loop_keeps_its_word(
    desks: list[BlockingDesk],
    calling: Any,
    script: list[Reply],
    options: dict[str, Any],
    scope: tuple[str, ...],
    filters: dict[str, Any] | None,
    answers: bool,
    window: int,
) -> None:
    desk = desks[window]
    model = AnyController(script, calling)
    writer = AnyController(script, calling, name="writer") if answers else None
    loop = Loop(controller_llm=model, answer_llm=writer, **{"tools": (*DEFAULT_TOOLS, note, act), **options})
    events: list[Event] = []
    ACTED.clear()
    context = desk.run(
        loop, "How many days of leave?", collections=scope, filters=filters, on_event=events.append
    )
    ran = Ran(loop, model, context, scope, events)
    for check in CHECKS:
        check(ran)
    assert all(filters is None or _passes(hit, filters) for hit in context.hits)
    shown = [messages for one in (model, writer) if one for messages, _ in one.requests]
    _check_citations(ran, desk, shown)


def _passes(hit: Hit, filters: dict[str, Any]) -> bool:
    if "topic" in filters:
        return bool(hit.metadata["topic"] == filters["topic"])
    return hit.source_id in filters["source_id"]


def check_end(ran: Ran) -> None:
    """It ends in a known way, which fits what came of it."""
    context, answer = ran.context, ran.context.answer
    assert context.terminated_by in get_args(TerminatedBy)
    if context.terminated_by == "error":
        assert isinstance(context.error, LLMError)
        assert answer is None
        return
    assert context.error is None
    assert answer is not None
    assert answer.text.strip()
    assert answer.refusal in FITTING[context.terminated_by or ""]
    assert answer.refusal is None or answer.citations == ()
    assert "".join(event.text for event in ran.told(Token)) == answer.text
    assert "evil" not in answer.text


FITTING: dict[str, set[str | None]] = {
    "answered": {None, "unfinished", "nothing_found"},
    "gave_up": {"gave_up"},
    "max_iterations": {None, "unfinished", "nothing_found", "below_threshold"},
    "budget": {None, "unfinished", "nothing_found", "below_threshold"},
}


def check_limits(ran: Ran) -> None:
    """Turns, calls, passages, collections are within what the loop may use."""
    [ended] = ran.told(LoopFinished)
    assert len(list(ran.model.turns)) == len(ran.model.made) == ended.iterations <= ran.loop.max_iterations
    ending = {"answer", "give_up"}.intersection(one for one in ran.loop.tools if isinstance(one, str))
    assert len([one for one in ran.told(ToolStarted) if one.tool not in ending]) <= ran.loop.tool_calls
    assert len(ran.context.hits) <= ran.loop.chunk_cap
    assert {i.hit.chunk.chunk_id for i in ran.context.evidence} == {
        h.chunk.chunk_id for h in ran.context.hits
    }
    assert {hit.chunk.collection for hit in ran.context.hits} <= set(ran.scope)
    assert not any(SECRET in message.text for messages in ran.model.turns for message in messages)


def check_usage(ran: Ran) -> None:
    called = [event.usage for event in ran.told(ModelCalled)]
    assert ran.context.usage == sum(called, NO_USAGE)
    if ran.loop.tokens is not None and called:
        replies = max(usage.output_tokens for usage in called)
        assert (
            ran.context.usage.input_tokens + ran.context.usage.output_tokens <= ran.loop.tokens + replies + 50
        )


def check_history(ran: Ran) -> None:
    """Every call that was made is in the history, once and in order, and each has one result."""
    by_turn = [
        [use for use in ran.calls if use.iteration == turn] for turn in range(1, len(ran.model.made) + 1)
    ]
    assert sum(map(len, by_turn)) == len(ran.calls)
    for reply, uses in zip(ran.model.made, by_turn, strict=True):
        made = [visible(call.name) for call in reply.calls]
        if ran.model.calling == "native":
            assert [use.tool for use in uses] == made or reply.fails
        else:
            assert len(uses) <= 1
    ids = [use.call_id for use in ran.calls]
    assert all(ids)
    assert len(set(ids)) == len(ids)


def check_events(ran: Ran) -> None:
    [ended] = ran.told(LoopFinished)
    finished = [event.use for event in ran.told(ToolFinished)]
    assert tuple(finished) == ran.context.tool_history
    assert ended.tool_history == ran.calls
    assert ended.terminated_by == ran.context.terminated_by
    started = Counter((event.call_id, event.tool) for event in ran.told(ToolStarted))
    assert max(started.values(), default=1) == 1
    ran_to_end = {(use.call_id, use.tool) for use in ran.calls if use.outcome in ("done", "repeated")}
    assert ran_to_end <= set(started) <= {(use.call_id, use.tool) for use in ran.calls}
    assert all(use.outcome != "refused" or (use.call_id, use.tool) not in started for use in ran.calls)


def check_acts(ran: Ran) -> None:
    """Nothing is changed once passages were shown; a call beside the first search was made without them."""
    searched = [use.iteration for use in ran.calls if use.tool == "search" and use.outcome == "done"]
    acted = [use.iteration for use in ran.calls if use.tool == "act" and use.outcome == "done"]
    assert max(acted, default=0) <= min(searched, default=ran.loop.max_iterations)
    assert len(ACTED) == len(acted)


def check_messages(ran: Ran) -> None:
    """What is sent is a conversation that every provider takes, and numbers mean the same in all requests."""
    meant: dict[str, str] = {}
    for messages in ran.model.turns:
        _check_conversation(messages)
        for number, name in SOURCE.findall("\n".join(message.text for message in messages)):
            assert meant.setdefault(number, name) == name
    for before, after in zip(list(ran.model.turns), list(ran.model.turns)[1:], strict=False):
        assert [m.role for m in after[: len(before)]] == [m.role for m in before]


def _check_conversation(messages: Sequence[Message]) -> None:
    assert messages[0].role == "system"
    assert all(message.role != "system" for message in messages[1:])
    waiting: list[ToolCall] = []
    known: set[str] = set()
    last = "assistant"
    for message in messages[1:]:
        assert all(isinstance(json.loads(call.arguments), dict) for call in message.calls)
        if message.role == "tool":
            assert message.call is not None
            assert message.call.id == waiting.pop(0).id
        else:
            assert not waiting
            assert message.role != last, "roles alternate"
            waiting = list(message.calls)
        assert not known & {call.id for call in message.calls}
        known |= {call.id for call in message.calls}
        assert message.text or message.calls or message.role == "tool"
        last = "user" if message.role == "tool" else message.role
    assert not waiting
    assert last == "user"


def _check_citations(ran: Ran, desk: BlockingDesk, shown: Sequence[Sequence[Message]]) -> None:
    answer = ran.context.answer
    if answer is None or answer.model == "extractive":
        return
    said = "\n".join(message.text for messages in shown for message in messages)
    said = " ".join(re.sub(r"\n>", " ", said).split())
    evidence = {item.hit.chunk.chunk_id for item in ran.context.evidence}
    for one in answer.citations:
        assert one.chunk_id in evidence
        assert one.collection in ran.scope
        document = desk.document(one.document_id, collections=one.collection)
        assert document.text[one.start : one.end] == one.quote
        assert " ".join(one.quote.split()) in said, "a model was shown what it cites"


CHECKS = (check_end, check_limits, check_usage, check_history, check_events, check_acts, check_messages)
