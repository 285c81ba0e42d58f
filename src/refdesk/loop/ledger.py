"""What a loop has found: passages under numbers that stay, and the queries that found them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from refdesk.context import Evidence
from refdesk.documents import Hit
from refdesk.results import Results, merged, numbered
from refdesk.retrieval.queries import tried


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a tool found. The loop gives the hits numbers and shows them."""

    hits: tuple[Hit, ...]
    query: str = ""
    """What was searched for; empty where nothing was."""
    key: tuple[str, ...] = ()
    """Of the search, to tell that it comes again."""
    said: str = ""
    """Said to the model before the passages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """How the ledger took what was found."""

    numbers: tuple[int, ...]
    """Of the passages that stay, in the order found."""
    new: int
    full: int
    """Passages that found no room."""
    dropped: tuple[int, ...]
    """Numbers of earlier passages that gave way."""


@dataclass(slots=True)
class Ledger:
    """Passages in the order of their first appearance, numbered from 1. At most `cap` stay.

    Which stay is decided as for the results of several queries: by reciprocal rank fusion of all searches. A
    number is never given twice, also where its passage gave way.
    """

    cap: int
    results: list[Results] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)
    numbers: dict[tuple[str, ...], tuple[int, ...]] = field(default_factory=dict)
    """What searches found, by their keys."""
    _passages: dict[str, Evidence] = field(default_factory=dict)
    """By chunk id, all that ever stayed."""
    _seen: dict[str, Evidence] = field(default_factory=dict)
    """By chunk id, what the controller was shown of them."""

    def note(self, found: Found) -> Noted:
        """Take what was found, and number what of it stays."""
        before = {item.number for item in self.evidence}
        self.results.append(Results(question=found.query, hits=numbered(found.hits)))
        if found.query and not tried(found.query, self.queries):
            self.queries.append(found.query)
        kept = {hit.chunk.chunk_id for hit in self.hits}
        ids = list(dict.fromkeys(hit.chunk.chunk_id for hit in found.hits))
        known = set(self._passages)
        for hit in found.hits:
            name = hit.chunk.chunk_id
            if name in kept and name not in self._passages:
                self._passages[name] = Evidence(len(self._passages) + 1, hit)
        numbers = tuple(self._passages[name].number for name in ids if name in kept)
        if found.key:
            self.numbers[found.key] = numbers
        return Noted(
            numbers=numbers,
            new=len(kept.intersection(ids) - known),
            full=len([name for name in ids if name not in kept]),
            dropped=tuple(sorted(before - {item.number for item in self.evidence})),
        )

    @property
    def hits(self) -> tuple[Hit, ...]:
        """The passages that stay, best first."""
        return numbered(merged(self.results)[: self.cap])

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """The passages that stay, by their numbers."""
        kept = {hit.chunk.chunk_id for hit in self.hits}
        return tuple(item for name, item in self._passages.items() if name in kept)

    def passages(self, numbers: Sequence[int]) -> tuple[Evidence, ...]:
        """Return passages by their numbers, also such that gave way; unknown numbers are passed over."""
        known = {item.number: item for item in self._passages.values()}
        return tuple(known[number] for number in numbers if number in known)

    def passage(self, name: int | str) -> Evidence | None:
        """Return a passage that was shown, by its number or its chunk id."""
        if isinstance(name, int):
            return next(iter(self.passages([name])), None)
        return self._passages.get(name)

    def show(self, items: Iterable[Evidence]) -> None:
        """Note what the controller was shown; of a passage that was shortened, the longest beginning."""
        for item in items:
            name, before = item.hit.chunk.chunk_id, self._seen.get(item.hit.chunk.chunk_id)
            if before is None or len(before.hit.chunk.text) < len(item.hit.chunk.text):
                self._seen[name] = item

    @property
    def seen(self) -> tuple[Evidence, ...]:
        """The passages that stay, as far as the controller was shown them."""
        shown = (self._seen.get(item.hit.chunk.chunk_id) for item in self.evidence)
        return tuple(item for item in shown if item is not None)
