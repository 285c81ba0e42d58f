"""`recall`: what was said, and found, before in this conversation."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import Field

from refdesk.context import Context
from refdesk.conversations import KeptResults, Key
from refdesk.conversations.kept import key_of
from refdesk.errors import NotFound
from refdesk.filters import Filter
from refdesk.pipeline import Kind, OnError, Run, Step
from refdesk.results import Results
from refdesk.steps.rereading import reread


@dataclass(frozen=True, kw_only=True)
class Recall(Step):
    """Bring back the last turns of the conversation, and with `retrieval` the results that were kept of it.

    A history that the caller gave stays as it is. Results are read again for the one who asks: of documents
    that are gone, have changed or may not be read there is nothing, and a warning says so. Where something
    was said and no results are kept, a warning says that, too. A new conversation has nothing to recall.
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
        if self.retrieval and (found := await self._found(key, run)):
            results = await self._readable(found, context.filter, run)
            context = context.with_results(results) if results else context
            run.measure(hits=sum(len(one.hits) for one in results))
        return context.evolve(history=history)

    async def _found(self, key: Key, run: Run) -> tuple[KeptResults, ...]:
        kept = run.services.conversations
        try:
            return await kept.found(key)
        except NotFound:
            if await kept.messages(key, last=1):
                run.warn(
                    f"No results are kept for the conversation {key.conversation!r}: `remember` keeps them"
                    " with `retrieval: true`, where nothing has failed."
                )
            else:
                run.measure(reason="nothing was said before in the conversation")
            return ()

    async def _readable(
        self, kept: tuple[KeptResults, ...], filter: Filter | None, run: Run
    ) -> tuple[Results, ...]:
        results = await reread(run.services, kept, filter)
        had, has = (sum(len(one.hits) for one in lists) for lists in (kept, results))
        if had > has:
            run.warn(
                f"{had - has} of {had} kept passages are left out: their documents are gone, have changed, or"
                " are not for the one who asks."
            )
        return results if has or not had else ()
