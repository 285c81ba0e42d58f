"""One source item to a document with its chunks, and the digest that tells whether it changed."""

import hashlib
import re
from dataclasses import dataclass, replace

from refdesk.analysis import ANALYSER_VERSION, analyse, detect_language
from refdesk.chunking import CHUNKER_VERSION, Chunker, embedded_text, lead
from refdesk.chunking.strategies import (
    later_versions,
    leading_parts,
    strategy_of,
    versioned,
    with_strategy,
)
from refdesk.documents import Chunk, Document, Metadata
from refdesk.errors import ParseError
from refdesk.filters import DOCUMENT_FIELDS
from refdesk.parsing import PARSER_VERSION, Parsed
from refdesk.parsing.markdown import from_markdown
from refdesk.parsing.normalise import clean
from refdesk.sources import SourceItem
from refdesk.stores import Entry
from refdesk.stores.refusals import check_document

LANGUAGE = re.compile(r"[a-z]{2}")
SAMPLE = 2000
"""Characters that tell a document's language."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A document that only lacks its vectors."""

    document: Document
    chunks: tuple[Chunk, ...]
    tokens: tuple[str, ...]
    texts: tuple[str, ...]
    """Per chunk, what is embedded."""
    strategy: str
    """Name and version of the strategy that made these texts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How items become chunks; a change of it makes every document a new one."""

    chunker: Chunker
    fingerprint: str
    token_vectors: bool = False

    @property
    def mark(self) -> str:
        """What tells this recipe from others; the second part of a digest."""
        how = (
            CHUNKER_VERSION,
            ANALYSER_VERSION,
            self.fingerprint,
            str(self.chunker.size),
            str(self.token_vectors),
            *later_versions(),
        )
        return hashlib.sha256("\0".join(how).encode()).hexdigest()[:16]

    def digest(self, item: SourceItem) -> str:
        """Return what changes with an item's content or with anything that shapes its chunks and vectors."""
        return f"{_content(item)}:{self.mark}"

    def made(self, digest: str) -> bool:
        """Tell whether the document with this digest was made by this recipe."""
        return digest.endswith(f":{self.mark}")

    def remade(self, document: Document) -> Document:
        """Return a stored document as its source, if that did not change, would give it by this recipe."""
        return replace(document, digest=f"{document.digest.partition(':')[0]}:{self.mark}")

    def document(self, item: SourceItem, parsed: Parsed, collection: str) -> Document:
        """Join what the source knows of an item with what its parser found; the source wins."""
        return Document(
            collection=collection,
            source_id=item.source_id,
            title=item.title or parsed.title or item.name,
            text=parsed.text,
            url=item.url,
            media_type=parsed.media_type,
            language=_language(item, parsed),
            pages=parsed.pages,
            headings=parsed.headings,
            metadata=_metadata(item, parsed.metadata),
            acl=item.acl or (),
            digest=self.digest(item),
            warnings=parsed.warnings,
        )

    def prepare(self, document: Document) -> Prepared:
        """Cut a document into chunks, with the texts to embed and the tokens to index.

        Errors: `InputError` for a document that no store takes, here so that it fails alone.
        """
        check_document(document)
        chunks = self.chunker.chunks(document)
        count, limit = self.chunker.count_tokens, self.chunker.limit
        leading = lead(document.title, document.metadata)
        texts = tuple(embedded_text(leading, chunk, count, limit) for chunk in chunks)
        tokens = tuple(" ".join(analyse(text, document.language)) for text in texts)
        strategy = versioned(strategy_of(document.metadata))
        return Prepared(document=document, chunks=chunks, tokens=tokens, texts=texts, strategy=strategy)


def _content(item: SourceItem) -> str:
    """Return the sha256 of an item's content and of how it is read: the first part of a digest."""
    name, leading = item.name.rpartition(".")[2].lower(), leading_parts(item.metadata, item.strategy)
    how = (PARSER_VERSION, name, item.media_type, item.title, item.language, *leading)
    content = item.data if item.data is not None else (item.text or "").encode("utf-8", "surrogatepass")
    return hashlib.sha256("\0".join(how).encode() + b"\0" + content).hexdigest()


def parsed_text(item: SourceItem) -> Parsed:
    """Treat an item that already is text as a parsed one. Errors: `ParseError` where there is none."""
    if not (item.text or "").strip():
        raise ParseError(f"{item.source_id!r} has no text.", reason="empty")
    if item.media_type == "text/markdown":
        return replace(from_markdown(item.text or ""), media_type=item.media_type)
    cleaned = clean(item.text or "")
    return Parsed(text=cleaned.text, media_type=item.media_type or "text/plain", warnings=cleaned.warnings)


def _language(item: SourceItem, parsed: Parsed) -> str:
    """Return what the source says, else what the text shows, else what the file declares of itself."""
    said = item.language or str(item.metadata.get("language", ""))
    if LANGUAGE.fullmatch(said):
        return said
    found, declared = (
        detect_language(parsed.text[:SAMPLE]),
        str(parsed.metadata.get("language", ""))[:2].lower(),
    )
    return declared if found == "und" and LANGUAGE.fullmatch(declared) else found


def _renamed(metadata: Metadata) -> Metadata:
    """Give keys that are names of document fields another name, so that a filter can tell them apart."""
    return {f"metadata.{key}" if key in DOCUMENT_FIELDS else key: value for key, value in metadata.items()}


def _metadata(item: SourceItem, parsed: Metadata) -> Metadata:
    """Return the metadata of an item over those that a parser found, where these count."""
    joined = item.metadata if item.all_metadata else {**parsed, **_renamed(item.metadata)}
    return with_strategy(_renamed(joined), item.strategy)


def new_metadata(entry: Entry, item: SourceItem) -> Entry | None:
    """Return the ledger's entry with an item's title, url, metadata and ACL, None where nothing changes."""
    changed = replace(
        entry,
        metadata=_metadata(item, {} if item.text is not None else entry.metadata),
        title=item.title or entry.title,
        url=item.url,
        acl=entry.acl if item.acl is None else item.acl,
    )
    return None if changed == entry else changed


def stored_entry(one: Prepared) -> Entry:
    """Return what the ledger says of a document once it is stored."""
    document = one.document
    return Entry(
        source_id=document.source_id,
        digest=document.digest,
        chunks=len(one.chunks),
        metadata=document.metadata,
        title=document.title,
        url=document.url,
        acl=document.acl,
    )
