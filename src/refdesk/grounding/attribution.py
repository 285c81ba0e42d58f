"""Which chunks of the evidence hold a statement, beside the one that holds it best."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from refdesk.grounding.stating import Passage, Statement

HELD = 0.6
"""Share of the best chunk's score that a chunk needs to hold a statement as well."""
ADDED = 0.2
"""Share of a statement's words that a chunk must have beyond the best one to hold a part of it."""


@dataclass(frozen=True, slots=True)
class Attribution:
    """A statement, and the scores that a grounder gave to chunks for it, by chunk id."""

    statement: Statement
    scores: Mapping[str, float]
    best: str
    """The chunk that holds it best; empty where none does."""
    passages: Mapping[str, Passage]

    def holds(self, chunk: str) -> bool:
        """Tell whether a chunk holds the statement, or a part of it, as well as the best one or beside it.

        It does where its score is at least `HELD` of the best one's and it lacks no number and no name that
        the best one has; where it has a number, a name or `ADDED` of the words that the best one lacks, since
        both together may hold the statement; and where it says it in as many of its words, whatever scores
        the grounder gave.
        """
        if chunk == self.best:
            return True
        own, rival = self.passages.get(chunk), self.passages.get(self.best)
        if own is None or rival is None:
            return False
        lacks, rival_lacks = set(self.statement.foreign(own)), set(self.statement.foreign(rival))
        if rival_lacks - lacks or self._added(own, rival) >= ADDED:
            return True
        if lacks - rival_lacks:
            return False
        if 0 < self.statement.share_in(rival) <= self.statement.share_in(own):
            return True
        return self.scores.get(chunk, 0.0) >= HELD * self.scores.get(self.best, 0.0) > 0

    def any_holds(self, chunks: Collection[str]) -> bool:
        return any(self.holds(chunk) for chunk in chunks)

    def _added(self, own: Passage, rival: Passage) -> float:
        words = self.statement.words
        added = sum(word in own.words and word not in rival.words for word in words)
        return added / len(words) if words else 0.0
