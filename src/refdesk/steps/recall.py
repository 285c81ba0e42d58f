"""`recall`: what was said, and found, before in this conversation."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import Field

from refdesk.context import Context
from refdesk.pipeline import Kind, OnError, Run, Step


@dataclass(frozen=True, kw_only=True)
class Recall(Step):
    """Bring back the last turns of the conversation, and with `retrieval` the results that were kept of it.

    A history that the caller gave stays as it is. Where results are wanted and none are kept, it fails.
    """

    kind: ClassVar[Kind] = "memory"
    reads: ClassVar[frozenset[str]] = frozenset({"conversation", "history"})
    writes: ClassVar[frozenset[str]] = frozenset({"history", "results", "evidence", "distilled"})
    leaves: ClassVar[str] = "History and results as they were."

    messages: Annotated[int, Field(ge=0)] = 20
    """Turns that are brought back."""
    retrieval: bool = False
    """Bring back results, too."""
    on_error: OnError = "continue"

    def skips(self, context: Context) -> str:
        return "" if context.conversation else "the question belongs to no conversation"

    async def __call__(self, context: Context, run: Run) -> Context:
        kept = run.services.conversations
        history = context.history or await kept.turns(context.conversation, last=self.messages)
        run.measure(turns=len(history))
        if self.retrieval:
            results = await kept.found(context.conversation)
            context = context.with_results(results)
            run.measure(turns=len(history), hits=len(context.hits))
        return context.evolve(history=history)
