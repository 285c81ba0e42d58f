import json
from dataclasses import replace
from pathlib import Path

import pytest

from refdesk.errors import InputError, SourceError
from refdesk.evaluation.datasets.beir import read_beir
from refdesk.evaluation.datasets.beircases import as_beir, read_beir_cases
from refdesk.evaluation.datasets.cases import Case, CorpusDocument, DataSet, Gold, Need


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


def test_cases_of_any_form_are_judgements_of_documents() -> None:
    several = (
        Need(alternatives=(Gold(document="a", quote="x"), Gold(document="b"))),
        Need(alternatives=(Gold(document="a"),), grade=3),
    )
    data = DataSet(
        name="own",
        cases=(
            Case(case_id="q", question="What?", needs=several),
            Case(case_id="off", question="Who?", answerable=False),
        ),
        documents=(CorpusDocument(document="a", title="A", text="x"),),
    )
    found = as_beir(data)
    assert (found.queries, found.judgements) == ({"q": "What?"}, {"q": {"a": 3, "b": 1}})
    assert [(one.document_id, one.title, one.text) for one in found.documents] == [("a", "A", "x")]
    with pytest.raises(InputError, match="None of the questions of 'own'"):
        as_beir(replace(data, cases=data.cases[1:]))


def test_a_folder_of_beir_comes_back_as_it_was(folder: Path) -> None:
    read = read_beir(folder)
    again = as_beir(read_beir_cases(folder))
    assert (again.queries, again.documents) == (read.queries, read.documents)
    relevant = {
        query: {name: grade for name, grade in grades.items() if grade > 0}
        for query, grades in read.judgements.items()
    }
    assert again.judgements == relevant
