"""Retrieval data sets in the layout of BEIR: corpus.jsonl, queries.jsonl, qrels/SPLIT.tsv.

Thakur et al., BEIR: A Heterogeneous Benchmark for Zero-shot Evaluation of Information Retrieval Models, 2021.
"""

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from refdesk.errors import SourceError
from refdesk.sources import SourceItem

T = TypeVar("T")

CORPUS, QUERIES, JUDGEMENTS = "corpus.jsonl", "queries.jsonl", "qrels"
Grades = Mapping[str, int]
"""Document id to how relevant it is; above 0 is relevant."""


@dataclass(frozen=True, slots=True)
class BeirDocument:
    """One document of the corpus."""

    document_id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Beir:
    """A data set with the queries of one split."""

    name: str
    split: str
    documents: tuple[BeirDocument, ...]
    queries: Mapping[str, str]
    """Query id to text, for queries with a relevant document."""
    judgements: Mapping[str, Grades]
    unknown_documents: int = 0
    """Judgements of documents that the corpus lacks; they count as relevant and cannot be found."""


def read_beir(folder: str | PathLike[str], *, split: str = "test", corpus: bool = True) -> Beir:
    """Read a data set, with `corpus=False` without documents, for questions about what is in a library.

    Errors: `SourceError` with the file, the line and what is wrong.
    """
    root = Path(folder)
    documents = _unique(root / CORPUS, _documents(root / CORPUS)) if corpus else {}
    queries = _unique(root / QUERIES, _queries(root / QUERIES))
    path = _split_file(root, split)
    judgements = _judgements(path)
    for query in judgements:
        if query not in queries:
            raise SourceError(f"{path} judges query {query!r}, which {QUERIES} lacks.")
    return Beir(
        name=data_name(root),
        split=split,
        documents=tuple(documents.values()),
        queries={query: queries[query] for query in judgements},
        judgements=judgements,
        unknown_documents=sum(
            document not in documents for grades in judgements.values() for document in grades
        )
        if corpus
        else 0,
    )


def read_queries(source: str | PathLike[str]) -> Mapping[str, str]:
    """Read questions by id: of a data set's folder, of a JSON lines file, or of a text with one a line.

    Errors: `SourceError`.
    """
    path = Path(source)
    if path.is_dir():
        path = path / QUERIES
    if path.suffix == ".jsonl":
        return _unique(path, _queries(path))
    return _unique(path, ((number, str(number), line.strip()) for number, line in _lines(path)))


def read_documents(file: str | PathLike[str]) -> Mapping[str, BeirDocument]:
    """Read the documents of a corpus file by their ids. Errors: `SourceError`."""
    return _unique(Path(file), _documents(Path(file)))


@dataclass(frozen=True, slots=True)
class Corpus:
    """The documents of a data set as a source: each id is its source id."""

    data: Beir

    def count(self) -> int:
        return len(self.data.documents)

    async def items(self) -> AsyncIterator[SourceItem]:
        for one in self.data.documents:
            yield SourceItem(
                source_id=one.document_id,
                name=one.document_id,
                text=one.text,
                title=one.title,
                media_type="text/plain",
            )

    def covers(self, source_id: str, url: str | None) -> bool:
        return source_id in {one.document_id for one in self.data.documents}


def data_name(folder: str | PathLike[str]) -> str:
    """Name a data set by its folder, and where that only names the layout, by the one around it."""
    root = Path(folder).resolve()
    return f"{root.parent.name}-{root.name}" if root.name == "beir" else root.name


def _split_file(root: Path, split: str) -> Path:
    folder = root / JUDGEMENTS
    path = folder / f"{split}.tsv"
    if path.is_file():
        return path
    splits = sorted(found.stem for found in folder.glob("*.tsv"))
    known = f"Splits are {', '.join(splits)}." if splits else f"It needs {JUDGEMENTS}/{split}.tsv."
    raise SourceError(f"The data set {str(root)!r} has no split {split!r}.", remedy=known)


def _documents(path: Path) -> Iterator[tuple[int, str, BeirDocument]]:
    for number, record in _records(path):
        name = _text(path, number, record, "_id")
        title, text = record.get("title") or "", _text(path, number, record, "text", blank=True)
        yield number, name, BeirDocument(name, str(title), text)


def _queries(path: Path) -> Iterator[tuple[int, str, str]]:
    for number, record in _records(path):
        yield number, _text(path, number, record, "_id"), _text(path, number, record, "text")


def _unique(path: Path, rows: Iterator[tuple[int, str, T]]) -> dict[str, T]:
    found: dict[str, T] = {}
    for number, name, row in rows:
        if name in found:
            raise _broken(path, number, f"the id {name!r} comes a second time")
        found[name] = row
    if not found:
        raise SourceError(f"{path} holds nothing.")
    return found


def _records(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number, line in _lines(path):
        try:
            record = json.loads(line)
        except ValueError as error:
            raise _broken(path, number, f"not JSON ({error})") from error
        if not isinstance(record, dict):
            raise _broken(path, number, "not a JSON object")
        yield number, record


def _text(path: Path, number: int, record: Mapping[str, Any], key: str, *, blank: bool = False) -> str:
    value = record.get(key)
    if isinstance(value, int) and key == "_id":
        value = str(value)
    if not isinstance(value, str) or not (blank or value.strip()):
        raise _broken(path, number, f"{key!r} is {value!r}, not a text")
    return value


def _judgements(path: Path) -> dict[str, dict[str, int]]:
    """Read lines of query id, document id and grade, divided by tabs, after a line of headings."""
    found: dict[str, dict[str, int]] = {}
    for number, line in _lines(path):
        fields = line.split("\t")
        if number == 1 and fields[-1:] == ["score"]:
            continue
        if len(fields) != 3:
            raise _broken(path, number, f"{len(fields)} fields, not query id, document id and score")
        query, document, grade = fields
        found.setdefault(query, {})[document] = _grade(path, number, grade)
    relevant = {query: grades for query, grades in found.items() if max(grades.values()) > 0}
    if not relevant:
        raise SourceError(f"{path} judges no document as relevant.")
    return relevant


def _grade(path: Path, number: int, text: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise _broken(path, number, f"the score {text!r} is no whole number") from error


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        with path.open(encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield number, line.rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(
            f"Cannot read {path}: {error}.",
            remedy=f"A data set folder holds {CORPUS}, {QUERIES} and {JUDGEMENTS}/SPLIT.tsv.",
        ) from error


def _broken(path: Path, number: int, what: str) -> SourceError:
    return SourceError(f"{path}, line {number}: {what}.", remedy="Mend the file.")
