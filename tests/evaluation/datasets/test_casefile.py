"""Question files: what they hold, and that all that is wrong with them is said at once."""

import re
from pathlib import Path

import pytest

from refdesk.context import Turn
from refdesk.errors import SourceError
from refdesk.evaluation.datasets.casefile import read_cases
from refdesk.evaluation.datasets.cases import Case, CorpusDocument, Gold, Need

FULL = """
name: handbook
split: dev
documents:
  - {id: leave.md, title: Leave, text: Thirty days of leave., language: en}
  - {id: travel.md, text: Trains first.}
questions:
  - id: one
    question: How many days of leave?
    expected: {document: leave.md, quote: Thirty days}
    answer: Thirty.
    tags: [leave, numbers]
  - id: either
    question: What do I take?
    expected: [travel.md, {document: leave.md, quote: leave, start: 15}]
    answers: [The train., A train.]
  - id: both
    question: Leave and trains?
    expected:
      all_of:
        - leave.md
        - [travel.md, other.md]
        - {document: third.md, grade: 2}
        - {any_of: [a, b], grade: 3}
  - id: off
    question: Who won the cup?
    off_topic: true
  - id: later
    question: And a year?
    answer: 365
    conversation:
      - {role: user, text: How long is a day}
      - {role: assistant, text: A day.}
"""


def written(folder: Path, text: str, name: str = "questions.yaml") -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def document(name: str) -> Gold:
    return Gold(document=name)


def test_all_of_the_form_is_read(tmp_path: Path) -> None:
    data = read_cases(written(tmp_path, FULL))
    one, either, both, off, later = data.cases
    assert (data.name, data.split, data.warnings) == ("handbook", "dev", ())
    assert data.documents == (
        CorpusDocument(document="leave.md", title="Leave", text="Thirty days of leave.", language="en"),
        CorpusDocument(document="travel.md", title="", text="Trains first."),
    )
    assert one == Case(
        case_id="one",
        question="How many days of leave?",
        needs=(Need(alternatives=(Gold(document="leave.md", quote="Thirty days"),)),),
        answers=("Thirty.",),
        tags=("leave", "numbers"),
    )
    [need] = either.needs
    assert need.alternatives == (document("travel.md"), Gold(document="leave.md", quote="leave", start=15))
    assert either.answers == ("The train.", "A train.")
    assert both.needs == (
        Need(alternatives=(document("leave.md"),)),
        Need(alternatives=(document("travel.md"), document("other.md"))),
        Need(alternatives=(document("third.md"),), grade=2),
        Need(alternatives=(document("a"), document("b")), grade=3),
    )
    assert (off.answerable, off.needs) == (False, ())
    assert later.history == (Turn("user", "How long is a day"), Turn("assistant", "A day."))
    assert later.answers == ("365",)


def test_a_list_of_questions_is_named_by_its_file(tmp_path: Path) -> None:
    path = written(tmp_path, "- {id: 7, question: Why, expected: 12}\n", "own.yml")
    data = read_cases(path)
    [case] = data.cases
    assert (data.name, data.split, data.documents) == ("own", "", ())
    assert (case.case_id, case.needs[0].alternatives) == ("7", (document("12"),))


def test_lines_of_json_may_begin_with_what_stands_before_the_questions(tmp_path: Path) -> None:
    lines = (
        '\ufeff{"name": "handbook", "documents": [{"id": "a", "text": ""}]}\r\n\r\n'
        '{"id": "1", "question": "Why\u2028so?", "expected": "a"}\r\n'
    )
    path = tmp_path / "q.jsonl"
    path.write_bytes(lines.encode())
    data = read_cases(path)
    assert (data.name, len(data.documents), data.cases[0].question) == ("handbook", 1, "Why\u2028so?")


def test_documents_may_be_in_a_file_beside_it(tmp_path: Path) -> None:
    written(tmp_path, '{"_id": "a", "title": "A", "text": "About a."}\n', "corpus.jsonl")
    path = written(tmp_path, "documents: corpus.jsonl\nquestions: [{id: 1, question: Why, expected: a}]\n")
    data = read_cases(path)
    assert data.documents == (CorpusDocument(document="a", title="A", text="About a."),)
    assert read_cases(path, corpus=False).documents == ()


def test_without_its_documents_the_others_need_not_be_there(tmp_path: Path) -> None:
    path = written(tmp_path, "documents: gone.jsonl\nquestions: [{id: 1, question: Why, expected: a}]\n")
    assert len(read_cases(path, corpus=False).cases) == 1
    with pytest.raises(SourceError, match=r"gone\.jsonl"):
        read_cases(path)


def test_questions_of_which_nothing_is_known_are_warned_of(tmp_path: Path) -> None:
    path = written(tmp_path, "- {id: 1, question: Why}\n- {id: 2, question: How, answer: So.}\n")
    [warning] = read_cases(path).warnings
    assert "1 of 2 questions: 1" in warning


