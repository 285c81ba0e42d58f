"""What a write refuses before anything is touched."""

import shlex
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from refdesk.documents import Collection, Document
from refdesk.errors import EmbeddingMismatch, InputError, NotFound, StoreError
from refdesk.stores import DIGEST_BYTES, StoredDocument, metadata
from refdesk.stores.control import NEARBY
from refdesk.stores.shelves import Shelf

REEMBED = "Run: refdesk reembed --collection {name}"
UNIT_TOLERANCE = 1e-2
TEXTS = ("source_id", "title", "url", "media_type", "language", "digest", "text")


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


def unknown_sources(collection: str, unknown: Sequence[str]) -> None:
    """Refuse to delete what is not there. Errors: `NotFound`."""
    if unknown:
        raise NotFound(
            f"There is no document {unknown[0]!r} in the collection {collection!r}"
            + (f", nor {len(unknown) - 1} others." if len(unknown) > 1 else "."),
            remedy="Nothing was deleted. See what is there with: refdesk documents list",
        )


def no_successor(collection: str) -> StoreError:
    """Return the error of a remake whose chunks are gone."""
    return StoreError(
        f"Cannot go on making the chunks of {collection!r} anew: another process has begun that in its own"
        " way, or ended it.",
        remedy=reembed(collection),
    )


def check_document(document: Document) -> None:
    """Refuse a document that no store can keep, whatever comes of it later. Errors: `InputError`."""
    what = f"Cannot store {document.source_id!r}:"
    try:
        metadata.dump(document.metadata)
    except InputError as error:
        raise InputError(f"{what} {error.message}", remedy=error.remedy) from error
    for name in TEXTS:
        _text(what, name, getattr(document, name) or "")
    _text(what, "heading", "".join(heading.title for heading in document.headings))
    _text(what, "warning", "".join(document.warnings))
    acl(document.source_id, document.acl)


def acl(source_id: str, given: object) -> None:
    """Refuse an ACL that is no tuple of names, however these are written. Errors: `InputError`."""
    what = f"Cannot store {source_id!r}:"
    if not isinstance(given, tuple) or not all(isinstance(name, str) and name for name in given):
        raise InputError(f"{what} its ACL is {given!r:.80}; a tuple of names is allowed.")
    for name in given:
        _text(what, "ACL", name)
        if "\0" in name:
            raise InputError(f"{what} its ACL has {name!r:.80}, with a NUL character.")


def malformed(stored: StoredDocument, collection: str, dimension: int) -> None:
    """Refuse a document whose parts do not fit together, or that cannot be kept. Errors: `InputError`."""
    document, chunks = stored.document, stored.chunks
    what = f"Cannot store {document.source_id!r}:"
    check_document(document)
    if document.collection != collection:
        raise InputError(
            f"{what} it belongs to the collection {document.collection!r}, not to {collection!r}."
        )
    if len(stored.tokens) != len(chunks) or len(stored.token_vectors) not in (0, len(chunks)):
        raise InputError(
            f"{what} {len(chunks)} chunks with {len(stored.tokens)} token strings and"
            f" {len(stored.token_vectors)} arrays of token vectors."
        )
    if len(stored.digests) not in (0, len(chunks)) or any(len(one) != DIGEST_BYTES for one in stored.digests):
        raise InputError(
            f"{what} {len(chunks)} chunks with {len(stored.digests)} digests; one of {DIGEST_BYTES} bytes for"
            " each chunk, or none, are allowed."
        )
    if stored.vectors.shape != (len(chunks), dimension) and (chunks or stored.vectors.size):
        raise InputError(
            f"{what} vectors of shape {stored.vectors.shape}, {(len(chunks), dimension)} is expected."
        )
    _lengths(what, stored.vectors)
    _text(what, "strategy", stored.strategy)
    for position, chunk in enumerate(chunks):
        if (chunk.document_id, chunk.position) != (document.document_id, position):
            raise InputError(
                f"{what} chunk {position} has position {chunk.position} of {chunk.document_id!r}."
            )
        if document.text[chunk.start : chunk.end] != chunk.text:
            raise InputError(f"{what} chunk {position} is not its text from {chunk.start} to {chunk.end}.")
        _text(what, f"chunk {position}", "".join((stored.tokens[position], *chunk.heading_path)))


def _text(what: str, name: str, text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        part = text[max(0, error.start - NEARBY) : error.end + NEARBY]
        raise InputError(f"{what} its {name} is no valid Unicode: {part!r}.") from error


def _lengths(what: str, vectors: NDArray[np.float32]) -> None:
    lengths = np.linalg.norm(vectors, axis=-1)
    fit = (np.abs(lengths - 1) < UNIT_TOLERANCE) | (lengths == 0)
    if not fit.all():
        raise InputError(
            f"{what} a vector has the length {lengths[~fit][0]}; 1, or 0 for no direction, is expected."
        )
