"""Data sets in the layout of SQuAD: articles of paragraphs, each with questions and the answers in its text.

Rajpurkar et al., SQuAD, 2016 and 2018; also XQuAD, PIAF and others of that form.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from refdesk.errors import SourceError
from refdesk.evaluation.datasets.cases import Case, CorpusDocument, DataSet, Gold, Need
from refdesk.evaluation.datasets.digests import data_digest
from refdesk.evaluation.datasets.gold import place

LANGUAGE = re.compile(r"\.([a-z]{2})$")
"""At the end of a file's name, as of `xquad.de.json`."""


def read_squad(file: str | PathLike[str], *, corpus: bool = True) -> DataSet:
    """Read a data set: each paragraph is a document, each answer a span of it, and any of them will do.

    Documents are named by the numbers of article and paragraph, so that translations have the same names;
    a text that comes again is one document. An answer that is not where it is said to be is looked up, and
    where it is nowhere, the whole paragraph is the gold; warnings count both.
    Errors: `SourceError` with where it is not of that form.
    """
    path = Path(file)
    reading = _Reading(path)
    language = LANGUAGE.search(path.stem)
    reading.read(_parsed(path), language[1] if language else "")
    if not reading.cases:
        raise SourceError(f"{path} holds no questions.")
    documents = tuple(reading.documents.values()) if corpus else ()
    cases = tuple(reading.cases.values())
    return DataSet(
        name=path.stem,
        cases=cases,
        documents=documents,
        digest=data_digest(cases, documents),
        warnings=tuple(f"{what} ({count})." for what, count in reading.oddities.items()),
        facts={"reader": "squad", "file": path.name, "version": str(reading.version)},
    )


REPAIRED = "Answers that are not where they are said to be were looked up in their paragraph"
NOWHERE = "Answers that are not in their paragraph: the whole paragraph counts instead"
UNANSWERED = "Questions without an answer that are not marked as impossible: the whole paragraph counts"
MERGED = "Paragraphs that come again are one document"
REPEATED = "Questions that come again with the same id and the same answers were left out"


@dataclass(slots=True)
class _Reading:
    """What was read so far, and what was odd about it."""

    path: Path
    documents: dict[str, CorpusDocument] = field(default_factory=dict)
    """By text."""
    cases: dict[str, Case] = field(default_factory=dict)
    oddities: Counter[str] = field(default_factory=Counter)
    version: Any = ""

    def read(self, data: Mapping[str, Any], language: str) -> None:
        self.version = data.get("version", "")
        for number, article in enumerate(self.items(data, "data", "the file"), 1):
            where = f"article {number}"
            title = str(self.object(article, where).get("title") or "").replace("_", " ").strip()
            for part, paragraph in enumerate(self.items(article, "paragraphs", where), 1):
                name = f"{number:04}-{part:03}"
                self.paragraph(paragraph, name, title, language, f"{where}, paragraph {part}")

    def paragraph(self, paragraph: Any, name: str, title: str, language: str, where: str) -> None:
        text = self.text(self.object(paragraph, where), "context", where)
        self.oddities.update([MERGED] if text in self.documents else [])
        new = CorpusDocument(document=name, title=title, text=text, language=language)
        document = self.documents.setdefault(text, new)
        for number, question in enumerate(self.items(paragraph, "qas", where), 1):
            self.question(self.object(question, where), document, f"{where}, question {number}")

    def question(self, record: Mapping[str, Any], document: CorpusDocument, where: str) -> None:
        name = str(record["id"]) if isinstance(record.get("id"), int) else self.text(record, "id", where)
        impossible = record.get("is_impossible", False)
        if not isinstance(impossible, bool):
            raise self.broken(where, f"'is_impossible' is {impossible!r:.60}, not true or false")
        answers = [] if impossible else self.answers(record, document, where)
        case = Case(
            case_id=name,
            question=self.text(record, "question", where),
            needs=() if impossible else (self.need(answers, document),),
            answers=tuple(dict.fromkeys(text.strip() for text, _ in answers)),
            answerable=not impossible,
        )
        if name in self.cases and self.cases[name] != case:
            raise self.broken(where, f"the id {name!r} is there already, with another question")
        self.oddities.update([REPEATED] if name in self.cases else [])
        self.cases[name] = case

    def answers(
        self, record: Mapping[str, Any], document: CorpusDocument, where: str
    ) -> list[tuple[str, Gold | None]]:
        found = []
        for answer in self.items(record, "answers", where):
            text, start = self.text(self.object(answer, where), "text", where), answer.get("answer_start")
            if not isinstance(start, int) or isinstance(start, bool):
                raise self.broken(where, f"'answer_start' is {start!r:.60}, not a whole number")
            found.append((text, self.gold(text, start, document)))
        return found

    def gold(self, text: str, start: int, document: CorpusDocument) -> Gold | None:
        """Return the span of an answer, None where it is not in the text."""
        said = Gold(document=document.document, quote=text, start=max(start, 0))
        span = place(said, document.text)
        if span is None:
            self.oddities.update([NOWHERE])
            return None
        self.oddities.update([REPAIRED] if span[0] != start else [])
        return Gold(document=document.document, quote=document.text[span[0] : span[1]], start=span[0])

    def need(self, answers: Sequence[tuple[str, Gold | None]], document: CorpusDocument) -> Need:
        self.oddities.update([] if answers else [UNANSWERED])
        golds = tuple(dict.fromkeys(gold for _, gold in answers if gold is not None))
        return Need(alternatives=golds or (Gold(document=document.document),))

    def items(self, record: Any, key: str, where: str) -> Iterator[Any]:
        value = self.object(record, where).get(key)
        if not isinstance(value, list):
            raise self.broken(where, f"{key!r} is {value!r:.60}, not a list")
        return iter(value)

    def object(self, record: Any, where: str) -> Mapping[str, Any]:
        if not isinstance(record, dict):
            raise self.broken(where, f"{record!r:.60} is no object")
        return record

    def text(self, record: Mapping[str, Any], key: str, where: str) -> str:
        value = record.get(key)
        if not isinstance(value, str) or not value.strip():
            raise self.broken(where, f"{key!r} is {value!r:.60}, not a text")
        return value

    def broken(self, where: str, what: str) -> SourceError:
        return SourceError(f"{self.path}, {where}: {what}.", remedy=SHAPE)


SHAPE = (
    'The layout of SQuAD is {"data": [{"title", "paragraphs": [{"context", "qas": [{"id", "question", '
    '"answers": [{"text", "answer_start"}]}]}]}]}.'
)


def _parsed(path: Path) -> Mapping[str, Any]:
    try:
        data = json.loads(path.read_text("utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise SourceError(f"Cannot read {path}: {error}.", remedy=SHAPE) from error
    if not isinstance(data, dict) or "data" not in data:
        raise SourceError(f"{path} is not in the layout of SQuAD: it has no 'data'.", remedy=SHAPE)
    return data
