"""Question files in YAML or JSON lines: read with all that is wrong at once, and written."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from refdesk.configuration.writing import as_yaml
from refdesk.errors import InputError, SourceError
from refdesk.evaluation.datasets.beir import read_documents
from refdesk.evaluation.datasets.caseform import Form, case_data, document_data, read_case, read_document
from refdesk.evaluation.datasets.cases import Case, CorpusDocument, DataSet
from refdesk.evaluation.datasets.digests import data_digest
from refdesk.yamlvalues import DEEPEST, Fault, Unreadable, Value, read

YAML, LINES = (".yaml", ".yml"), (".jsonl",)
HEAD_KEYS = ("name", "split", "documents")
QUESTIONS = "questions"
LARGEST, MOST = 20_000_000, 400_000
"""Characters and values of a YAML file."""
SHOWN = 30
"""Faults that a message names."""


def read_cases(file: str | PathLike[str], *, corpus: bool = True) -> DataSet:
    """Read a question file, with `corpus=False` without the documents that it brings.

    Errors: `SourceError` with each line and what is wrong there.
    """
    path = Path(file)
    form = Form()
    head, values = (_lines if path.suffix.lower() in LINES else _yaml)(form, path)
    cases = tuple(read_case(form, value) for value in values)
    _once(form, values, [one.case_id for one in cases], "id")
    brought = _documents(form, path, head.get("documents")) if corpus else ()
    if not cases and not form.faults:
        form.faults.append(Fault(0, "It holds no questions.", ""))
    names = {key: form.text(head[key], f"{key!r}", head[key]) for key in ("name", "split") if key in head}
    _refuse(path, form.faults)
    return DataSet(
        name=names.get("name", path.stem),
        split=names.get("split", ""),
        cases=cases,
        documents=brought,
        digest=data_digest(cases, brought),
        warnings=tuple(_warnings(cases)),
        facts={"reader": "questions", "file": path.name},
    )


def write_cases(file: str | PathLike[str], data: DataSet) -> None:
    """Write a data set as a question file that reads as the same one.

    Errors: `InputError` for an ending that is unknown, and for what the form cannot hold.
    """
    path = Path(file)
    if path.suffix.lower() not in (*YAML, *LINES):
        raise InputError(f"Cannot write {str(path)!r}.", remedy=f"End it in {', '.join((*YAML, *LINES))}.")
    fresh = path.with_name(f".{path.stem}.writing{path.suffix}")
    try:
        fresh.write_text(_text(path, data), encoding="utf-8", newline="\n")
        if _kept(read_cases(fresh)) != _kept(data):
            raise InputError(f"The data set {data.name!r} would not read as it is.", remedy=HOLDS)
        fresh.replace(path)
    except (SourceError, UnicodeEncodeError) as error:
        raise InputError(f"The data set {data.name!r} has no such form: {error}", remedy=HOLDS) from error
    except OSError as error:
        raise InputError(f"Cannot write {str(path)!r}: {error}.", remedy="Name another file.") from error
    finally:
        fresh.unlink(missing_ok=True)


HOLDS = "Each question needs an id of its own and a text; those that are not answerable, no needs or answers."


def _kept(data: DataSet) -> tuple[Any, ...]:
    return data.name, data.split, data.cases, data.documents


def _text(path: Path, data: DataSet) -> str:
    head: dict[str, Any] = {"name": data.name, **({"split": data.split} if data.split else {})}
    if data.documents:
        head["documents"] = [document_data(one) for one in data.documents]
    rows = [case_data(case) for case in data.cases]
    if path.suffix.lower() in YAML:
        return as_yaml({**head, QUESTIONS: rows})
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in (head, *rows))


Read = tuple[Mapping[str, Value], Sequence[Value]]
"""What stands before the questions, and the questions."""


def _yaml(form: Form, path: Path) -> Read:
    try:
        value = read(_whole(path), largest=LARGEST, most=MOST)
    except Unreadable as error:
        form.faults.append(Fault(error.problem.line or 0, error.problem.reason, error.problem.remedy))
        return {}, ()
    form.faults += value.everywhere()
    if isinstance(value.data, list):
        return {}, value.data
    head = form.mapping(value, "The file", (*HEAD_KEYS, QUESTIONS))
    questions = head.get(QUESTIONS, Value([], value.line))
    if not isinstance(questions.data, list):
        form.wrong(questions, f"{QUESTIONS!r} is {questions.plain!r:.60}, not a list.")
    return head, questions.data if isinstance(questions.data, list) else ()


def _lines(form: Form, path: Path) -> Read:
    """Read one question a line; the first line may be what stands before the questions."""
    values: list[Value] = []
    for number, line in enumerate(_whole(path).split("\n"), 1):
        if line.strip():
            try:
                values.append(_lined(json.loads(line, object_pairs_hook=_Pairs), number))
            except (ValueError, RecursionError) as error:
                form.faults.append(Fault(number, f"It is no JSON: {error}.", "Write one object a line."))
    first = values[0].data if values else None
    if isinstance(first, dict) and "question" not in first and set(first) & set(HEAD_KEYS):
        return form.mapping(values[0], "The first line", HEAD_KEYS), values[1:]
    return {}, values


@dataclass(frozen=True, slots=True)
class _Pairs:
    """An object of JSON as it is written."""

    pairs: Sequence[tuple[str, Any]]


def _lined(data: Any, line: int, depth: int = 1) -> Value:
    """Wrap what a line holds. Errors: `ValueError` for what nests too deep, or has a key twice."""
    if depth > DEEPEST:
        raise ValueError(f"it nests deeper than {DEEPEST} levels")
    match data:
        case _Pairs(pairs):
            if twice := [key for key, count in Counter(key for key, _ in pairs).items() if count > 1]:
                raise ValueError(f"the key {twice[0]!r} is there twice")
            return Value({key: _lined(one, line, depth + 1) for key, one in pairs}, line)
        case list():
            return Value([_lined(one, line, depth + 1) for one in data], line)
    return Value(data, line)


def _documents(form: Form, path: Path, value: Value | None) -> tuple[CorpusDocument, ...]:
    """Return the documents that a file brings: a list of them, or another file's name."""
    if value is None:
        return ()
    if isinstance(value.data, str):
        return _corpus(form, path.parent / value.data, value)
    if not isinstance(value.data, list):
        form.wrong(
            value, f"'documents' is {value.plain!r:.60}.", "Write a list, or a file such as corpus.jsonl."
        )
        return ()
    found = tuple(read_document(form, one) for one in value.data)
    _once(form, value.data, [one.document for one in found], "document")
    return found


