from pathlib import Path

import pytest

from refdesk.errors import SourceError
from refdesk.evaluation.datasets.beir import Corpus, read_beir
from refdesk.sources import SourceItem


def test_a_data_set_is_read(folder: Path) -> None:
    data = read_beir(folder)
    assert (data.name, data.split) == ("tiny set", "test")
    assert [one.document_id for one in data.documents] == ["leave", "erlang", "library", "empty"]
    assert data.judgements == {"q1": {"leave": 2, "library": 1}, "q2": {"erlang": 1}}
    assert set(data.queries) == {"q1", "q2"}
    assert data.unknown_documents == 0


def test_a_folder_that_names_the_layout_only_is_named_with_its_parent(folder: Path) -> None:
    renamed = folder.rename(folder.parent / "beir")
    assert read_beir(renamed).name == f"{folder.parent.name}-beir"


def test_headings_of_judgements_may_be_missing(folder: Path) -> None:
    (folder / "qrels" / "dev.tsv").write_text("q2\tleave\t1\n")
    assert read_beir(folder, split="dev").judgements == {"q2": {"leave": 1}}


def test_judged_documents_that_are_not_there_are_counted(folder: Path) -> None:
    (folder / "qrels" / "test.tsv").write_text("q1\tgone\t1\nq1\tleave\t1\n")
    assert read_beir(folder).unknown_documents == 1


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("corpus.jsonl", '{"_id": "a", "text": "x"}\n{"_id"\n', r"corpus\.jsonl, line 2: not JSON"),
        ("corpus.jsonl", '\n["a"]\n', "line 2: not a JSON object"),
        ("corpus.jsonl", '{"_id": "a"}\n', "line 1: 'text' is None"),
        ("corpus.jsonl", '{"text": "a"}\n', "line 1: '_id' is None"),
        (
            "corpus.jsonl",
            '{"_id": "a", "text": "x"}\n{"_id": "a", "text": "y"}\n',
            "line 2: the id 'a' comes",
        ),
        ("corpus.jsonl", "\n", "holds nothing"),
        ("queries.jsonl", '{"_id": "q1", "text": " "}\n', "line 1: 'text' is ' '"),
        ("queries.jsonl", '{"_id": "q1", "text": "x"}\n', r"'q2', which queries\.jsonl lacks"),
        ("qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1\tleave\n", "line 2: 2 fields"),
        ("qrels/test.tsv", "q1\tleave\tmuch\n", "line 1: the score 'much'"),
        ("qrels/test.tsv", "q1\tleave\t0\n", "no document as relevant"),
    ],
)
def test_broken_files_are_named_with_the_line(folder: Path, file: str, content: str, message: str) -> None:
    (folder / file).write_text(content)
    with pytest.raises(SourceError, match=message):
        read_beir(folder)


@pytest.mark.parametrize("file", ["corpus.jsonl", "queries.jsonl"])
def test_a_missing_file_is_named(folder: Path, file: str) -> None:
    (folder / file).unlink()
    with pytest.raises(SourceError, match=file) as caught:
        read_beir(folder)
    assert "qrels/SPLIT.tsv" in caught.value.remedy


def test_a_missing_split_names_those_that_are_there(folder: Path) -> None:
    with pytest.raises(SourceError, match="no split 'train'") as caught:
        read_beir(folder, split="train")
    assert "test" in caught.value.remedy


def test_bytes_that_are_no_text_are_refused(folder: Path) -> None:
    (folder / "queries.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SourceError, match=r"queries\.jsonl"):
        read_beir(folder)


@pytest.mark.anyio
async def test_the_corpus_is_a_source(folder: Path) -> None:
    corpus = Corpus(read_beir(folder))
    items: list[SourceItem] = [item async for item in corpus.items()]
    assert corpus.count() == len(items) == 4
    assert [(item.source_id, item.title, item.text) for item in items][:1] == [
        ("leave", "Leave", "Thirty days of leave are granted every year.")
    ]
