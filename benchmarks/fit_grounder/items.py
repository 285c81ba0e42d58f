"""Examples as the network reads them: token vectors, and what is known of their words."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from benchmarks.fit_grounder.examples import Example, Label, Spans
from numpy.typing import NDArray

from refdesk.citations.sentences import sentences
from refdesk.embedding import TokenVectors
from refdesk.grounding.local import TokenReader
from refdesk.grounding.wording import Given, read

WINDOW = 200
"""Tokens up to which whole sentences of a long text are embedded together."""
AT_ONCE = 2000
"""Texts that are embedded before the next line of progress."""
Floats = NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class Embedded:
    """A text with its tokens. Vectors are kept in half precision."""

    text: str
    offsets: tuple[tuple[int, int], ...]
    vectors: Floats
    pieces: NDArray[np.int64]
    """Numbers of the tokens' spellings."""


@dataclass(frozen=True, slots=True)
class Item:
    """An example, ready for the network."""

    answer: Embedded
    evidence: tuple[Embedded, ...]
    relations: NDArray[np.uint8]
    facts: Floats
    denying: Floats
    label: Label
    wrong: NDArray[np.bool_] | None
    """Tokens that are wrong, None where that is not known."""
    document: str

    @property
    def tokens(self) -> int:
        return len(self.answer.offsets)

    @property
    def evidence_tokens(self) -> int:
        return sum(len(one.offsets) for one in self.evidence)


class Library:
    """Embedded texts: each is embedded once, evidence in windows."""

    def __init__(self, embedder: TokenReader, tell: Callable[[str], None]) -> None:
        self._embedder = embedder
        self._tell = tell
        self._windows: dict[str, tuple[str, ...]] = {}
        self._known: dict[str, Embedded] = {}
        self._spellings: dict[str, int] = {}
        self._given = lru_cache(maxsize=64)(_given)

    async def items(self, examples: Sequence[Example]) -> list[Item]:
        """Turn examples into items. Texts without tokens are left out."""
        await self._embed(dict.fromkeys(text for one in examples for text in self._texts(one)))
        found = (self._item(one) for one in examples)
        return [one for one in found if one is not None]

    def _texts(self, example: Example) -> Iterator[str]:
        yield example.statement
        for text in example.premises:
            if text not in self._windows:
                self._windows[text] = tuple(windows(text, self._embedder))
            yield from self._windows[text]

    async def _embed(self, texts: Iterable[str]) -> None:
        lacking = [text for text in texts if text not in self._known]
        for at in range(0, len(lacking), AT_ONCE):
            some = lacking[at : at + AT_ONCE]
            for text, tokens in zip(some, await self._embedder.embed_tokens(some), strict=True):
                self._known[text] = self._embedded(text, tokens)
            self._tell(f"{at + len(some)} of {len(lacking)} texts embedded")

    def _embedded(self, text: str, tokens: TokenVectors) -> Embedded:
        spelled = (text[start:end].lower() for start, end in tokens.offsets)
        pieces = [self._spellings.setdefault(one, len(self._spellings)) for one in spelled]
        return Embedded(text, tokens.offsets, tokens.vectors.astype(np.float16), np.array(pieces, np.int64))

    def _item(self, example: Example) -> Item | None:
        answer = self._known[example.statement]
        evidence = tuple(self._known[window] for text in example.premises for window in self._windows[text])
        given = self._given(tuple((one.text, one.offsets) for one in evidence))
        if not answer.offsets or not len(given.of_token):
            return None
        reading = read(answer.text, answer.offsets, given)
        return Item(
            answer=answer,
            evidence=evidence,
            relations=reading.relations,
            facts=reading.facts.astype(np.float16),
            denying=given.denying,
            label=example.label,
            wrong=None if example.changed is None else within(answer.offsets, example.changed),
            document=example.document,
        )


def windows(text: str, embedder: TokenReader) -> Iterator[str]:
    """Cut a text that is long into runs of whole sentences."""
    if embedder.count_tokens(text) <= WINDOW:
        yield text
        return
    start = end = used = 0
    for span in sentences(text):
        size = embedder.count_tokens(span.of(text))
        if used and used + size > WINDOW:
            yield text[start:end]
            used = 0
        start, end, used = (start if used else span.start), span.end, used + size
    if used:
        yield text[start:end]


def within(offsets: Sequence[tuple[int, int]], spans: Spans) -> NDArray[np.bool_]:
    """Tell which tokens touch one of the spans."""
    touched = [any(start < last and first < end for first, last in spans) for start, end in offsets]
    return np.array(touched, np.bool_)


def _given(texts: tuple[tuple[str, tuple[tuple[int, int], ...]], ...]) -> Given:
    return Given(texts)
