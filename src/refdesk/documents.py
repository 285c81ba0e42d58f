"""The words for what is kept and found: documents, chunks, collections, hits, scopes."""

import hashlib
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from refdesk.errors import InputError

Scalar = str | int | float | bool | datetime
Metadata = Mapping[str, Scalar | tuple[Scalar, ...]]
Mode = Literal["vector", "keyword", "hybrid"]
MODES: tuple[Mode, ...] = ("vector", "keyword", "hybrid")
Strategy = Literal["titled", "post"]
"""What is embedded with a chunk: the title, or with it also what metadata `category` and `tags` hold."""
DEFAULT_COLLECTION = "default"
PUBLIC = "public"
"""The principal that everyone is: what names it in its ACL may be read by anyone."""


@dataclass(frozen=True, slots=True)
class Page:
    """A numbered page: `text[start:end]` of its document. Numbers start at 1."""

    number: int
    start: int
    end: int


Pages = Mapping[str, Sequence[Page]]
"""Document id to the pages of the document, for documents that have pages."""


def page_at(pages: Sequence[Page], offset: int) -> int | None:
    """Return the number of the page that holds a character, or of the one before it between pages.

    None where there are no pages.
    """
    if not pages:
        return None
    index = bisect_right(pages, offset, key=lambda page: page.start)
    return pages[max(index - 1, 0)].number


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading that begins at character `start`; level 1 is the highest."""

    level: int
    title: str
    start: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One source after parsing. `text` is final: every offset in refdesk counts its characters."""

    collection: str
    source_id: str
    title: str
    text: str
    url: str | None = None
    media_type: str = "text/plain"
    language: str = "und"
    """ISO 639-1 code, or `und` where it could not be told."""
    pages: tuple[Page, ...] = ()
    headings: tuple[Heading, ...] = ()
    metadata: Metadata = field(default_factory=dict)
    acl: tuple[str, ...] = ()
    """Principals (users, groups) that may read it: all where `PUBLIC` is one, none where it is empty."""
    digest: str = ""
    """What its source and how it was read come to; after a colon, how it is cut and embedded."""
    warnings: tuple[str, ...] = ()
    """What parsing lost or repaired."""

    @property
    def document_id(self) -> str:
        return document_id(self.collection, self.source_id)


def document_id(collection: str, source_id: str) -> str:
    """Return the id of a source in a collection; the same names always give the same id."""
    return hashlib.sha256(f"{collection}\0{source_id}".encode()).hexdigest()[:20]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A piece of a document: `document.text[start:end] == text`."""

    chunk_id: str
    document_id: str
    collection: str
    position: int
    """0 for the first chunk of its document."""
    start: int
    end: int
    text: str
    heading_path: tuple[str, ...] = ()
    page: int | None = None
    """Page on which the chunk starts, for sources that have pages."""


def chunk_id(document: str, position: int, text: str) -> str:
    """Return the id of a chunk: from its document, position and text, so that re-ingesting keeps it."""
    return hashlib.sha256(f"{document}\0{position}\0{text}".encode()).hexdigest()[:20]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentRecord:
    """What the store knows of a document besides its text."""

    document_id: str
    collection: str
    source_id: str
    title: str
    url: str | None
    media_type: str
    language: str
    metadata: Metadata
    acl: tuple[str, ...]
    digest: str
    chunks: int
    characters: int
    pages: int
    updated_at: datetime
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """A named set of documents that share one embedding space."""

    name: str
    description: str = ""
    fingerprint: str = ""
    """The embedding space, see `refdesk.embedding.Fingerprint`; empty until something is stored."""
    documents: int = 0
    chunks: int = 0
    languages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Scope:
    """Who asks, and where: a read touches documents of these collections whose ACL names one who asks.

    An unknown collection is an error, never everything; one who asks without a name sees what is public.
    """

    collections: tuple[str, ...] = (DEFAULT_COLLECTION,)
    principals: tuple[str, ...] = ()
    """The user and the groups of the one who asks, beside `PUBLIC`, which everyone is."""
    upkeep: bool = field(default=False, kw_only=True)
    """Read whatever the ACLs say: for ingesting, counting and repairing, never to answer anyone."""

    def __post_init__(self) -> None:
        if isinstance(self.principals, str):  # its characters might name others
            raise InputError(
                f"The principals of a scope are {self.principals!r:.80}, not several names.",
                remedy="Write a tuple of names, also for one: ('anna',).",
            )

    @property
    def readers(self) -> frozenset[str]:
        """The principals that an ACL may name to be read in this scope."""
        return frozenset((PUBLIC, *self.principals))


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A chunk that was found. Higher scores are better; a score that was not computed is None."""

    chunk: Chunk
    title: str
    url: str | None
    source_id: str
    metadata: Metadata = field(default_factory=dict)
    rank: int = 0
    """1 for the best hit of its list."""
    vector_score: float | None = None
    """Cosine similarity of query and chunk, -1 to 1."""
    keyword_score: float | None = None
    """BM25, above 0."""
    fused_score: float | None = None
    """Orders one result list; means nothing outside it and is never compared with a threshold."""
    rerank_score: float | None = None

    @property
    def found_by(self) -> tuple[str, ...]:
        """The arms that found this hit: `vector`, `keyword`, both, or neither for a neighbour."""
        arms = (("vector", self.vector_score), ("keyword", self.keyword_score))
        return tuple(name for name, score in arms if score is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteReceipt:
    """What a delete removed, counted where it was, after it was done; and what of it is left elsewhere."""

    collection: str
    documents: int
    chunks: int
    source_ids: tuple[str, ...] = ()
    vectors: int = 0
    """Vectors that are gone with the chunks."""
    full_text: int = 0
    """Chunks that keyword search does not find any more."""
    ledger: int = 0
    """Sources that the ledger does not know any more."""
    failures: int = 0
    """Notes of sources that had failed."""
    kept_hits: int = 0
    """Passages that conversations kept for `recall`."""
    answers: int = 0
    """Answers in conversations that cite the documents: gone where `answers_deleted`, else still there."""
    answers_deleted: bool = False
    runs: tuple[str, ...] = ()
    """Evaluation runs that name or quote the documents; they are still there."""
    caches: tuple[str, ...] = ()
    """Caches that were emptied: none, since refdesk caches no documents, vectors, results or answers."""
    wiped: bool = False
    """Whether nothing of it is left in files that are not used any more."""
