"""`recall`: what was said, and found, before in this conversation."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import Field

from refdesk.context import Context
from refdesk.conversations import KeptResults
from refdesk.conversations.kept import key_of
from refdesk.errors import NotFound
from refdesk.pipeline import Kind, OnError, Run, Step
from refdesk.results import Results
from refdesk.steps.rereading import reread


@dataclass(frozen=True, kw_only=True)
class Recall(Step):
    """Bring back the last turns of the conversation, and with `retrieval` the results that were kept of it.

    A history that the caller gave stays as it is. Results are read again for the one who asks: of documents
    that are gone, have changed or may not be read there is nothing, and a warning says so. Where results are
    wanted and none are kept, or none can be read, it fails.
    """

    kind: ClassVar[Kind] = "memory"
    reads: ClassVar[frozenset[str]] = frozenset({"conversation", "user", "principals", "history", "filter"})
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
        kept, key = run.services.conversations, key_of(context)
        said = () if context.history else await kept.messages(key, last=self.messages)
        history = context.history or tuple(message.turn for message in said)
        run.measure(turns=len(history))
        if self.retrieval:
            context = context.with_results(await self._results(context, await kept.found(key), run))
            run.measure(hits=len(context.hits))
        return context.evolve(history=history)

    async def _results(
        self, context: Context, kept: tuple[KeptResults, ...], run: Run
    ) -> tuple[Results, ...]:
        """Read what is kept. Errors: `NotFound` where nothing can be read of what was found."""
        results = await reread(run.services, kept, context.filter)
        had, has = (sum(len(one.hits) for one in lists) for lists in (kept, results))
        if had and not has:
            raise NotFound(
                f"Of the {had} passages that are kept for the conversation {context.conversation!r} none can"
                " be read: their documents are gone, have changed, or are not for the one who asks.",
                remedy="Let a `search` follow.",
            )
        if had > has:
            run.warn(
                f"{had - has} of {had} kept passages are left out: their documents are gone, have changed, or"
                " are not for the one who asks."
            )
        return results
