"""What steps may ask of the outside world. `refdesk.desk` builds it, one for each run."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from refdesk.answering import Answerer
from refdesk.conversations import Conversations
from refdesk.documents import Collection, Hit
from refdesk.embedding import Embedder
from refdesk.grounding import Grounder
from refdesk.llm import LLM
from refdesk.reranking import Reranker
from refdesk.reranking.thresholds import Thresholds
from refdesk.settings import Settings
from refdesk.stores import Reader

LLMValue = str | LLM | Callable[..., Any] | None
"""A model string, a model, or a function from prompt to reply; None for the one of the run."""


class Services(Protocol):
    """The services of one run. Errors are those of the parts."""

    @property
    def settings(self) -> Settings:
        """The desk's settings, with what the call changed."""
        ...

    async def collections(self) -> tuple[Collection, ...]:
        """Return the collections that may be chosen: those that the call named, all where it named none."""
        ...

    async def reader(self, collections: Sequence[str]) -> Reader:
        """Read collections in the state that they had when the run first asked. Errors: `NotFound`."""
        ...

    async def searchable(self, collections: Sequence[str]) -> tuple[Reader, Embedder]:
        """Return a reader and the embedder. Errors: `NotFound`, `EmbeddingMismatch`."""
        ...

    async def reranker(self, hits: Sequence[Hit], name: str = "") -> Reranker | None:
        """Return the named reranker, else the settings' one; None for `none`. Errors: `ModelError`."""
        ...

    async def thresholds(self, reranker: str) -> Thresholds | None:
        """Return what was measured for a reranker, None where nothing was. Errors: `SettingsError`."""
        ...

    async def grounder(self, name: str, llm: LLMValue = None) -> Grounder:
        """Return the named grounder; weights are loaded once. Errors: `InputError`, `ModelError`."""
        ...

    def llm(self, value: LLMValue) -> LLM | None:
        """Return a model for a value, for None the one of the call or settings, None where there is none."""
        ...

    async def extractive(self) -> Answerer:
        """Return the answerer that needs no model."""
        ...

    @property
    def conversations(self) -> Conversations:
        """Return where conversations are kept."""
        ...
