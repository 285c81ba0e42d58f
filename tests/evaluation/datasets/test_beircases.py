import json
from pathlib import Path

import pytest

from refdesk.errors import SourceError
from refdesk.evaluation.datasets.beircases import read_beir_cases
from refdesk.evaluation.datasets.cases import Case, Gold, Need


def needs(**grades: int) -> tuple[Need, ...]:
    return tuple(Need(alternatives=(Gold(document=name),), grade=grade) for name, grade in grades.items())


def test_each_relevant_document_is_a_need(folder: Path) -> None:
    data = read_beir_cases(folder)
    assert (data.name, data.split) == ("tiny set", "test")
    assert data.cases == (
        Case(case_id="q1", question="How many days of leave?", needs=needs(leave=2, library=1)),
        Case(case_id="q2", question="Do Erlang processes share memory?", needs=needs(erlang=1)),
    )
    assert [one.document for one in data.documents] == ["leave", "erlang", "library", "empty"]
    assert data.documents[0].title == "Leave"


def test_without_its_corpus_it_has_no_documents(folder: Path) -> None:
    (folder / "corpus.jsonl").unlink()
    assert read_beir_cases(folder, corpus=False).documents == ()


def test_answers_and_types_are_taken_from_the_metadata(folder: Path) -> None:
    said = [
        {"answer": " Thirty ", "answers": ["30", "Thirty", 30, ""], "type": "number"},
        {"answer": None, "type": ["a", "b"]},
        "nothing",
    ]
    rows = [{"_id": f"q{n}", "text": f"Text {n}", "metadata": one} for n, one in enumerate(said, 1)]
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, rows)))
    first, second = read_beir_cases(folder).cases
    assert (first.answers, first.tags) == (("Thirty", "30"), ("number",))
    assert (second.answers, second.tags) == ((), ("a", "b"))


def test_the_only_split_needs_no_name(folder: Path) -> None:
    (folder / "qrels" / "test.tsv").rename(folder / "qrels" / "dev.tsv")
    assert read_beir_cases(folder).split == "dev"
    (folder / "qrels" / "train.tsv").write_text("q1\tleave\t1\n")
    with pytest.raises(SourceError, match=r"no split 'test', and none was named\. Name one of dev, train"):
        read_beir_cases(folder)
    assert len(read_beir_cases(folder, split="train").cases) == 1


def test_a_folder_without_judgements_is_refused(folder: Path) -> None:
    (folder / "qrels" / "test.tsv").unlink()
    with pytest.raises(SourceError, match=r"It needs qrels/SPLIT\.tsv"):
        read_beir_cases(folder)
