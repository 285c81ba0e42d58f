"""The services of one run: the desk's, with what the call changed, and with its own readers."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from refdesk.answering import Answerer
from refdesk.conversations import Conversations
from refdesk.desk.seeing import counted
from refdesk.desk.services import Services
from refdesk.documents import Collection, Hit, Scope
from refdesk.embedding import Embedder
from refdesk.errors import NotFound
from refdesk.grounding import Grounder
from refdesk.llm import LLM
from refdesk.llm.names import llm_for
from refdesk.pipeline import LLMValue
from refdesk.reranking import Reranker
from refdesk.reranking.thresholds import Thresholds
from refdesk.settings import Settings
from refdesk.stores import Reader
from refdesk.stores.refusals import mismatch


@dataclass(slots=True, kw_only=True)
class CallServices:
    """What steps of one run may ask for, see `refdesk.pipeline.Services`."""

    desk: Services
    settings: Settings
    given: LLMValue = None
    """The call's language model."""
    named: tuple[str, ...] = ()
    """Collections that the call named; empty where it named none, or all."""
    principals: tuple[str, ...] = ()
    """Who asks: all that is read here is read for them."""
    _readers: dict[tuple[str, ...], Reader] = field(default_factory=dict)
    _collections: tuple[Collection, ...] | None = None
    _counted: dict[str, Collection] = field(default_factory=dict)
    _lock: anyio.Lock = field(default_factory=anyio.Lock)

    @property
    def conversations(self) -> Conversations:
        return self.desk.conversations

    async def collections(self) -> tuple[Collection, ...]:
        known = await self._known()
        for one in known:
            if one.name not in self._counted and (not self.named or one.name in self.named):
                await self._count(one)
        return tuple(self._counted[one.name] for one in known if one.name in self._counted)

    async def _count(self, collection: Collection) -> None:
        """Count what they may read who ask; a collection that has been deleted meanwhile is left out."""
        with suppress(NotFound):
            reader = await self.reader([collection.name])
            self._counted[collection.name] = counted(collection, reader, await reader.count())

    async def _known(self) -> tuple[Collection, ...]:
        if self._collections is None:
            self._collections = await (await self.desk.store()).collections()
        return self._collections

    async def reader(self, collections: Sequence[str]) -> Reader:
        wanted = tuple(sorted(set(collections)))
        async with self._lock:
            if wanted not in self._readers:
                self._readers[wanted] = await self.desk.reader(Scope(wanted, self.principals))
            return self._readers[wanted]

    async def searchable(self, collections: Sequence[str]) -> tuple[Reader, Embedder]:
        wanted = tuple(sorted(set(collections)))
        embedder = await self.desk.embedder()
        if wanted not in self._readers:
            known = {one.name: one for one in await self._known()}
            if not known.keys() >= set(wanted):
                await self.desk.check_space(wanted)  # whose error names the nearest collection
            for name in known.keys() & set(wanted):
                mismatch(known[name], str(embedder.fingerprint))
            await self.desk.check_model(wanted)
        return await self.reader(wanted), embedder

    async def reranker(self, hits: Sequence[Hit], name: str = "") -> Reranker | None:
        known = {one.name for one in await self._known()}
        named = {hit.chunk.collection for hit in hits}  # a searcher of the user's own may name others
        reader = await self.reader(sorted(named & known))
        return await self.desk.reranker(reader, name)

    async def thresholds(self, reranker: str) -> Thresholds | None:
        return await self.desk.thresholds(reranker)

    async def grounder(self, name: str, llm: LLMValue = None) -> Grounder:
        return await self.desk.grounder(name, self.llm(llm))

    def llm(self, value: LLMValue) -> LLM | None:
        chosen = next((one for one in (value, self.given, self.settings.llm) if one), None)
        cache = Path(self.settings.cache) if self.settings.cache else None
        return None if chosen is None else llm_for(chosen, cache=cache)

    async def extractive(self) -> Answerer:
        return await self.desk.extractive()
