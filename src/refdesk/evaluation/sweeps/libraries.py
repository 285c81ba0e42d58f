"""Libraries of a sweep: configurations that store otherwise have one of their own, made once and kept."""

import shutil
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio.to_thread

from refdesk.chunking import Chunker
from refdesk.desk import Desk
from refdesk.desk.services import Services
from refdesk.documents import DocumentRecord
from refdesk.embedding import Embedder, TokenEmbedder
from refdesk.errors import InputError, NotFound, RefdeskError, StoreError
from refdesk.evaluation.datasets.cases import DataSet
from refdesk.evaluation.datasets.reading import ingest_data
from refdesk.evaluation.runs.runheader import model_of
from refdesk.evaluation.sweeps.candidates import label
from refdesk.evaluation.sweeps.factors import STORED
from refdesk.events import IngestEvent
from refdesk.places import files_beside, in_database, shown
from refdesk.reranking.names import reranker_for
from refdesk.settings import Settings

FOLDER = "sweeps"
"""Inside the library, where libraries of sweeps are."""
CONTROL = "control.sqlite"
LEFT = (FOLDER, "evaluations", "write.*", f"{CONTROL}*")
"""What a copy does not take along as files."""

Opening = Callable[[Settings], AbstractAsyncContextManager[Desk]]
PARTS = (*STORED, "reranker", "llm")
"""Settings that name what has to be loaded, or has to fit it."""
OnEvent = Callable[[IngestEvent], None]


@asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[Desk]:
    """Open a desk with exactly these settings."""
    services = Services(settings=settings)
    try:
        yield Desk(services)
    finally:
        await services.aclose()


def placed_settings(settings: Settings, own: Settings) -> Settings:
    """Return the settings of a configuration with the library that it searches.

    `own` are those of the library that is there; what is stored otherwise is in one below it.
    """
    differing = {name: getattr(settings, name) for name in STORED}
    apart = {name: value for name, value in differing.items() if value != getattr(own, name)}
    library = str(files_beside(own.library) / FOLDER / label(apart)) if apart else own.library
    return replace(settings, library=library)


async def prepare(
    settings: Settings,
    own: Settings,
    data: DataSet,
    collection: str,
    *,
    opening: Opening,
    on_event: OnEvent,
) -> None:
    """Bring the documents into the library of a configuration; what is there already costs nothing.

    Documents of the data set are ingested. Where it has none they are those of the collection that is there:
    its library is copied, and the collection embedded anew. Errors: `NotFound`, `StoreError`, `InputError`.
    """
    apart = settings.library != own.library
    if apart and not data.documents:
        await _copied(settings, own, collection, opening)
    async with opening(settings) as desk:
        if data.documents:
            await ingest_data(desk, data, collection=collection, on_event=on_event)
        elif apart:
            await desk.reembed(collection, on_event=on_event)
        else:
            await desk.collection(collection)


async def _copied(settings: Settings, own: Settings, collection: str, opening: Opening) -> None:
    """Copy a library, unless a copy of the same documents is there. Errors: `NotFound`, `StoreError`."""
    if in_database(own.library):
        raise InputError(
            f"Cannot copy the documents of the library {shown(own.library)!r}: it is in a database.",
            remedy="Give a data set that brings its documents, or sweep only over what is not stored.",
        )
    source, target = Path(own.library), Path(settings.library)
    there = await _texts(own, collection, opening)
    if not there:
        raise NotFound(
            f"The library {own.library!r} has no documents in a collection {collection!r}.",
            remedy="Ingest the documents first, or use a data set that brings its own.",
        )
    if await _texts(settings, collection, opening) == there:
        return
    try:
        await anyio.to_thread.run_sync(_copy, source, target)
    except (OSError, sqlite3.Error, shutil.Error) as error:
        raise StoreError(
            f"Cannot copy the library {str(source)!r} to {str(target)!r}: {error}.",
            remedy="Check free space and permissions.",
        ) from error


async def _texts(settings: Settings, collection: str, opening: Opening) -> set[tuple[str, str]]:
    """Return the source ids of a collection with what their content came to; nothing where it is missing."""
    try:
        async with opening(settings) as desk:
            found = await desk.documents(collections=collection, upkeep=True)
            return {(one.source_id, _content(one)) for one in found}
    except NotFound:
        return set()


def _content(record: DocumentRecord) -> str:
    return record.digest.partition(":")[0]


def _copy(source: Path, target: Path) -> None:
    """Copy all or nothing; the control file by its own means, since somebody may be writing to it."""
    fresh = target.with_name(f"{target.name}.new")
    for old in (fresh, target):
        shutil.rmtree(old, ignore_errors=True)
    shutil.copytree(source, fresh, ignore=shutil.ignore_patterns(*LEFT))
    with (
        closing(sqlite3.connect(source / CONTROL)) as there,
        closing(sqlite3.connect(fresh / CONTROL)) as here,
    ):
        there.backup(here)
    fresh.rename(target)


async def wrong_parts(settings: Settings, judge: str, opening: Opening) -> list[str]:
    """Return what is wrong with the parts that settings name, by loading them; models by their names."""
    try:
        async with opening(settings) as desk:
            unknown = [*_unknown_models(desk, settings.llm, judge)]
            embedder = await desk.services.embedder()
            return [*unknown, *_unfit(settings, embedder), *await _unknown_reranker(desk, embedder)]
    except RefdeskError as error:
        return [str(error)]


def _unknown_models(desk: Desk, *names: str) -> Iterator[str]:
    for name in names:
        try:
            model_of(desk, name or None)
        except RefdeskError as error:
            yield str(error)


def _unfit(settings: Settings, embedder: Embedder) -> Iterator[str]:
    try:
        Chunker(embedder.count_tokens, embedder.max_tokens, settings.chunk_tokens or None)
    except RefdeskError as error:
        yield str(error)
    if settings.token_vectors and not isinstance(embedder, TokenEmbedder):
        yield f"{settings.embedder!r} gives no token vectors to keep. Leave `token_vectors` out."


async def _unknown_reranker(desk: Desk, embedder: Embedder) -> Sequence[str]:
    name = desk.settings.reranker
    if name == "auto" or "reranker" in desk.services.built:
        return ()
    cache = Path(desk.settings.cache) if desk.settings.cache else None

    def load() -> Any:
        return reranker_for(name, embedder=embedder, cache=cache)

    try:
        await anyio.to_thread.run_sync(load)
    except RefdeskError as error:
        return (str(error),)
    return ()
