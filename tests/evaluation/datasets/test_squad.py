import json
from pathlib import Path
from typing import Any

import pytest

from refdesk.errors import SourceError
from refdesk.evaluation.datasets.cases import CorpusDocument, Gold, Need
from refdesk.evaluation.datasets.squad import read_squad

TEXT = "Ada Lovelace wrote in 1843. Ada met Babbage in 1833."


def question(name: str, *answers: tuple[str, int], **more: Any) -> dict[str, Any]:
    given = [{"text": text, "answer_start": start} for text, start in answers]
    return {"id": name, "question": f"Question {name}?", "answers": given, **more}


def article(*questions: dict[str, Any], text: str = TEXT, title: str = "Ada_Lovelace") -> dict[str, Any]:
    return {"title": title, "paragraphs": [{"context": text, "qas": list(questions)}]}


def written(folder: Path, *articles: Any, name: str = "own.json") -> Path:
    path = folder / name
    path.write_text(json.dumps({"version": "2.0", "data": articles}), "utf-8")
    return path


def test_paragraphs_are_documents_and_answers_spans_of_them(tmp_path: Path) -> None:
    first, other = question("a", ("1843", 22), ("in 1843", 19)), question("b", ("Oslo", 0))
    data = read_squad(written(tmp_path, article(first), article(other, text="Oslo.", title="")))
    assert data.documents == (
        CorpusDocument(document="0001-001", title="Ada Lovelace", text=TEXT),
        CorpusDocument(document="0002-001", title="", text="Oslo."),
    )
    case = data.cases[0]
    assert (case.case_id, case.question, case.answers) == ("a", "Question a?", ("1843", "in 1843"))
    assert case.needs == (
        Need(
            alternatives=(
                Gold(document="0001-001", quote="1843", start=22),
                Gold(document="0001-001", quote="in 1843", start=19),
            )
        ),
    )
    assert (data.name, data.split, data.warnings) == ("own", "", ())
    assert data.facts["version"] == "2.0"


def test_the_language_is_at_the_end_of_the_name(tmp_path: Path) -> None:
    path = written(tmp_path, article(question("a", ("1843", 22))), name="xquad.de.json")
    data = read_squad(path)
    assert (data.name, data.documents[0].language) == ("xquad.de", "de")
    assert read_squad(path, corpus=False).documents == ()


def test_what_is_impossible_is_not_answered_by_the_documents(tmp_path: Path) -> None:
    record = question("a", is_impossible=True, plausible_answers=[{"text": "1843", "answer_start": 22}])
    [case] = read_squad(written(tmp_path, article(record))).cases
    assert (case.answerable, case.needs, case.answers) == (False, (), ())


def test_answers_and_paragraphs_that_come_again_are_one(tmp_path: Path) -> None:
    same = question("a", ("1843", 22), ("1843", 22), (" 1843", 21))
    data = read_squad(written(tmp_path, article(same), article(question("b", ("1833", 47)))))
    assert len(data.documents) == 1
    a, b = data.cases
    assert a.answers == ("1843",)
    assert [gold.start for gold in a.needs[0].alternatives] == [22, 21]
    assert b.needs[0].alternatives[0].document == "0001-001"
    assert data.warnings == ("Paragraphs that come again are one document (1).",)


@pytest.mark.parametrize(("said", "found"), [(0, 0), (5, 0), (20, 28), (99, 28), (-4, 0)])
def test_a_broken_place_is_looked_up_near_where_it_was_said_to_be(
    tmp_path: Path, said: int, found: int
) -> None:
    data = read_squad(written(tmp_path, article(question("a", ("Ada", said)))))
    assert data.cases[0].needs[0].alternatives == (Gold(document="0001-001", quote="Ada", start=found),)
    assert bool(data.warnings) == (said != found)


def test_an_answer_that_is_nowhere_leaves_the_paragraph(tmp_path: Path) -> None:
    data = read_squad(written(tmp_path, article(question("a", ("1900", 3)), question("b"))))
    whole = (Need(alternatives=(Gold(document="0001-001"),)),)
    assert [case.needs for case in data.cases] == [whole, whole]
    assert data.cases[0].answers == ("1900",)
    assert len(data.warnings) == 2


def test_a_question_that_comes_again_is_left_out(tmp_path: Path) -> None:
    same = question("a", ("1843", 22))
    data = read_squad(written(tmp_path, article(same, same)))
    assert len(data.cases) == 1
    assert "left out (1)" in data.warnings[0]


@pytest.mark.parametrize(
    ("articles", "message"),
    [
        ([], "holds no questions"),
        (["x"], "article 1: 'x' is no object"),
        ([{"title": "a"}], "article 1: 'paragraphs' is None, not a list"),
        ([article({"id": "a"})], "article 1, paragraph 1, question 1: 'answers' is None"),
        ([article(text=" ")], "article 1, paragraph 1: 'context' is ' '"),
        ([article({**question("a", ("1843", 22)), "id": None})], "'id' is None"),
        ([article(question("a", is_impossible="yes"))], "'is_impossible' is 'yes'"),
        ([article({**question("a"), "answers": [{"text": "Ada"}]})], "'answer_start' is None"),
        ([article(question("a", ("Ada", 0)), question("a", ("1843", 22)))], "the id 'a' is there already"),
    ],
)
def test_what_is_not_of_that_form_is_named_with_its_place(
    tmp_path: Path, articles: list[Any], message: str
) -> None:
    with pytest.raises(SourceError, match=message):
        read_squad(written(tmp_path, *articles))


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"rows": []}', b"\xff", b"[" * 100_000])
def test_a_file_of_another_form_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "own.json").write_bytes(content)
    with pytest.raises(SourceError, match="layout of SQuAD"):
        read_squad(tmp_path / "own.json")
