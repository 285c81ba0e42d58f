"""Pairs of evidence and statement with a label, read from public data sets."""

import csv
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import IntEnum
from pathlib import Path
from typing import Any

import regex

from refdesk.errors import InputError
from refdesk.evaluation.calibrating.faithfulness import MEASURED_ON, TUNED_ON

Spans = tuple[tuple[int, int], ...]
_TOKEN = regex.compile(r"\w+|[^\w\s]")


class Label(IntEnum):
    """What the evidence says of a statement. `NOT_ENTAILED` leaves open which of the two before it."""

    ENTAILED = 0
    NEUTRAL = 1
    CONTRADICTED = 2
    NOT_ENTAILED = 3


LABELS = {
    "entailment": Label.ENTAILED,
    "neutral": Label.NEUTRAL,
    "contradiction": Label.CONTRADICTED,
    "not_entailment": Label.NOT_ENTAILED,
}
NLI_FORM = "premise, hypothesis, label, or sentence1, sentence2, gold_label"
BEGIN_FORM = "knowledge, response, begin_label"
SUMMEDITS_FORM = "doc, summary, original_summary, label and split"


@dataclass(frozen=True, slots=True)
class Example:
    """A statement, the texts that it is held against, and what comes of it."""

    source: str
    premises: tuple[str, ...]
    statement: str
    label: Label
    changed: Spans | None = None
    """Where the statement is wrong; None where that is not known."""
    document: str = ""
    """Examples of one document are not parted by cross-validation."""


def read_nli(folder: Path) -> list[Example]:
    """Read pairs from `.jsonl` and `.tsv` files; the source of a pair is its path, as in `snli_dev`."""
    examples = []
    for path in _files(folder, (".jsonl", ".tsv"), NLI_FORM):
        rows = _json_lines(path) if path.suffix == ".jsonl" else _table(path)
        for row in rows:
            label = LABELS.get(_text(row, "label", "gold_label"))
            premise, statement = _text(row, "premise", "sentence1"), _text(row, "hypothesis", "sentence2")
            if label is not None and premise and statement:
                examples.append(Example(_source(path, folder), (premise,), statement, label))
    return _some(examples, folder, NLI_FORM)


def read_begin(folder: Path) -> list[Example]:
    """Read replies and the knowledge that they should come from; small talk is left out."""
    examples = []
    for path in _files(folder, (".tsv",), BEGIN_FORM):
        for row in _table(path):
            label = _text(row, "begin_label")
            premise, statement = _text(row, "knowledge"), _text(row, "response")
            if premise and statement and label.startswith(("Fully", "Not fully")):
                held = Label.ENTAILED if label.startswith("Fully") else Label.NOT_ENTAILED
                examples.append(Example(_source(path, folder), (premise,), statement, held))
    return _some(examples, folder, BEGIN_FORM)


def read_summedits(folder: Path) -> tuple[list[Example], list[Example]]:
    """Read summaries with the documents that they are of: those to fit on, and those to measure on."""
    splits: dict[str, list[Example]] = {TUNED_ON: [], MEASURED_ON: []}
    for path in _files(folder, (".json",), SUMMEDITS_FORM):
        for row in _json(path):
            try:
                splits[row["split"]].append(_summary(path.stem.removeprefix("summedits_"), row))
            except (KeyError, TypeError, ValueError) as error:
                raise InputError(f"A row of {str(path)!r} lacks {SUMMEDITS_FORM}: {error!r}.") from error
    return _some(splits[TUNED_ON], folder, SUMMEDITS_FORM), splits[MEASURED_ON]


def differences(original: str, edited: str) -> Spans:
    """Return where an edited text differs; where something is missing, the tokens around the gap."""
    old, new = list(_TOKEN.finditer(original)), list(_TOKEN.finditer(edited))
    matcher = SequenceMatcher(None, [one[0] for one in old], [one[0] for one in new], autojunk=False)
    spans = []
    for kind, _, _, start, end in matcher.get_opcodes():
        if kind == "delete":
            start, end = max(0, start - 1), min(len(new), end + 1)
        if kind != "equal" and start < end:
            spans.append((new[start].start(), new[end - 1].end()))
    return tuple(spans)


def named(source: str, names: Iterable[str]) -> bool:
    """Tell whether one of the names is part of a source's."""
    return any(name in source for name in names)


def _summary(domain: str, row: dict[str, Any]) -> Example:
    held = bool(int(row["label"]))
    changed = () if held else differences(row["original_summary"], row["summary"])
    label = Label.ENTAILED if held else Label.NOT_ENTAILED
    known = changed if held or changed else None
    return Example(domain, (row["doc"],), row["summary"], label, known, f"{domain}: {row['doc']}")


def _text(row: dict[str, Any], *names: str) -> str:
    return next((str(row[name]).strip() for name in names if row.get(name)), "")


def _source(path: Path, folder: Path) -> str:
    return "_".join(path.relative_to(folder).with_suffix("").parts)


def _files(folder: Path, endings: tuple[str, ...], form: str) -> list[Path]:
    found = sorted(path for path in folder.rglob("*") if path.suffix in endings)
    if not found:
        raise InputError(
            f"There are no {' or '.join(endings)} files in {str(folder)!r}.",
            remedy=f"Name a folder with files of {form}.",
        )
    return found


def _some(examples: list[Example], folder: Path, form: str) -> list[Example]:
    if not examples:
        raise InputError(f"No row of the files in {str(folder)!r} has {form}.")
    return examples


def _table(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)


def _json_lines(path: Path) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        try:
            yield dict(json.loads(line))
        except (TypeError, ValueError) as error:
            raise InputError(f"Line {number} of {str(path)!r} is no JSON object: {error}.") from error


def _json(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a file, none of one that has no summaries."""
    try:
        rows = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise InputError(f"{str(path)!r} is no JSON: {error}.") from error
    other = not isinstance(rows, list) or not rows or not {"summary", "split"} <= rows[0].keys()
    return [] if other else rows
