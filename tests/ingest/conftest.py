"""An ingestion of real files into a real store, with the hashing embedder."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from refdesk.chunking import Chunker
from refdesk.events import IngestEvent
from refdesk.ingest import Ingestion, Recipe, Summary
from refdesk.ingest.permitting import Permission
from refdesk.ingest.writing import Writer
from refdesk.parsing.pool import ParserPool
from refdesk.sources import Source
from refdesk.sources.files import Files
from refdesk.stores import Store
from refdesk.stores.lance import open_lance
from refdesk.testing import HashingEmbedder


@dataclass
class Bench:
    """A folder of files, a store, and a call that ingests the one into the other."""

    folder: Path
    store: Store
    parsers: ParserPool
    embedder: HashingEmbedder = field(default_factory=HashingEmbedder)
    token_vectors: bool = False

    def file(self, name: str, text: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def run(
        self,
        *sources: Source,
        prune: bool = False,
        on_event: Callable[[IngestEvent], None] = lambda event: None,
    ) -> Ingestion:
        embedder = self.embedder
        return Ingestion(
            permission=Permission(),
            sources=sources or (Files(self.folder, root=self.folder),),
            collection="c",
            store=self.store,
            writer=Writer(store=self.store, embedder=embedder, token_vectors=self.token_vectors),
            recipe=Recipe(
                chunker=Chunker(embedder.count_tokens, embedder.max_tokens),
                fingerprint=str(embedder.fingerprint),
                token_vectors=self.token_vectors,
            ),
            parsers=self.parsers,
            prune=prune,
            on_event=on_event,
        )

    async def ingest(self, *sources: Source, prune: bool = False) -> Summary:
        return await self.run(*sources, prune=prune).run()


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    folder = tmp_path / "files"
    folder.mkdir()
    store = await open_lance(tmp_path / "library")
    await store.create("c")
    parsers = ParserPool()
    yield Bench(folder, store, parsers)
    await parsers.aclose()
    await store.aclose()
