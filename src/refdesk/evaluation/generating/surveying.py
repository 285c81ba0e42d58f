"""The documents of a collection as something to ask about: passages with their sentences, or why not."""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import regex

from refdesk.citations.sentences import Span, sentences
from refdesk.desk import Desk
from refdesk.documents import Chunk, Document, Scope
from refdesk.errors import InputError
from refdesk.evaluation.safety.plainwords import plain

SHORTEST = 30
"""Letters of a document, below which there is nothing to ask about."""
FEWEST_WORDS = 4
MOST_DOCUMENTS = 2000
"""Documents that are read; of more, so many are drawn by chance."""
_LETTER = regex.compile(r"\p{L}")
_WORD = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]|[\p{L}\p{N}]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A chunk of a document, and its sentences in the document's text."""

    source_id: str
    title: str
    language: str
    chunk_id: str
    text: str
    start: int
    whole: str
    """The text of the document."""
    sentences: tuple[Span, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What of a collection can be asked about."""

    passages: tuple[Passage, ...]
    """In an order drawn by chance, documents in turn."""
    documents: int
    """That can be used."""
    unusable: tuple[tuple[str, str], ...]
    """Source id and reason."""
    repeated: frozenset[str] = frozenset()
    """Sentences in plain words that stand in several documents, so that none of them is the right one."""
    left_out: int = 0
    """Documents that were not read, since there are so many."""

    @property
    def languages(self) -> tuple[str, ...]:
        return tuple(sorted({one.language for one in self.passages}))


async def survey(
    desk: Desk, collection: str, *, seed: int = 0, on_document: Callable[[str], None] = lambda name: None
) -> Survey:
    """Read what the desk's principals may read of a collection.

    Errors: `NotFound`; `InputError` where no document can be used, with the reasons.
    """
    reader = await desk.services.reader(Scope((collection,), desk.settings.principals))
    records = await reader.documents()
    drawn = random.Random(seed)
    order = drawn.sample(records, min(len(records), MOST_DOCUMENTS))
    by_document: list[list[Passage]] = []
    unusable: list[tuple[str, str]] = []
    seen: dict[str, str] = {}
    for record in order:
        document = await reader.document(record.document_id)
        passages = _passages(document, await reader.chunks(record.document_id))
        reason = _unusable(document, passages, seen)
        if reason:
            unusable.append((record.source_id, reason))
        else:
            by_document.append(drawn.sample(passages, len(passages)))
        on_document(record.source_id)
    if not by_document:
        raise InputError(*_nothing(collection, unusable))
    turns = zip_longest(*by_document)
    found = Counter(one for passages in by_document for one in _plain_sentences(passages))
    return Survey(
        passages=tuple(one for turn in turns for one in turn if one is not None),
        documents=len(by_document),
        unusable=tuple(sorted(unusable)),
        repeated=frozenset(one for one, count in found.items() if count > 1),
        left_out=len(records) - len(order),
    )


def _plain_sentences(passages: Sequence[Passage]) -> set[str]:
    return {plain(span.of(one.whole)) for one in passages for span in one.sentences}


def words(text: str) -> list[str]:
    """Return the words of a text; signs of scripts without blanks count one by one."""
    return _WORD.findall(text)


def _passages(document: Document, chunks: Sequence[Chunk]) -> list[Passage]:
    spans = [
        span
        for span in sentences(document.text, document.language)
        if len(words(span.of(document.text))) >= FEWEST_WORDS
    ]
    found = []
    for chunk in chunks:
        inside = tuple(span for span in spans if chunk.start <= span.start and span.end <= chunk.end)
        if inside:
            found.append(
                Passage(
                    source_id=document.source_id,
                    title=document.title,
                    language=document.language,
                    chunk_id=chunk.chunk_id,
                    text=chunk.text,
                    start=chunk.start,
                    whole=document.text,
                    sentences=inside,
                )
            )
    return found


def _unusable(document: Document, passages: Sequence[Passage], seen: dict[str, str]) -> str:
    letters = len(_LETTER.findall(document.text))
    if letters < SHORTEST:
        return f"too short: {letters} letters"
    if not passages:
        return f"no sentence of at least {FEWEST_WORDS} words"
    same = seen.setdefault(plain(document.text), document.source_id)
    return f"the same text as {same}" if same != document.source_id else ""


def _nothing(collection: str, unusable: Sequence[tuple[str, str]]) -> tuple[str]:
    told = "; ".join(f"{name}: {reason}" for name, reason in unusable[:5])
    return (
        f"Nothing in the collection {collection!r} can be asked about. {told or 'It holds no documents.'}",
    )
