"""Split by structure with semantic-text-splitter, sized in the embedder's tokens."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from semantic_text_splitter import MarkdownSplitter, TextSplitter

from refdesk.chunking.headings import heading_path
from refdesk.chunking.strategies import lead
from refdesk.documents import Chunk, Document, chunk_id, page_at
from refdesk.errors import InputError

CHUNKER_VERSION = "1"
"""Changes when the same document would give other chunks."""

PLAIN_PREFIXES = (
    "text/plain",
    "application/pdf",
    "text/x-",
    "application/json",
    "application/xml",
    "text/xml",
)
"""Media types whose text is no Markdown; a `#` in them is no heading."""

SMALLEST = 16
"""Tokens below which a chunk says nothing on its own."""


@dataclass(frozen=True, slots=True)
class Chunker:
    """Split documents into chunks that fit an embedder together with their context line.

    `count_tokens` counts without special tokens; `limit` is the embedder's `max_tokens`; `size` asks for
    smaller chunks. Errors: `InputError` where the size is impossible.
    """

    count_tokens: Callable[[str], int]
    limit: int
    size: int | None = None

    def __post_init__(self) -> None:
        if self.limit < SMALLEST:
            raise InputError(
                f"The embedder takes {self.limit} tokens a text; refdesk needs at least {SMALLEST}."
            )
        if self.size is not None and not SMALLEST <= self.size <= self.limit:
            raise InputError(
                f"Chunk size {self.size} is impossible here; allowed: {SMALLEST} to {self.limit} tokens.",
                remedy="Set `chunk_tokens` in this range, or leave it out.",
            )

    def chunks(self, document: Document) -> tuple[Chunk, ...]:
        """Split a document. A document without text has no chunks."""
        pieces = self._fit(document, self._split(document, self._capacity(document)))
        return tuple(_chunk(document, position, *piece) for position, piece in enumerate(pieces))

    def _capacity(self, document: Document) -> int:
        """Tokens for the text itself: the limit, less the context line (at most a quarter of it)."""
        wanted = self.size or self.limit
        longest = max((len(path) for path in _paths(document)), default=0)
        leading = lead(document.title, document.metadata)
        context = self.count_tokens(leading) + 12 * longest if leading or longest else 0
        return max(SMALLEST // 2, wanted - min(context, wanted // 4))

    def _split(self, document: Document, capacity: int) -> list[tuple[int, str]]:
        plain = document.media_type.startswith(PLAIN_PREFIXES)
        splitter = (TextSplitter if plain else MarkdownSplitter).from_callback(self.count_tokens, capacity)
        return [piece for piece in splitter.chunk_indices(document.text) if piece[1].strip()]

    def _fit(self, document: Document, pieces: Iterable[tuple[int, str]]) -> Iterable[tuple[int, str]]:
        """Halve what exceeds the limit all the same: tokenizers may count a join higher than its parts."""
        for start, text in pieces:
            if len(text) < 2 or self.count_tokens(text) <= self.limit:
                yield start, text
            else:
                middle = len(text) // 2
                yield from self._fit(document, [(start, text[:middle]), (start + middle, text[middle:])])


def embedded_text(leading: str, chunk: Chunk, count_tokens: Callable[[str], int], limit: int) -> str:
    """Return what is embedded for a chunk: a context line of `lead` and headings, then the chunk's text.

    The title always comes first: who searches for it wants its document before those that only mention it.
    Headings that the chunk itself contains are not repeated. Where all does not fit, the context line loses
    its end, the chunk nothing.
    """
    headings = (heading for heading in chunk.heading_path if heading not in chunk.text)
    parts = [part for part in dict.fromkeys((leading, *headings)) if part]
    room = limit - count_tokens(chunk.text)
    context = _shortened(" > ".join(parts), count_tokens, room)
    return f"{context}\n{chunk.text}" if context else chunk.text


def _shortened(line: str, count_tokens: Callable[[str], int], room: int) -> str:
    words = line.split()
    while words and count_tokens(" ".join(words)) > room - 1:
        words = words[: len(words) * 3 // 4]
    return " ".join(words)


def _chunk(document: Document, position: int, start: int, text: str) -> Chunk:
    return Chunk(
        chunk_id=chunk_id(document.document_id, position, text),
        document_id=document.document_id,
        collection=document.collection,
        position=position,
        start=start,
        end=start + len(text),
        text=text,
        heading_path=heading_path(document.headings, start, start + len(text)),
        page=page_at(document.pages, start),
    )


def _paths(document: Document) -> Sequence[tuple[str, ...]]:
    return [
        heading_path(document.headings, heading.start, heading.start + 1) for heading in document.headings
    ]
