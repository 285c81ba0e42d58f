"""Drafts of questions: what was made of each place, kept in a file so that what was broken off goes on."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from refdesk.context import Turn
from refdesk.evaluation.datasets.cases import Case, Gold, Need
from refdesk.evaluation.generating.filtering import difficulty
from refdesk.evaluation.searching.rowfile import RowFile

Kind = Literal["single", "multi", "unanswerable", "conversation"]
KINDS: tuple[Kind, ...] = get_args(Kind)
By = Literal["model", "words", "gap"]
"""What made a question: a model, a wh-word, or a gap in a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A gold span: `document.text[start:start + len(quote)] == quote`."""

    document: str
    quote: str
    start: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A question that was made, or the reason why it is left out."""

    key: str
    """Kind and chunk ids that it was made of."""
    kind: Kind
    language: str
    by: By
    question: str = ""
    answer: str = ""
    history: tuple[tuple[str, str], ...] = ()
    """Questions and answers before it."""
    spans: tuple[Span, ...] = ()
    dropped: str = ""
    """Why it is left out; empty where it is kept."""
    overlap: float = 0.0
    """Share of the gold's words that the question has."""
    rank: int | None = None
    """Of the gold span that a search found last; None where none was looked for."""

    @property
    def query(self) -> str:
        """What a search needs to know: what was asked before, and the question."""
        return " ".join([*(question for question, _ in self.history), self.question])

    @property
    def golds(self) -> tuple[Gold, ...]:
        return tuple(Gold(document=one.document, quote=one.quote, start=one.start) for one in self.spans)

    def case(self) -> Case:
        """Return it as a case of a data set."""
        answerable = self.kind != "unanswerable"
        turns = [(Turn("user", asked), Turn("assistant", said)) for asked, said in self.history]
        tags = [
            self.kind,
            self.language,
            f"by-{self.by}",
            *([difficulty(self.overlap)] if answerable else []),
        ]
        return Case(
            case_id=self.key.replace(":", "-"),
            question=self.question,
            needs=tuple(Need(alternatives=(gold,)) for gold in self.golds) if answerable else (),
            answers=(self.answer,) if answerable and self.answer else (),
            answerable=answerable,
            tags=tuple(tags),
            history=tuple(turn for pair in turns for turn in pair),
        )


class DraftFile(RowFile[str, Draft]):
    """Drafts by their keys."""

    what = "drafts"

    def key(self, row: Draft) -> str:
        return row.key

    def row(self, record: dict[str, Any]) -> Draft:
        spans = tuple(_span(one) for one in record.get("spans", ()))
        history = tuple((str(asked), str(said)) for asked, said in record.get("history", ()))
        return Draft(**{**record, "spans": spans, "history": history})


def _span(record: Mapping[str, Any]) -> Span:
    return Span(**record)
