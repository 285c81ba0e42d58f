"""What one loop is made of: its tools on a library, its limits, its models."""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import anyio

from refdesk.answering.generated import GeneratedAnswerer
from refdesk.answering.history import recent, rejection, said_before
from refdesk.context import Answer, Context
from refdesk.context import Turn as Said
from refdesk.documents import Collection
from refdesk.errors import LimitReached
from refdesk.evidence import estimate_tokens, evidence_block
from refdesk.evidence.tokens import LEAST
from refdesk.llm import Message
from refdesk.loop import prompts
from refdesk.loop.acting import Acting
from refdesk.loop.answering import Answering
from refdesk.loop.builtin import Builtin
from refdesk.loop.controller import Controller
from refdesk.loop.investigation import Investigation, Outcome
from refdesk.loop.ledger import Found, Ledger
from refdesk.loop.limits import Limits, Meter
from refdesk.loop.naming import chosen
from refdesk.loop.tools import Tool
from refdesk.pipeline import LLMValue, Run
from refdesk.pipeline.prompts import messages_of
from refdesk.pipeline.workers import bind
from refdesk.steps.answer import HISTORY_SHARE, shown
from refdesk.steps.lookup import Lookup
from refdesk.steps.search import ALL
from refdesk.steps.window import PROMPT, room
from refdesk.tooluse import ToolUse

if TYPE_CHECKING:
    from refdesk.steps.investigate import Loop

SHARE = 0.9
"""Of the time that a run has left, for the loop; the rest is for its answer and the steps after it."""
RESERVE = 2.0
"""Seconds that are left for these at least, unless that were more than half of the time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """One loop, ready to begin."""

    loop: "Loop"
    context: Context
    run: Run
    collections: tuple[str, ...]
    ledger: Ledger
    investigation: Investigation

    async def written(self, outcome: Outcome) -> Answer:
        """Return the answer, shown while it is written, within what the loop may use."""
        meter, usage = self.investigation.meter, self.investigation.usage
        spent = meter.spent(usage, prompt=self._frame(outcome.text) + 2 * LEAST)
        answering = self._answering(outcome.text, rewrites=not spent)
        if spent and outcome.terminated_by == "answered" and self.loop.answer_llm is not None:
            self.run.warn(f"The controller's draft is the answer: {spent}.")
        outcome = replace(outcome, exhausted=outcome.exhausted or bool(spent))
        left = None if meter.seconds_left == math.inf or outcome.exhausted else meter.seconds_left
        with anyio.move_on_after(left) as scope:
            return await shown(answering.answer(outcome), self.run, at_once=True)
        assert scope.cancelled_caught
        if self.run.shared.pieces:
            raise LimitReached(
                f"The loop took longer than {meter.limits.seconds:.3g} seconds, in the midst of its answer.",
                kind="step_seconds",
                limit=meter.limits.seconds,
                remedy="Allow more time, or use a faster model.",
            )
        self.run.warn("The time was over before the answer was written.")
        short = self._answering(outcome.text, rewrites=False)
        return await shown(short.answer(replace(outcome, exhausted=True)), self.run, at_once=True)

    @property
    def _searches_first(self) -> bool:
        return self.loop.search_first and "search" in self.investigation.acting.tools

    def note_synthesis(self, answer: Answer) -> None:
        """Put the answer that was made at a limit into the history."""
        self.investigation.acting.note(
            ToolUse(
                tool="synthesis",
                arguments={"text": answer.text},
                iteration=self.investigation.iterations,
                summary=f"Made of {len(answer.evidence)} passages by {answer.model}.",
            )
        )

    def _answering(self, draft: str, *, rewrites: bool) -> Answering:
        loop, question = self.loop, self.context.question
        role = loop.answer_llm if loop.answer_llm is not None else loop.controller_llm
        return Answering(
            run=self.run,
            question=question,
            evidence=self.ledger.evidence,
            based=self.investigation.acting.based or not self._searches_first,
            seen=self.ledger.seen,
            number_by=loop.number_by or self.run.services.settings.number_by,
            controller=self.run.model(loop.controller_llm).name,
            rewriter=self._writer(loop.answer_llm, loop.answer_temperature, draft)
            if rewrites and loop.answer_llm is not None
            else None,
            rewriting=lambda draft: (
                text_of(loop.answer_prompt, question=question, draft=draft) or prompts.REWRITE
            ),
            synthesis=self._synthesis(role) if loop.fallback_synthesis else None,
            synthesizer=bind(loop.synthesizer, "synthesize", loop.label)
            if loop.synthesizer and self.investigation.meter.seconds_left > 0
            else None,
        )

    def _synthesis(self, role: LLMValue) -> GeneratedAnswerer:
        loop = self.loop
        asked = text_of(loop.synthesis_prompt, question=self.context.question) or prompts.SYNTHESIS
        return replace(self._writer(role, loop.fallback_temperature), further=asked)

    def _writer(self, llm: LLMValue, temperature: float | None, draft: str = "") -> GeneratedAnswerer:
        settings = self.run.services.settings
        budget, most = room(settings, *self._said()), settings.llm_output
        left = self.investigation.meter.tokens_left(self.investigation.usage)
        if left is not None:
            spare = max(left - self._frame(draft), 1)
            budget = min(budget, spare * 3 // 4)
            most = min(most, spare - budget)
        return GeneratedAnswerer(
            llm=self.run.model(llm),
            budget=budget,
            instructions=self.loop.house,
            history=before_of(self.loop, self.context, self.run),
            options=self.loop.options(most, temperature),
        )

    def _said(self) -> tuple[str, ...]:
        """Return what stands in every prompt for an answer besides the evidence."""
        before = before_of(self.loop, self.context, self.run)
        return self.context.question, self.loop.house, *(turn.text for turn in before)

    def _frame(self, draft: str) -> int:
        """Return about the tokens of a prompt for an answer without the evidence, rather too many."""
        return PROMPT + sum(map(estimate_tokens, (*self._said(), draft)))


def text_of(prompt: Any, **values: Any) -> str:
    """Return the text of a prompt of the user's own, empty where there is none."""
    if prompt is None:
        return ""
    return "\n\n".join(message.text for message in messages_of(prompt, **values))


