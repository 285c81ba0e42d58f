"""`screen`: turn questions away by rule, before anything else."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Protocol

import anyio.to_thread

from refdesk.context import SCREENED, Answer, Context
from refdesk.errors import StepError
from refdesk.pipeline import Kind, OnError, Run, Step
from refdesk.pipeline.workers import WorkerOption
from refdesk.screening import DEFAULT_RULES, Rule, Screening, load_rules, screen


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

    rules: str | tuple[Rule, ...] = ""
    """A YAML file of rules, or rules; else the built-in ones."""
    screener: Annotated[
        Screener | type[Screener] | tuple[Any, Mapping[str, Any]] | ScreenFunction | None,
        WorkerOption("screen"),
    ] = None
    """An implementation of your own, besides the rules."""
    on_error: OnError = "stop"

    async def __call__(self, context: Context, run: Run) -> Context:
        rules = self.rules or DEFAULT_RULES
        if isinstance(rules, str):
            rules = await anyio.to_thread.run_sync(load_rules, rules)
        found = screen(context.question, rules)
        if found.allowed and self.screener is not None:
            found = _screening(await self.work(context.question), self)
        run.measure(allowed=found.allowed, rule=found.rule, flags=found.flags)
        for flag in found.flags:
            run.warn(f"The question was flagged by the rule {flag!r}.")
        if found.allowed:
            return context
        answer = Answer(question=context.question, text=found.message, refusal=SCREENED, zone="none")
        return context.evolve(answer=answer)


def _screening(returned: Any, step: Step) -> Screening:
    if isinstance(returned, Screening):
        return returned
    if isinstance(returned, bool):
        return Screening(allowed=returned, rule="screener", message="" if returned else Rule(name="").message)
    if isinstance(returned, str) and returned.strip():
        return Screening(allowed=False, rule="screener", message=returned.strip())
    raise StepError(
        f"The screener returned {returned!r:.80}; allowed are a truth value, a message and a Screening.",
        step=step.label,
    )
