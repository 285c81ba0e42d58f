"""What a write refuses before anything is touched."""

import shlex
from collections import Counter
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from refdesk.documents import Collection
from refdesk.errors import EmbeddingMismatch, InputError
from refdesk.stores import StoredDocument, metadata
from refdesk.stores.shelves import Shelf

REEMBED = "Run: refdesk reembed --collection {name}"
UNIT_TOLERANCE = 1e-2


def reembed(collection: str) -> str:
    """Return the command that embeds a collection anew."""
    return REEMBED.format(name=shlex.quote(collection))


def mismatch(shelf: Shelf | Collection, fingerprint: str) -> None:
    """Refuse to mix or compare with vectors of another space. Errors: `EmbeddingMismatch`."""
    if shelf.fingerprint not in ("", fingerprint):
        raise EmbeddingMismatch(
            f"The collection {shelf.name!r} was embedded as {shelf.fingerprint!r}, the embedder in use is"
            f" {fingerprint!r}; their vectors cannot be compared.",
            remedy=reembed(shelf.name),
        )


def twice(source_ids: Iterable[str]) -> None:
    """Refuse a batch that names a source twice. Errors: `InputError`."""
    twice = [source_id for source_id, times in Counter(source_ids).items() if times > 1]
    if twice:
        raise InputError(f"Cannot write the source {twice[0]!r} twice at once.")


def malformed(stored: StoredDocument, collection: str, dimension: int) -> None:
    """Refuse a document whose parts do not fit together, or that cannot be kept. Errors: `InputError`."""
    document, chunks = stored.document, stored.chunks
    what = f"Cannot store {document.source_id!r}:"
    metadata.dump(document.metadata)
    _text(what, document.text)
    if document.collection != collection:
        raise InputError(
            f"{what} it belongs to the collection {document.collection!r}, not to {collection!r}."
        )
    if len(stored.tokens) != len(chunks) or len(stored.token_vectors) not in (0, len(chunks)):
        raise InputError(
            f"{what} {len(chunks)} chunks with {len(stored.tokens)} token strings and"
            f" {len(stored.token_vectors)} arrays of token vectors."
        )
    if stored.vectors.shape != (len(chunks), dimension) and (chunks or stored.vectors.size):
        raise InputError(
            f"{what} vectors of shape {stored.vectors.shape}, {(len(chunks), dimension)} is expected."
        )
    _lengths(what, stored.vectors)
    for position, chunk in enumerate(chunks):
        if (chunk.document_id, chunk.position) != (document.document_id, position):
            raise InputError(
                f"{what} chunk {position} has position {chunk.position} of {chunk.document_id!r}."
            )
        if document.text[chunk.start : chunk.end] != chunk.text:
            raise InputError(f"{what} chunk {position} is not its text from {chunk.start} to {chunk.end}.")


def _text(what: str, text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{what} its text is no valid Unicode at character {error.start}.") from error


def _lengths(what: str, vectors: NDArray[np.float32]) -> None:
    lengths = np.linalg.norm(vectors, axis=-1)
    fit = (np.abs(lengths - 1) < UNIT_TOLERANCE) | (lengths == 0)
    if not fit.all():
        raise InputError(
            f"{what} a vector has the length {lengths[~fit][0]}; 1, or 0 for no direction, is expected."
        )