def before_of(loop: "Loop", context: Context, run: Run) -> tuple[Said, ...]:
    """Return the earlier turns that models are shown."""
    turns = context.history[-loop.history :] if loop.history else ()
    return recent(turns, run.services.settings.llm_window // HISTORY_SHARE)


async def begun(loop: "Loop", context: Context, run: Run) -> Parts:
    """Make a loop for a question. Errors: `NotFound` for unknown collections, `InputError`."""
    known = await _collections(loop, context, run)
    names = tuple(one.name for one in known)
    ledger = Ledger(cap=loop.chunk_cap)
    first = context.hits[: run.services.settings.evidence]
    if first:
        ledger.note(Found(hits=first, query=context.standalone))
    lookup = Lookup(loop=loop, context=context, run=run, collections=names)
    tools, ending = _tools(loop, lookup, ledger)
    meter = Meter(_limits(loop, run))
    asked = _asked(loop, context, run, ledger)
    controller = Controller(
        forms=tuple(tool.form for tool in tools.values()),
        system=_system(loop, known),
        asked=asked,
        ledger=ledger,
        settings=run.services.settings,
        options=loop.options(run.services.settings.llm_output, loop.controller_temperature),
        search_first=loop.search_first,
    )
    acting = Acting(
        run=run,
        tools=tools,
        ending=ending,
        own=frozenset(tools).difference(one for one in loop.tools if isinstance(one, str)),
        ledger=ledger,
        meter=meter,
        search_first=loop.search_first,
        cites=loop.answer_llm is None,
        told=len(asked) > 1 or context.standalone != context.question or bool(_why(context)),
    )
    investigation = Investigation(
        run=run, llm=loop.controller_llm, controller=controller, acting=acting, meter=meter
    )
    return Parts(
        loop=loop, context=context, run=run, collections=names, ledger=ledger, investigation=investigation
    )


async def _collections(loop: "Loop", context: Context, run: Run) -> tuple[Collection, ...]:
    """Return where the loop may search, in the order named. Errors: `NotFound`."""
    named = context.collections if loop.collection is None else loop.collection
    everything = loop.collection in (ALL, (ALL,))
    names = () if everything else tuple(dict.fromkeys((named,) if isinstance(named, str) else named))
    if loop.search_fn is not None and not everything:
        return tuple(Collection(name=name) for name in names)
    known = {one.name: one for one in await run.services.collections()}
    if everything:
        return tuple(known.values())
    if names:
        await run.services.searchable(names)  # whose error names what is unknown, before a model is asked
    return tuple(known.get(name, Collection(name=name)) for name in names)


def _tools(loop: "Loop", lookup: Lookup, ledger: Ledger) -> tuple[Mapping[str, Tool], frozenset[str]]:
    """Return the tools by name, in the order named, and the names of those that end the loop."""
    names, own = chosen(loop.tools)
    builtin = Builtin(ledger=ledger, search=lookup.search, read=lookup.read, collections=lookup.collections)
    made = {one.name: one for one in builtin.tools()}
    tools = {**{name: made[name] for name in names}, **{one.name: one.within(lookup.context) for one in own}}
    return tools, frozenset({"answer", "give_up"}.intersection(names))


def _limits(loop: "Loop", run: Run) -> Limits:
    left = min(run.began + run.deadline - time.perf_counter(), loop.timeout or math.inf)
    return Limits(
        max_iterations=loop.max_iterations,
        tool_calls=loop.tool_calls,
        repeats=loop.repeats,
        tokens=loop.tokens,
        cost=loop.cost,
        seconds=min(loop.seconds or math.inf, max(min(left * SHARE, left - RESERVE), left / 2)),
    )


def _system(loop: "Loop", known: Sequence[Collection]) -> str:
    own = text_of(
        loop.system_prompt,
        collections=tuple(one.name for one in known),
        max_iterations=loop.max_iterations,
    )
    task = own or prompts.task(known, loop.max_iterations)
    house = f"\n\nRules of the house\n{loop.house}" if loop.house else ""
    return f"{task}\n\n{prompts.RULES}{house}"


def _asked(loop: "Loop", context: Context, run: Run, ledger: Ledger) -> tuple[Message, ...]:
    """Return what was said before, what was found before, and the question."""
    before = said_before(before_of(loop, context, run))
    question = f"{_why(context)}Question: {context.question}"
    if context.standalone != context.question:
        question += f"\nWhat is meant: {context.standalone}"
    if ledger.evidence:
        block = evidence_block(ledger.evidence, budget=room(run.services.settings, question) // 2)
        ledger.show(block.shown)
        question = f"A first search found:\n{block.text}\n{question}"
    return (*before, Message("user", question))


def _why(context: Context) -> str:
    """Say why an earlier answer was rejected; empty where none was."""
    verdict = context.verdict
    return rejection(verdict.reason) if verdict is not None and verdict.decision == "reject" else ""
