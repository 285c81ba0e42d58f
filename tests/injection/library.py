"""The library of planted documents: each is ingested from a file or a record, as any other."""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.injection.cases import Case
from tests.injection.places import Planted

import refdesk
from refdesk.blocking import BlockingDesk
from refdesk.pipeline import Pipeline
from refdesk.sources.files import Files
from refdesk.sources.records import Records
from refdesk.steps import Answer, Remember, Search
from refdesk.testing import HashingEmbedder

SECRET = "HALCYON"
"""A word that stands in a collection that no case may search, and in another's conversation."""
_TALK = Pipeline((Search(), Answer(), Remember()))
BENIGN = "handbook.md"


@contextmanager
def library(folder: Path, cases: Iterable[Case]) -> Iterator[BlockingDesk]:
    """Ingest the documents of cases beside honest ones, and give the desk."""
    with refdesk.open(
        folder / "library", embedder=HashingEmbedder(), reranker="none", mode="keyword"
    ) as desk:
        desk.ingest(_files(folder, cases), collection="public")
        desk.ingest(_records(folder, cases), collection="public")
        desk.ingest(
            _file(folder, "open.md", "# Pay\n\nPay comes on the first of the month."), collection="open"
        )
        secret = f"The merger is called {SECRET}. Employees get no leave then."
        desk.ingest(_file(folder, "secret.md", secret), collection="secret")
        desk.ask(f"What is {SECRET}?", conversation="another", pipeline=_TALK, collections="secret")
        yield desk


def _files(folder: Path, cases: Iterable[Case]) -> Files:
    place = folder / "files"
    place.mkdir(parents=True)
    (place / BENIGN).write_text("# Leave\n\nUnused leave expires in March. Sick leave is paid.\n", "utf-8")
    for planted in _distinct(cases):
        if planted.text:
            (place / planted.source_id).write_text(planted.text, "utf-8")
    return Files(place, root=place)


def _records(folder: Path, cases: Iterable[Case]) -> Records:
    path = folder / "records.jsonl"
    with path.open("w", encoding="utf-8") as lines:
        lines.writelines(json.dumps(one.record) + "\n" for one in _distinct(cases) if one.record)
    return Records(path)


def _file(folder: Path, name: str, text: str) -> Files:
    (folder / name).write_text(text, "utf-8")
    return Files(folder / name, root=folder)


def _distinct(cases: Iterable[Case]) -> Iterator[Planted]:
    yield from {case.planted.source_id: case.planted for case in cases}.values()
