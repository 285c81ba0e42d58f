"""Ask a model what to do next, in its own form of tool calls or in writing."""

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from refdesk.context import Evidence
from refdesk.errors import ContextTooLong, LLMError
from refdesk.evidence import estimate_tokens
from refdesk.evidence.tokens import LEAST
from refdesk.llm import LLM, Calling, Message, Options, ToolCall, ToolForm, calling_of
from refdesk.llm.calls import with_ids
from refdesk.llm.failures import tools_refused
from refdesk.llm.replies import without_thoughts
from refdesk.loop.ledger import Ledger
from refdesk.loop.turns import Turn, fitted, tokens_of
from refdesk.loop.written import action_of, instructions, schema
from refdesk.settings import Settings

SHORTER = 3
"""How often a prompt that is too long is tried again with half as many passages."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a controller wants: calls, or an answer in words. `problem` says what could not be read."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What a controller is asked."""

    messages: tuple[Message, ...]
    shown: tuple[Evidence, ...]
    """Passages whose text is in it."""
    turns: int
    """About the tokens of the turns."""
    tokens: int
    """About those of all."""


@dataclass(slots=True, kw_only=True)
class Controller:
    """Asks the model of one loop. It remembers what its server refused."""

    forms: tuple[ToolForm, ...]
    system: str
    asked: tuple[Message, ...]
    """What was said before, and the question."""
    ledger: Ledger
    settings: Settings
    options: Options
    search_first: bool
    calling: Calling | None = None
    """None until the model was asked for the first time."""
    called: bool = False
    """Whether the model has called a tool natively, so that its server takes tools."""
    _room: int | None = field(default=None)
    """Tokens of turns that fitted, once a prompt was too long."""

    def prompt(self, llm: LLM, turns: Sequence[Turn]) -> Prompt:
        """Return what the model is asked next."""
        self.calling = self.calling or calling_of(llm)
        before = (self._system(), *self.asked)
        fixed = tokens_of(before) + self._forms()
        settings = self.settings
        room = max(settings.llm_window - (self.options.max_tokens or settings.llm_output) - fixed, LEAST)
        found = fitted(turns, self.ledger, self.calling, min(room, self._room or room))
        used = tokens_of(found.messages)
        return Prompt(messages=(*before, *found.messages), shown=found.shown, turns=used, tokens=fixed + used)

    def _system(self) -> Message:
        written = f"\n\n{instructions(self.forms)}" if self.calling == "written" else ""
        return Message("system", self.system + written)

    def _useful(self) -> tuple[ToolForm, ...]:
        """Return the tools that can do something now; what a server excludes a weak model need not decide."""
        useless = set() if self.ledger.evidence else {"read"}
        if self.search_first and not self.ledger.results and any(f.name == "search" for f in self.forms):
            useless |= {"answer", "give_up"}
        return tuple(form for form in self.forms if form.name not in useless) or self.forms

    def _forms(self) -> int:
        if self.calling == "written":
            return 0
        return sum(estimate_tokens(f"{form.name}{form.description}{form.parameters}") for form in self.forms)

    async def ask(self, llm: LLM, turns: Sequence[Turn], *, most: int | None = None) -> Reply:
        """Return what the model wants next; `most` limits the tokens of its reply.

        Errors: `LLMError`. A server that refuses tools is asked in writing from then on.
        """
        for left in range(SHORTER, -1, -1):
            prompt = self.prompt(llm, turns)
            try:
                reply = await self._asked(llm, prompt.messages, most)
            except ContextTooLong:
                if not left or not turns or self._room == LEAST:
                    raise
                self._room = max(prompt.turns // 2, LEAST)
            except LLMError as error:
                if self.calling != "native" or self.called or not tools_refused(error):
                    raise
                self.calling = "written"
            else:
                self.ledger.show(prompt.shown)
                return replace(reply, calls=_named(reply.calls, turns))
        raise AssertionError("The last attempt returns or raises.")

    async def _asked(self, llm: LLM, messages: tuple[Message, ...], most: int | None) -> Reply:
        native = self.calling == "native"
        calls: list[ToolCall] = []
        options = replace(
            self.options,
            max_tokens=min(filter(None, (self.options.max_tokens, most)), default=None),
            tools=self.forms if native else (),
            json_schema=None if native else schema(self._useful()),
            on_calls=calls.extend,
        )
        async with aclosing(llm.stream(messages, options)) as pieces:
            written = "".join([piece async for piece in pieces])
        text = without_thoughts(written)
        if calls:
            self.called = True
            return Reply(text, tuple(calls))
        action = action_of(written, [form.name for form in self.forms], strict=not native)
        if action.call is not None or action.problem:
            return Reply(text, (action.call,) if action.call else (), action.problem)
        if not action.text:
            raise LLMError(f"The model {llm.name} returned no text.", retryable=True)
        return Reply(action.text)


def _named(calls: tuple[ToolCall, ...], turns: Sequence[Turn]) -> tuple[ToolCall, ...]:
    """Return calls with ids that no earlier call of the loop has; those that a model wrote have none yet."""
    before = tuple(result.call for turn in turns for result in turn.results)
    return with_ids(calls, (Message("assistant", "", calls=before),))
