"""`remember`: keep what was asked and answered."""

from dataclasses import dataclass
from typing import ClassVar

from refdesk.context import Context, Turn
from refdesk.conversations.kept import kept, key_of
from refdesk.pipeline import Kind, OnError, Run, Step
from refdesk.pipeline.answers import answered


@dataclass(frozen=True, kw_only=True)
class Remember(Step):
    """Keep question and answer for later questions of the conversation, with `retrieval` also results.

    Nothing is kept of a question that has no answer yet, and of one that ended with an error. The answer is
    kept as it is at this step, with its citations, zone and warnings; results without their texts. Where
    something failed and was done without, its results are not kept, and those kept before are cleared.
    """

    kind: ClassVar[Kind] = "memory"
    reads: ClassVar[frozenset[str]] = frozenset(
        {"conversation", "user", "principals", "question", "answer", "results"}
    )
    writes: ClassVar[frozenset[str]] = frozenset()
    leaves: ClassVar[str] = "Everything as it was; nothing is kept."

    retrieval: bool = False
    """Keep results, too; none clear those kept before."""
    on_error: OnError = "continue"

    def skips(self, context: Context) -> str:
        return "" if context.conversation else "the question belongs to no conversation"

    async def __call__(self, context: Context, run: Run) -> Context:
        keeper, key = run.services.conversations, key_of(context)
        if context.answer is not None:
            await keeper.add(key, (Turn("user", context.question), answered(context)))
        whole = self.retrieval and not context.degraded
        if self.retrieval:
            await keeper.keep(key, [kept(one) for one in context.results] if whole else ())
        run.measure(kept_answer=context.answer is not None, kept_results=whole)
        return context