def _corpus(form: Form, path: Path, value: Value) -> tuple[CorpusDocument, ...]:
    if path.is_dir():
        remedy = "Ingest it, leave 'documents' out, and name its collection where you ask."
        form.wrong(value, f"'documents' is the folder {str(path)!r}.", remedy)
        return ()
    found = read_documents(path).values()
    return tuple(CorpusDocument(document=one.document_id, title=one.title, text=one.text) for one in found)


def _once(form: Form, values: Sequence[Value], names: Sequence[str], what: str) -> None:
    first: dict[str, int] = {}
    for value, name in zip(values, names, strict=True):
        if name and name in first:
            form.wrong(
                value, f"The {what} {name!r} is there already, in line {first[name]}.", "Name it otherwise."
            )
        first.setdefault(name, value.line)


def _warnings(cases: Sequence[Case]) -> Iterator[str]:
    if bare := [one.case_id for one in cases if one.answerable and not one.needs and not one.answers]:
        names = ", ".join(bare[:5]) + (", …" if len(bare) > 5 else "")
        what = "Neither `expected` nor `answer` says what is right"
        yield f"{what} for {len(bare)} of {len(cases)} questions: {names}."


def _whole(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except (OSError, ValueError) as error:
        raise SourceError(
            f"Cannot read the question file {str(path)!r}: {error}.", remedy="Give a text in UTF-8."
        ) from error


def _refuse(path: Path, faults: Sequence[Fault]) -> None:
    """Raise all that is wrong as one error."""
    if not faults:
        return
    ordered = sorted(dict.fromkeys(faults), key=lambda fault: fault.line)
    lines = [f"\n- {_shown(one)}" for one in ordered[:SHOWN]]
    more = f"\n- and {len(ordered) - SHOWN} more" if len(ordered) > SHOWN else ""
    count = f"{len(ordered)} problem{'s' if len(ordered) != 1 else ''}"
    raise SourceError(f"The question file {str(path)!r} has {count}:{''.join(lines)}{more}")


def _shown(fault: Fault) -> str:
    where = f"line {fault.line}: " if fault.line else ""
    return f"{where}{fault.reason} {fault.remedy}".rstrip()
