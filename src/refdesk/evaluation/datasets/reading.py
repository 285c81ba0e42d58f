"""Data sets of any layout: recognised, read, drawn from, and brought into a collection."""

import random
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path

from refdesk.desk import Desk
from refdesk.errors import InputError, SourceError
from refdesk.evaluation.datasets.beir import QUERIES
from refdesk.evaluation.datasets.beircases import read_beir_cases
from refdesk.evaluation.datasets.casefile import LINES, YAML, read_cases
from refdesk.evaluation.datasets.cases import CorpusDocument, DataSet, Gold, Need
from refdesk.evaluation.datasets.digests import data_digest
from refdesk.evaluation.datasets.goldcheck import lost_gold, lost_in_words, stored_names
from refdesk.evaluation.datasets.squad import read_squad
from refdesk.events import IngestEvent
from refdesk.ingest import Summary
from refdesk.sources import SourceItem

LAYOUTS = (
    f"Allowed are a folder with {QUERIES} and qrels/SPLIT.tsv (BEIR), a question file that ends in "
    f"{', '.join((*YAML, *LINES))}, and a .json file in the layout of SQuAD."
)


def read_data(source: str | PathLike[str], *, split: str = "", corpus: bool = True) -> DataSet:
    """Read a data set, whatever its layout: a folder of BEIR, a question file, or a file of SQuAD.

    With `corpus=False` its documents are left out, for questions about what is in a library.
    Errors: `SourceError` with what was tried and what is allowed.
    """
    path = Path(source)
    if path.is_dir():
        return _with_lost_gold(_folder(path, split, corpus))
    if not path.is_file():
        raise SourceError(f"There is no data set {str(path)!r}.", remedy=LAYOUTS)
    suffix = path.suffix.lower()
    if suffix in (*YAML, *LINES):
        found = read_cases(path, corpus=corpus)
    elif suffix == ".json":
        found = read_squad(path, corpus=corpus)
    else:
        raise SourceError(
            f"The file {str(path)!r} ends in {suffix!r}, so its layout is unknown.", remedy=LAYOUTS
        )
    if split and split != found.split:
        has = (
            f"Its split is {found.split!r}."
            if found.split
            else "Name none; such a file has all its questions in one."
        )
        raise SourceError(f"The data set {str(path)!r} has no split {split!r}.", remedy=has)
    return _with_lost_gold(found)


def _folder(path: Path, split: str, corpus: bool) -> DataSet:
    if (path / QUERIES).is_file():
        return read_beir_cases(path, split=split, corpus=corpus)
    inside = sorted(one.name for one in path.iterdir() if one.suffix.lower() in (*YAML, *LINES, ".json"))
    hint = f"Did you mean one of its files: {', '.join(inside[:12])}? " if inside else ""
    raise SourceError(f"The folder {str(path)!r} has no {QUERIES}.", remedy=hint + LAYOUTS)


def sampled(data: DataSet, most: int | None, seed: int, *, tags: Sequence[str] = ()) -> DataSet:
    """Return the cases that have one of some tags, and at most so many of them, drawn by chance, in order.

    Errors: `InputError` for a tag that no case has, and for less than one case.
    """
    known = Counter(tag for case in data.cases for tag in case.tags)
    if unknown := [tag for tag in tags if tag not in known]:
        has = f"Its tags are {', '.join(sorted(known))}." if known else "It has no tags."
        raise InputError(f"No case of {data.name!r} has the tag {unknown[0]!r}.", remedy=has)
    if most is not None and most < 1:
        raise InputError(f"Cannot draw {most} cases.", remedy="Draw at least one.")
    cases = [case for case in data.cases if not tags or set(tags) & set(case.tags)]
    if most is not None and len(cases) > most:
        drawn = set(random.Random(seed).sample(sorted(case.case_id for case in cases), most))
        cases = [case for case in cases if case.case_id in drawn]
    if len(cases) == len(data.cases):
        return data
    return replace(
        data,
        cases=tuple(cases),
        digest=data_digest(cases, data.documents),
        facts={
            **data.facts,
            "cases": len(cases),
            "of": len(data.cases),
            "seed": seed,
            "tags": ", ".join(tags),
        },
    )


def whole_documents(data: DataSet) -> DataSet:
    """Return the data with documents for their spans, as figures of retrieval are published of such sets."""
    cases = tuple(replace(case, needs=tuple(map(_whole, case.needs))) for case in data.cases)
    return replace(data, cases=cases, digest=data_digest(cases, data.documents))


def _whole(need: Need) -> Need:
    documents = dict.fromkeys(gold.document for gold in need.alternatives)
    return replace(need, alternatives=tuple(Gold(document=document) for document in documents))


@dataclass(frozen=True)
class Brought:
    """The documents of a data set as a source: each name is its source id."""

    documents: Sequence[CorpusDocument]

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset(one.document for one in self.documents)

    def count(self) -> int:
        return len(self.documents)

    async def items(self) -> AsyncIterator[SourceItem]:
        for one in self.documents:
            yield SourceItem(
                source_id=one.document,
                name=one.document,
                text=one.text,
                title=one.title,
                language=one.language,
                media_type="text/plain",
            )

    def covers(self, source_id: str, url: str | None) -> bool:
        return source_id in self.names


async def ingest_data(
    desk: Desk,
    data: DataSet,
    *,
    collection: str,
    on_event: Callable[[IngestEvent], None] = lambda event: None,
) -> Summary | None:
    """Bring the documents of a data set into a collection of their own; what is there already costs nothing.

    None, and nothing is done, for data without documents.
    Errors: `InputError` where the collection holds other documents, which would spoil the figures.
    """
    if not data.documents:
        return None
    brought = Brought(data.documents)
    if foreign := [name for name in await stored_names(desk, collection) if name not in brought.names]:
        raise InputError(
            f"The collection {collection!r} holds {len(foreign)} documents that are not of {data.name!r}.",
            remedy="Name another collection, or delete this one.",
        )
    return await desk.ingest(brought, collection=collection, on_event=on_event)


def _with_lost_gold(data: DataSet) -> DataSet:
    """Warn of gold that is not in the documents that a data set brings."""
    if not data.documents:
        return data
    lost = lost_gold(data.cases, {one.document: one.text for one in data.documents})
    return replace(data, warnings=(*data.warnings, *lost_in_words(lost)))
