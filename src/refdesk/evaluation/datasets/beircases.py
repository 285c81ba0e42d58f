"""Retrieval data sets in the layout of BEIR as cases: each relevant document is a need, with its grade."""

import json
from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from refdesk.errors import InputError, SourceError
from refdesk.evaluation.datasets.beir import JUDGEMENTS, QUERIES, Beir, BeirDocument, Grades, read_beir
from refdesk.evaluation.datasets.cases import Case, CorpusDocument, DataSet, Gold, Need
from refdesk.evaluation.datasets.digests import data_digest


def read_beir_cases(folder: str | PathLike[str], *, split: str = "", corpus: bool = True) -> DataSet:
    """Read a data set. Without a split it is `test`, or the only one that there is.

    Answers and a tag are taken from what some sets say of a query: `answer` or `answers`, and `type`, of its
    `metadata`. Errors: `SourceError`, as of `read_beir`.
    """
    root = Path(folder)
    split = split or _only_split(root)
    data = read_beir(root, split=split, corpus=corpus)
    said = _metadata(root / QUERIES)
    documents = tuple(
        CorpusDocument(document=one.document_id, title=one.title, text=one.text) for one in data.documents
    )
    cases = tuple(
        _case(name, question, data.judgements[name], said.get(name, {}))
        for name, question in data.queries.items()
    )
    return DataSet(
        name=data.name,
        split=split,
        cases=cases,
        documents=documents,
        digest=data_digest(cases, documents),
        facts={"reader": "beir", "folder": root.name},
    )


def as_beir(data: DataSet) -> Beir:
    """Return cases as judgements of documents: whatever a case names is relevant, by the best of its grades.

    Cases that name nothing are left out; of a span only its document counts.
    Errors: `InputError` where none is left.
    """
    judgements = {case.case_id: dict(_grades(case)) for case in data.cases if case.needs}
    if not judgements:
        raise InputError(
            f"None of the questions of {data.name!r} says what has to be found.",
            remedy="Name documents under `expected`, see docs/evaluation-data.md.",
        )
    return Beir(
        name=data.name,
        split=data.split,
        documents=tuple(BeirDocument(one.document, one.title, one.text) for one in data.documents),
        queries={case.case_id: case.question for case in data.cases if case.needs},
        judgements=judgements,
    )


def _grades(case: Case) -> Iterator[tuple[str, int]]:
    """Yield documents with their grades, the best grade of each last."""
    for need in sorted(case.needs, key=lambda need: need.grade):
        yield from ((gold.document, need.grade) for gold in need.alternatives)


def _only_split(root: Path) -> str:
    splits = sorted(found.stem for found in (root / JUDGEMENTS).glob("*.tsv"))
    if "test" in splits or len(splits) == 1:
        return "test" if "test" in splits else splits[0]
    known = f"Name one of {', '.join(splits)}." if splits else f"It needs {JUDGEMENTS}/SPLIT.tsv."
    raise SourceError(f"The data set {str(root)!r} has no split 'test', and none was named.", remedy=known)


def _case(name: str, question: str, grades: Grades, said: Mapping[str, Any]) -> Case:
    return Case(
        case_id=name,
        question=question,
        needs=tuple(
            Need(alternatives=(Gold(document=document),), grade=grade)
            for document, grade in grades.items()
            if grade > 0
        ),
        answers=tuple(dict.fromkeys((*_texts(said.get("answer")), *_texts(said.get("answers"))))),
        tags=tuple(_texts(said.get("type"))),
    )


def _texts(value: Any) -> Iterator[str]:
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, str) and one.strip():
            yield one.strip()


def _metadata(path: Path) -> Mapping[str, Mapping[str, Any]]:
    """Return what a file of queries says of them, by their ids; `read_beir` has found it sound."""
    with path.open(encoding="utf-8-sig") as lines:
        records = [json.loads(line) for line in lines if line.strip()]
    return {str(one["_id"]): one["metadata"] for one in records if isinstance(one.get("metadata"), dict)}
