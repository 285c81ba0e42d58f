"""Question files that are written: they read as what was written, or are not written."""

from pathlib import Path
from typing import Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from refdesk.context import Turn
from refdesk.errors import InputError
from refdesk.evaluation.datasets.casefile import read_cases, write_cases
from refdesk.evaluation.datasets.cases import Case, CorpusDocument, DataSet, Gold, Need

texts = st.text(min_size=1, max_size=40)
words = st.one_of(texts, st.sampled_from(["no", "1e5", "12:30", "~", "=", "a\nb", " x ", "- a", "'", "\x85"]))
words = words.filter(lambda text: bool(text.strip()))
golds = st.builds(
    lambda document, quote, start: Gold(document=document, quote=quote, start=start if quote else None),
    words,
    st.one_of(st.just(""), words),
    st.one_of(st.none(), st.integers(0, 10**6)),
)
needs = st.builds(
    lambda alternatives, grade: Need(alternatives=tuple(alternatives), grade=grade),
    st.lists(golds, min_size=1, max_size=3),
    st.integers(1, 3),
)
roles: list[Literal["user", "assistant"]] = ["user", "assistant"]
turns = st.builds(Turn, st.sampled_from(roles), words)


@st.composite
def cases(draw: st.DrawFn, name: str) -> Case:
    known = draw(st.booleans())
    return Case(
        case_id=name,
        question=draw(words),
        needs=tuple(draw(st.lists(needs, max_size=3))) if known else (),
        answers=tuple(draw(st.lists(words, max_size=3))) if known else (),
        answerable=known,
        tags=tuple(draw(st.lists(words, max_size=2))),
        history=tuple(draw(st.lists(turns, max_size=2))),
    )


@st.composite
def data_sets(draw: st.DrawFn) -> DataSet:
    names = draw(st.lists(words, min_size=1, max_size=3, unique=True))
    own = draw(st.lists(words, max_size=2, unique=True))
    documents = [
        CorpusDocument(document=one, title=draw(words), text=draw(st.text(max_size=60)), language="de")
        for one in own
    ]
    return DataSet(
        name=draw(words),
        split=draw(st.one_of(st.just(""), words)),
        cases=tuple(draw(cases(name)) for name in names),
        documents=tuple(documents),
    )


@pytest.mark.parametrize("ending", [".yaml", ".jsonl"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None)
@given(data=data_sets())
def test_what_is_written_reads_as_it_was(tmp_path: Path, ending: str, data: DataSet) -> None:
    path = tmp_path / f"own{ending}"
    write_cases(path, data)
    again = read_cases(path)
    assert (again.name, again.split) == (data.name, data.split)
    assert (again.cases, again.documents) == (data.cases, data.documents)
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


CASE = Case(case_id="1", question="Why?")


@pytest.mark.parametrize(
    ("name", "case", "message"),
    [
        ("q.txt", CASE, r"End it in \.yaml, \.yml, \.jsonl"),
        ("gone/q.yaml", CASE, "Cannot write"),
        ("q.yaml", Case(case_id="1", question=" "), "'question' is empty"),
        ("q.jsonl", Case(case_id="1", question="\ud800"), "no such form"),
        (
            "q.yaml",
            Case(case_id="1", question="x", answers=("a",), answerable=False),
            "off topic has 'answer'",
        ),
        ("q.yaml", Case(case_id="1", question="x", needs=(Need(alternatives=()),)), "alternatives are"),
        (
            "q.jsonl",
            Case(case_id="1", question="x", needs=(Need(alternatives=(Gold(document="a", start=1),)),)),
            "'start' without a 'quote'",
        ),
    ],
)
def test_what_the_form_cannot_hold_is_not_written(
    tmp_path: Path, name: str, case: Case, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        write_cases(tmp_path / name, DataSet(name="own", cases=(case,)))
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_there_stays_where_writing_fails(tmp_path: Path) -> None:
    path = tmp_path / "questions.yaml"
    path.write_text("- {id: 1, question: Why, answer: So.}\n")
    with pytest.raises(InputError):
        write_cases(path, DataSet(name="own", cases=(CASE, CASE)))
    assert len(read_cases(path).cases) == 1
