"""Evidence and statements to inputs of a classifier: windows at the ends of sentences, nothing cut off."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import regex
from tokenizers import Encoding, Tokenizer

from refdesk.citations.sentences import sentences
from refdesk.documents import Hit
from refdesk.embedding.windows import text_windows
from refdesk.errors import InputError, ModelError

EVIDENCE, STATEMENT = "{text1}", "{text2}"
"""Where a template has the two texts."""
SMALLEST = 8
"""Tokens of evidence below which a window says nothing."""
OVERLAP = 4
"""A sentence that takes this part of a window at most, a fourth, may be in two of them."""
PROBE = "a"


@dataclass(frozen=True, slots=True)
class Pair:
    """One input: evidence and a statement. `places` has the statement's tokens as (token, start, end)."""

    ids: tuple[int, ...]
    mask: tuple[int, ...]
    types: tuple[int, ...]
    places: tuple[tuple[int, int, int], ...]
    shared: float
    """Share of the statement's different tokens that the evidence has, 0 to 1."""


class PairTokenizer:
    """The tokenizer of a classifier, with the template that its texts stand in.

    Without a template the two texts are a pair. One with `{text1}` alone frames the evidence of a pair; one
    with both makes a single text of them. Special tokens that a text spells out are read as plain text.
    """

    def __init__(self, tokenizer: Tokenizer, max_length: int, template: str = "") -> None:
        self._tokenizer = tokenizer
        self._before, self._between, self._after, self.single = _parted(template)
        special = sorted(
            (token.content for token in tokenizer.get_added_tokens_decoder().values() if token.special),
            key=len,
            reverse=True,
        )
        marked = [name for name in special if name and not name[0].isalnum()]
        self._special = regex.compile("|".join(map(regex.escape, marked))) if marked else None
        self.max_length = max_length
        self.room = max_length - len(self.pair(PROBE, PROBE).ids) + 2 * self.count(PROBE)
        if self.room < 2 * SMALLEST:
            raise ModelError(
                f"An input of the model has {max_length} tokens, {max(self.room, 0)} of them for the texts;"
                f" at least {2 * SMALLEST} have to be.",
                remedy="Give Options(max_length=TOKENS), if the model takes more than its folder says.",
            )

    def count(self, text: str) -> int:
        """Count the tokens of a text by itself."""
        return len(self._tokenizer.encode(self.plain(text), add_special_tokens=False).ids)

    def plain(self, text: str) -> str:
        """Return a text of the same length in which no special token and no lone surrogate stands."""
        text = _SURROGATE.sub("\ufffd", text)
        return self._special.sub(lambda found: " " + found[0][1:], text) if self._special else text

    def pair(self, evidence: str, statement: str) -> Pair:
        """Return the input for two texts, however long it is."""
        evidence, statement = self.plain(evidence), self.plain(statement)
        framed = f"{self._before}{evidence}{self._between}"
        if not self.single:
            encoding = self._tokenizer.encode(framed, statement)
            return _pair(encoding, [number == 1 for number in encoding.sequence_ids], 0)
        encoding = self._tokenizer.encode(f"{framed}{statement}{self._after}")
        at, end = len(framed), len(framed) + len(statement)
        return _pair(encoding, [start < end and at < stop for start, stop in encoding.offsets], at)

    def fitted(self, evidence: str, statement: str) -> Iterator[Pair]:
        """Yield the input for two texts, or several with parts of the evidence where one is too long."""
        pair = self.pair(evidence, statement)
        if len(pair.ids) <= self.max_length:
            yield pair
            return
        if len(evidence) < 2:
            raise InputError(f"A statement of {len(statement)} characters does not fit the classifier.")
        for part in text_windows(evidence, self.count, (self.count(evidence) + 1) // 2):
            yield from self.fitted(part, statement)


_SURROGATE = regex.compile(r"[\ud800-\udfff]")


def _parted(template: str) -> tuple[str, str, str, bool]:
    """Return what stands before, between and after the two texts, and whether both are in the template."""
    before, found, rest = template.partition(EVIDENCE)
    if not template:
        return "", "", "", False
    if not found or EVIDENCE in rest or rest.count(STATEMENT) > 1 or STATEMENT in before:
        raise InputError(
            f"The template {template!r:.80} cannot be used.",
            remedy=f"Write {EVIDENCE} for the evidence, and after it {STATEMENT} for the statement, or not.",
        )
    between, single, after = rest.partition(STATEMENT)
    return before, between, after, bool(single)


def _pair(encoding: Encoding, stated: Sequence[bool], at: int) -> Pair:
    """Return an encoding whose `stated` tokens are the statement, which begins at character `at`."""
    special = encoding.special_tokens_mask
    places = tuple(
        (number, max(start - at, 0), end - at)
        for number, (start, end) in enumerate(encoding.offsets)
        if stated[number] and not special[number]
    )
    wanted = {encoding.ids[number] for number, _, _ in places}
    rest = {one for number, one in enumerate(encoding.ids) if not stated[number]}
    return Pair(
        ids=tuple(encoding.ids),
        mask=tuple(encoding.attention_mask),
        types=tuple(encoding.type_ids),
        places=places,
        shared=len(wanted & rest) / len(wanted) if wanted else 0.0,
    )


def evidence_windows(text: str, count: Callable[[str], int], room: int, *, overlap: bool = True) -> list[str]:
    """Cut a text into windows of at most `room` tokens that begin where sentences do, nothing left out.

    A sentence that is longer than a window is cut at a space. With `overlap` a window begins with the last
    sentence of the one before, where that is short.
    """
    if count(text) <= room:
        return [text]
    parts = [part for one in _whole_sentences(text) for part in text_windows(one, count, room)]
    sizes = [count(part) for part in parts]
    joined = ["".join(parts[start:end]) for start, end in _packed(sizes, room, overlap)]
    return [window for one in joined for window in text_windows(one, count, room)]


def _whole_sentences(text: str) -> Iterator[str]:
    """Yield a text's sentences, each with what follows it, such as a heading; joined they are the text."""
    starts = [0, *(span.start for span in sentences(text)[1:]), len(text)]
    yield from (text[start:end] for start, end in pairwise(starts))


def _packed(sizes: Sequence[int], room: int, overlap: bool) -> Iterator[tuple[int, int]]:
    """Yield the first and the last but one part of each window."""
    start = end = 0
    while end < len(sizes):
        taken = sum(sizes[start:end])
        while end < len(sizes) and (taken + sizes[end] <= room or end == start):
            taken += sizes[end]
            end += 1
        yield start, end
        start = end - 1 if overlap and end - start > 1 and _again(sizes, end, room) else end


def _again(sizes: Sequence[int], end: int, room: int) -> bool:
    """Tell whether the part before `end` is short enough to be repeated before the one that follows."""
    if end == len(sizes):
        return False
    return sizes[end - 1] * OVERLAP <= room and sizes[end - 1] + sizes[end] <= room


def hit_windows(hits: Sequence[Hit], count: Callable[[str], int], room: int) -> Iterator[tuple[str, str]]:
    """Yield chunk ids and windows, each after title and headings where these take a fourth at most."""
    for hit in hits:
        head = headline(hit)
        taken = count(f"{head}\n") if head else 0
        if not head or taken * 4 > room:
            head, taken = "", 0
        for window in evidence_windows(hit.chunk.text, count, room - taken):
            yield hit.chunk.chunk_id, f"{head}\n{window}" if head else window


def headline(hit: Hit) -> str:
    """Return the title and headings of a chunk on one line, without those that its text has."""
    parts = (hit.title, *hit.chunk.heading_path)
    return " > ".join(part for part in dict.fromkeys(parts) if part and part not in hit.chunk.text)