BROKEN = """
name: 3.5
questoins: []
questions:
  - {id: a, question: Why, expected: x}
  - {id: a, question: '  ', expected: [], tags: [1.5]}
  - {question: Why, expected: {document: x, quot: y}}
  - {id: c, question: Why, expected: {all_of: []}, off_topic: yes}
  - {id: d, question: Why, expected: x, off_topic: true}
  - {id: e, question: Why, expected: {document: x, start: 3}, answer: A, answers: [B]}
  - {id: f, question: Why, expected: {document: x, grade: 0}}
  - {id: g, question: Why, answer: true, conversation: [{role: system, text: x}, {text: y}]}
  - just words
  - {id: h, question: Why, expected: {quote: x, start: -1, document: [a]}}
  - {id: i, question: Why, expected: [[a]]}
  - {id: j, question: Why, expected: }
"""
FAULTS = (
    "line 2: 'name' is 3.5, not a text.",
    "line 3: The file has the unknown key 'questoins'. Did you mean 'questions'?",
    "line 6: 'question' is empty.",
    "line 6: The alternatives are []. Name documents; where they do not answer the question, write",
    "line 6: 'tags' is 1.5, not a text. Put it in quotes.",
    "line 6: The id 'a' is there already, in line 5.",
    "line 7: What is expected has the unknown key 'quot'. Did you mean 'quote'?",
    "line 7: 'id' is missing.",
    "line 8: 'all_of' is [], not a list",
    "line 8: off_topic is 'yes'. Allowed are true, false.",
    "line 9: A question off topic has 'expected'.",
    "line 10: There is a 'start' without a 'quote'.",
    "line 10: There are both 'answer' and 'answers'.",
    "line 11: 'grade' is 0. Give a whole number from 1 on.",
    "line 12: 'answer' is True, not a text.",
    "line 12: 'role' is 'system'. Allowed are user, assistant.",
    "line 12: 'role' is missing.",
    "line 13: The question is 'just words'.",
    "line 14: 'start' is -1.",
    "line 14: 'document' is ['a'], not a text.",
    "line 15: What is expected is ['a'].",
    "line 16: What is expected is None.",
)


def test_all_that_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        read_cases(written(tmp_path, BROKEN))
    said = str(caught.value)
    for fault in FAULTS:
        assert fault in said
    numbers = [int(number) for number in re.findall(r"\n- line (\d+)", said)]
    assert numbers == sorted(numbers)


def test_a_long_list_of_faults_is_cut(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"has 40 problems(?s:.*)- and 10 more$"):
        read_cases(written(tmp_path, "".join(f"- {{id: {n}}}\n" for n in range(40))))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("q.yaml", "", "holds no questions|The file is None"),
        ("q.yaml", "questions: []", "holds no questions"),
        ("q.yaml", "questions: {a: b}", "'questions' is {'a': 'b'}, not a list"),
        ("q.yaml", "- {id: &a x, question: *a}", "uses an alias"),
        ("q.yaml", "- {id: 1, id: 2, question: Why}", "line 1: The key 'id' is there twice"),
        ("q.yaml", "- !!python/object:os.system {id: 1}", "line 1: "),
        ("q.yaml", "- {id: 1\n- {", "It is no YAML"),
        ("q.yaml", "documents: {a: b}\nquestions: [{id: 1, question: x}]", "line 1: 'documents' is"),
        ("q.yaml", "documents: .\nquestions: [{id: 1, question: x}]", "is the folder"),
        (
            "q.yaml",
            "documents: [{id: a, text: x}, {id: a, text: y}]\nquestions: [{id: 1, question: x}]",
            "document 'a' is there already",
        ),
        ("q.yaml", "documents: [{id: a, title: 1}]\nquestions: [{id: 1, question: x}]", "'title' is 1, not"),
        ("q.jsonl", "\n", "holds no questions"),
        ("q.jsonl", '{"id": "1", "question": "x"}\n{"id"', "line 2: It is no JSON"),
        ("q.jsonl", '{"id": "1", "id": "2", "question": "x"}', "the key 'id' is there twice"),
        ("q.jsonl", '["id"]', "line 1: The question is"),
        ("q.jsonl", '{"id": "1", "question": "\\ud800"}', "no Unicode text"),
        ("q.jsonl", "[" * 100 + "]" * 100, "nests deeper"),
        ("q.jsonl", "[" * 100_000, "It is no JSON"),
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        read_cases(written(tmp_path, text, name))


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "q.yaml"
    path.write_bytes(b"\xff\xfe\xff")
    with pytest.raises(SourceError, match="Cannot read the question file"):
        read_cases(path)
