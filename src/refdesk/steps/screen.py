"""`screen`: turn questions away by rule, before anything else."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal, Protocol

import anyio.to_thread

from refdesk.context import SCREENED, Answer, Context
from refdesk.errors import InputError, StepError
from refdesk.pipeline import Kind, OnError, Run, Step
from refdesk.pipeline.workers import WorkerOption
from refdesk.screening import DEFAULT_RULES, Rule, Screening, check_rules, load_rules, mistakes, screen
from refdesk.screening.rules import DECLINED

OWN = "screener"
"""Name of the rule where an implementation of one's own turned a question away."""


class Screener(Protocol):
    """Tell whether a question is allowed: a truth value, a reply that turns it away, or a `Screening`."""

    def screen(self, question: str) -> Any | Awaitable[Any]: ...


ScreenFunction = Callable[[str], Any]


@dataclass(frozen=True, kw_only=True)
class Screen(Step):
    """Apply rules to the question and to what it was condensed to, and turn it away where one refuses it.

    Its answer is then the rule's reply, and no later step runs. Rules that only flag leave a warning.
    """

    kind: ClassVar[Kind] = "input_gate"
    reads: ClassVar[frozenset[str]] = frozenset({"question", "standalone"})
    writes: ClassVar[frozenset[str]] = frozenset({"answer"})
    worker: ClassVar[str] = "screener"
    method: ClassVar[str] = "screen"
    leaves: ClassVar[str] = "The question as if it were allowed."

    rules: str | tuple[Rule, ...] | None = None
    """A YAML file of rules, the name of a set (`multilingual`), or rules; else the built-in ones. An empty
    list means none."""
    text: Literal["both", "question", "condensed"] = "both"
    """What is looked at: the question as it was sent, what `condense` or `rewrite` made of it, or both."""
    screener: Annotated[
        Screener | type[Screener] | tuple[Any, Mapping[str, Any]] | ScreenFunction | None,
        WorkerOption("screen"),
    ] = None
    """An implementation of your own, for questions that the rules allow."""
    on_error: OnError = "stop"

    def skips(self, context: Context) -> str:
        return "" if self._texts(context) else "the question is as it was sent"

    def problems(self) -> Iterator[tuple[str, str]]:
        if self.rules is not None and isinstance(self.rules, str) and not self.rules.strip():
            yield "The name of its file of rules is blank.", "Name a file, or leave `rules` out."
        for rule in self.rules if isinstance(self.rules, tuple) else ():
            for fault in mistakes(rule) if isinstance(rule, Rule) else ():
                yield f"Its rule {rule.id!r} cannot be used: {fault}.", "Mend the rule."

    def file_problems(self) -> Iterator[tuple[str, str]]:
        if not isinstance(self.rules, str) or not self.rules.strip():
            return
        try:
            wrong = check_rules(self.rules)[1]
        except InputError as error:
            yield error.message, error.remedy
            return
        for fault in wrong:
            yield f"Its rules {self.rules!r} cannot be used: {fault}.", "Mend the file."

    async def __call__(self, context: Context, run: Run) -> Context:
        found = Screening(allowed=True)
        text = ""
        for name, asked in self._texts(context).items():
            one, text = await self._screened(asked), name
            found = replace(one, flags=tuple(dict.fromkeys((*found.flags, *one.flags))))
            if not found.allowed:
                break
        run.measure(allowed=found.allowed, rule=found.rule, flags=found.flags, text=text)
        for flag in found.flags:
            run.warn(f"The question was flagged by the rule {flag!r}.")
        if found.allowed:
            return context
        answer = Answer(question=context.question, text=found.reply, refusal=SCREENED, zone="none")
        return context.evolve(answer=answer)

    def _texts(self, context: Context) -> dict[str, str]:
        """Return what is looked at, by its name; what was condensed only where it is something else."""
        texts = {"question": context.question}
        if context.standalone != context.question:
            texts["condensed"] = context.standalone
        return {name: text for name, text in texts.items() if self.text in ("both", name)}

    async def _screened(self, asked: str) -> Screening:
        found = screen(asked, await self._rules())
        if not found.allowed or self.screener is None:
            return found
        own = _screening(await self.work(asked), self)
        return replace(own, flags=(*found.flags, *own.flags))

    async def _rules(self) -> tuple[Rule, ...]:
        """Return the rules, those of a file as it is now."""
        if isinstance(self.rules, str):
            return await anyio.to_thread.run_sync(load_rules, self.rules)
        return DEFAULT_RULES if self.rules is None else self.rules


def _screening(returned: Any, step: Step) -> Screening:
    """Return what an implementation returned. Errors: `StepError`."""
    if isinstance(returned, Screening):
        told = returned.reply.strip() or ("" if returned.allowed else DECLINED)
        return replace(returned, reply=told, rule=returned.rule or ("" if returned.allowed else OWN))
    if isinstance(returned, bool):
        return Screening(allowed=returned, rule="" if returned else OWN, reply="" if returned else DECLINED)
    if isinstance(returned, str) and returned.strip():
        return Screening(allowed=False, rule=OWN, reply=returned.strip())
    raise StepError(
        f"The screener returned {returned!r:.80}; allowed are a truth value, a reply and a Screening.",
        step=step.label,
        remedy="Return True for a question that is allowed, False or a reply for one that is not.",
    )
