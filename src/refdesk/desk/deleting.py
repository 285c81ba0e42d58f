"""Deletes that reach what other parts of a desk keep of documents."""

from collections.abc import Awaitable
from dataclasses import replace
from datetime import timedelta

from refdesk.conversations import Conversations
from refdesk.documents import DeleteReceipt, document_id
from refdesk.errors import StoreError
from refdesk.stores import Store

NOW = timedelta(0)


async def everywhere(
    deleting: Awaitable[DeleteReceipt],
    store: Store,
    conversations: Conversations,
    *,
    answers: bool,
    wipe: bool,
) -> DeleteReceipt:
    """Delete in the store, then in what conversations keep; with `wipe` also from files of the past."""
    receipt = await deleting
    documents = [document_id(receipt.collection, name) for name in receipt.source_ids]
    try:
        gone = await conversations.forget(documents, answers=answers)
        if wipe:
            await wiped(store)
    except StoreError as error:
        raise StoreError(
            f"{receipt.documents} documents of {receipt.collection!r} were deleted, and what else is kept of"
            f" them could not be: {error.message}",
            remedy=error.remedy,
        ) from error
    return replace(receipt, kept_hits=gone.hits, answers=gone.answers, answers_deleted=answers, wiped=wipe)


async def wiped(store: Store) -> None:
    """Remove from a store's files what was deleted or replaced."""
    await store.optimise(retention=NOW)


async def emptied(store: Store, collection: str) -> DeleteReceipt:
    """Delete all documents of a collection, all notes of failures, and how far sources were read.

    Errors: `NotFound`.
    """
    for source in await store.cursors(collection):
        await store.set_cursor(collection, source, "")
    known = {**await store.entries(collection), **await store.failures(collection)}
    if not known:
        await store.collection(collection)
        return DeleteReceipt(collection=collection, documents=0, chunks=0)
    return await store.delete(collection, sorted(known))
