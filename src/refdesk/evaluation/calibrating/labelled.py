"""Labelled texts for fitting the levels of a grounder: how they are read, judged and kept."""

import hashlib
import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from refdesk.chunking import Chunker
from refdesk.errors import InputError
from refdesk.evaluation.calibrating.faithfulness import (
    FORM,
    MEASURED_ON,
    TUNED_ON,
    Case,
    Judged,
    judge_cases,
    read_cases,
    row_problem,
)
from refdesk.evaluation.searching.rowfile import RowFile
from refdesk.grounding import Grounder

REMEDY = f"Give a folder of SummEdits' form, or a .json or .jsonl file: a {FORM}; `split` may be left out."


def read_labelled(source: str, *, seed: int = 0) -> tuple[Case, ...]:
    """Read labelled texts: a folder as SummEdits has it, or a JSON or JSON lines file with the same rows.

    Rows of a file without a split are divided by chance, each label in half. Errors: `InputError`.
    """
    path = Path(source)
    if path.is_dir():
        return read_cases(source)
    cases = [_case(source, number, row) for number, row in enumerate(_rows(path), 1)]
    drawn = random.Random(seed)
    return tuple(case for kind in (True, False) for case in _split(cases, kind, drawn))


def _rows(path: Path) -> Sequence[Any]:
    try:
        text = path.read_text("utf-8-sig")
        lines = path.suffix.lower() in (".jsonl", ".ndjson")
        rows = [json.loads(line) for line in text.splitlines() if line.strip()] if lines else json.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(
            f"The labelled texts {str(path)!r} cannot be read: {error}.", remedy=REMEDY
        ) from error
    if not isinstance(rows, list) or not rows:
        raise InputError(f"{str(path)!r} holds no list of labelled texts.", remedy=REMEDY)
    return rows


def _case(source: str, number: int, row: Any) -> Case:
    given = {"split": "", **row} if isinstance(row, dict) else row
    problem = row_problem(given)
    if not problem and given["split"] not in ("", TUNED_ON, MEASURED_ON):
        problem = f"has the split {given['split']!r:.40}; allowed are {TUNED_ON}, {MEASURED_ON}, or none"
    if problem:
        raise InputError(f"Row {number} of {source!r} {problem}.", remedy=REMEDY)
    faithful = bool(int(given["label"]))
    return Case(Path(source).stem, given["doc"], given["summary"], faithful, given["split"])


def _split(cases: Sequence[Case], faithful: bool, drawn: random.Random) -> Iterator[Case]:
    mine = [case for case in cases if case.faithful == faithful]
    free = [place for place, case in enumerate(mine) if not case.split]
    tuned = set(drawn.sample(free, (len(free) + 1) // 2))
    for place, case in enumerate(mine):
        yield replace(case, split=case.split or (TUNED_ON if place in tuned else MEASURED_ON))


@dataclass(frozen=True, slots=True)
class Score:
    """What a grounder said of a text, as it is kept."""

    digest: str
    """Of document and text."""
    score: float | None
    held: bool
    grounder: str


class LevelScores(RowFile[str, Score]):
    """Scores of texts that are kept in a file."""

    what = "scores"

    def key(self, row: Score) -> str:
        return row.digest

    def row(self, record: dict[str, Any]) -> Score:
        return Score(**record)


async def judge_labelled(
    cases: Sequence[Case],
    grounder: Grounder,
    chunker: Chunker,
    *,
    kept: LevelScores | None = None,
    on_case: Callable[[str], None] = lambda domain: None,
) -> tuple[Judged, ...]:
    """Judge texts, one after the other; what is kept is not judged again. Errors: those of the grounder."""
    judged = []
    for case in cases:
        digest = hashlib.sha256(f"{case.document}\0{case.text}".encode("utf-8", "replace")).hexdigest()[:20]
        known = kept.known.get(digest) if kept else None
        if known is None:
            [one] = await judge_cases([case], grounder, chunker, on_case=lambda domain: None)
            known = Score(digest, one.score, one.held, one.grounder)
        if kept:
            kept.add(known)
        judged.append(Judged(case, known.score, known.held, known.grounder))
        on_case(case.domain)
    return tuple(judged)
