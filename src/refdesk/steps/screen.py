"""`screen`: turn questions away by rule, before anything else."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Protocol

import anyio.to_thread

from refdesk.context import SCREENED, Answer, Context
from refdesk.errors import StepError
from refdesk.pipeline import Kind, OnError, Run, Step
from refdesk.pipeline.workers import WorkerOption
from refdesk.screening import DEFAULT_RULES, Rule, Screening, load_rules, mistakes, screen
from refdesk.screening.rules import DECLINED

OWN = "screener"
"""Name of the rule where an implementation of one's own turned a question away."""


class Screener(Protocol):
    """Tell whether a question is allowed: a truth value, a message that turns it away, or a `Screening`."""

    def screen(self, question: str) -> Any | Awaitable[Any]: ...


ScreenFunction = Callable[[str], Any]


@dataclass(frozen=True, kw_only=True)
class Screen(Step):
    """Apply rules to the question, and turn it away where one refuses it.

    Its answer is then the rule's message, and no later step runs. Rules that only flag leave a warning.
    """

    kind: ClassVar[Kind] = "input_gate"
    reads: ClassVar[frozenset[str]] = frozenset({"question"})
    writes: ClassVar[frozenset[str]] = frozenset({"answer"})
    worker: ClassVar[str] = "screener"
    method: ClassVar[str] = "screen"
    leaves: ClassVar[str] = "The question as if it were allowed."

    rules: str | tuple[Rule, ...] | None = None
    """A YAML file of rules, or rules; else the built-in ones. An empty list means none."""
    screener: Annotated[
        Screener | type[Screener] | tuple[Any, Mapping[str, Any]] | ScreenFunction | None,
        WorkerOption("screen"),
    ] = None
    """An implementation of your own, for questions that the rules allow."""
    on_error: OnError = "stop"

    def problems(self) -> Iterator[tuple[str, str]]:
        if self.rules is not None and isinstance(self.rules, str) and not self.rules.strip():
            yield "The name of its file of rules is blank.", "Name a file, or leave `rules` out."
        for rule in self.rules if isinstance(self.rules, tuple) else ():
            for fault in mistakes(rule) if isinstance(rule, Rule) else ():
                yield f"Its rule {rule.name!r} cannot be used: {fault}.", "Mend the rule."

    async def __call__(self, context: Context, run: Run) -> Context:
        found = await self._screened(context.question)
        if found.allowed and self.screener is not None:
            own = _screening(await self.work(context.question), self)
            found = replace(own, flags=(*found.flags, *own.flags))
        run.measure(allowed=found.allowed, rule=found.rule, flags=found.flags)
        for flag in found.flags:
            run.warn(f"The question was flagged by the rule {flag!r}.")
        if found.allowed:
            return context
        answer = Answer(question=context.question, text=found.message, refusal=SCREENED, zone="none")
        return context.evolve(answer=answer)

    async def _screened(self, question: str) -> Screening:
        """Apply the rules, those of others in a thread: their patterns may be slow."""
        rules = self.rules
        if rules is None:
            return screen(question, DEFAULT_RULES)
        return await anyio.to_thread.run_sync(_by_rules, question, rules)


def _by_rules(question: str, rules: str | tuple[Rule, ...]) -> Screening:
    return screen(question, load_rules(rules) if isinstance(rules, str) else rules)


def _screening(returned: Any, step: Step) -> Screening:
    """Return what an implementation returned. Errors: `StepError`."""
    if isinstance(returned, Screening):
        told = returned.message.strip() or ("" if returned.allowed else DECLINED)
        return replace(returned, message=told, rule=returned.rule or ("" if returned.allowed else OWN))
    if isinstance(returned, bool):
        return Screening(allowed=returned, rule="" if returned else OWN, message="" if returned else DECLINED)
    if isinstance(returned, str) and returned.strip():
        return Screening(allowed=False, rule=OWN, message=returned.strip())
    raise StepError(
        f"The screener returned {returned!r:.80}; allowed are a truth value, a message and a Screening.",
        step=step.label,
        remedy="Return True for a question that is allowed, False or a message for one that is not.",
    )
