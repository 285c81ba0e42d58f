"""`remember`: keep what was asked and answered."""

from dataclasses import dataclass
from typing import ClassVar

from refdesk.context import Context, Turn
from refdesk.pipeline import Kind, OnError, Run, Step


@dataclass(frozen=True, kw_only=True)
class Remember(Step):
    """Keep question and answer for later questions of the conversation, with `retrieval` also results.

    Nothing is kept of a question that has no answer yet, and of one that ended with an error.
    """

    kind: ClassVar[Kind] = "memory"
    reads: ClassVar[frozenset[str]] = frozenset({"conversation", "question", "answer", "results"})
    writes: ClassVar[frozenset[str]] = frozenset()
    leaves: ClassVar[str] = "Everything as it was; nothing is kept."

    retrieval: bool = False
    """Keep results, too; none clear those kept before."""
    on_error: OnError = "continue"

    def skips(self, context: Context) -> str:
        return "" if context.conversation else "the question belongs to no conversation"

    async def __call__(self, context: Context, run: Run) -> Context:
        kept, name = run.services.conversations, context.conversation
        if context.answer is not None:
            turns = (Turn("user", context.question), Turn("assistant", context.answer.text))
            await kept.add(name, turns)
        if self.retrieval:
            await kept.keep(name, context.results)
        run.measure(kept_answer=context.answer is not None, kept_results=self.retrieval)
        return context
