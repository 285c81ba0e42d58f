"""Data sets of any layout: recognised, drawn from, brought into a library, and checked against it."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import refdesk
from refdesk.context import Turn
from refdesk.errors import InputError, NotFound, SourceError
from refdesk.evaluation.datasets.beir import read_beir
from refdesk.evaluation.datasets.cases import Case, CorpusDocument, DataSet, Gold, Need
from refdesk.evaluation.datasets.dataoverview import overview
from refdesk.evaluation.datasets.digests import data_digest
from refdesk.evaluation.datasets.goldcheck import lost_gold, lost_in_words, quoted_documents, stored_gold
from refdesk.evaluation.datasets.reading import ingest_data, read_data, sampled, whole_documents
from refdesk.evaluation.searching.retrieval import ingest_corpus
from refdesk.events import IngestEvent
from refdesk.testing import HashingEmbedder

pytestmark = pytest.mark.anyio

SQUAD = {
    "data": [
        {
            "title": "Leave",
            "paragraphs": [
                {
                    "context": "Thirty\xa0days of leave.",
                    "qas": [
                        {
                            "id": "a",
                            "question": "How many?",
                            "answers": [{"text": "Thirty\xa0days", "answer_start": 0}],
                        },
                        {"id": "b", "question": "Who?", "answers": [], "is_impossible": True},
                    ],
                }
            ],
        }
    ]
}
QUESTIONS = """
split: dev
documents: [{id: leave, text: Thirty days of leave.}]
questions:
  - {id: a, question: How many, expected: {document: leave, quote: Thirty days}, tags: [x]}
  - {id: b, question: How many, expected: {document: leave, quote: Ten days}, tags: [x, y]}
  - {id: c, question: How many, expected: [leave, gone]}
"""


@pytest.fixture
def squad(tmp_path: Path) -> Path:
    path = tmp_path / "leave.json"
    path.write_text(json.dumps(SQUAD))
    return path


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "own.yaml"
    path.write_text(QUESTIONS)
    return path


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[refdesk.Desk]:
    async with refdesk.aopen(tmp_path / "library", embedder=HashingEmbedder()) as desk:
        yield desk


def many(count: int) -> DataSet:
    cases = [
        Case(case_id=f"q{n}", question="Why?", tags=("even",) if n % 2 == 0 else ("odd", "all")[n % 3 :])
        for n in range(count)
    ]
    return DataSet(name="many", cases=tuple(cases), digest=data_digest(cases, ()))


def test_layouts_are_recognised(folder: Path, squad: Path, questions: Path) -> None:
    readers = [read_data(one).facts["reader"] for one in (folder, str(squad), questions)]
    assert readers == ["beir", "squad", "questions"]
    assert read_data(folder, corpus=False).documents == ()
    assert read_data(squad, corpus=False).documents == ()
    assert read_data(questions, corpus=False).documents == ()


def test_gold_that_is_not_in_the_documents_is_warned_of(questions: Path) -> None:
    assert read_data(questions).warnings == (
        "1 gold document is missing, and will not be found: gone.",
        "1 gold quote is not in the document, and will not be judged: 'Ten days' (b).",
    )
    assert read_data(questions, corpus=False).warnings == ()


def test_a_split_is_that_of_the_file(questions: Path, squad: Path, folder: Path) -> None:
    assert read_data(questions, split="dev").split == "dev"
    with pytest.raises(SourceError, match=r"no split 'test'\. Its split is 'dev'"):
        read_data(questions, split="test")
    with pytest.raises(SourceError, match=r"no split 'test'\. Name none"):
        read_data(squad, split="test")
    with pytest.raises(SourceError, match=r"Splits are test"):
        read_data(folder, split="dev")


def test_what_is_of_no_layout_is_refused(tmp_path: Path, squad: Path) -> None:
    with pytest.raises(SourceError, match=r"There is no data set .*Allowed are a folder with queries"):
        read_data(tmp_path / "gone")
    with pytest.raises(SourceError, match=r"Did you mean one of its files: leave\.json\? Allowed are"):
        read_data(tmp_path)
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(SourceError, match=r"ends in '\.txt'"):
        read_data(tmp_path / "notes.txt")


@given(st.integers(1, 30), st.one_of(st.none(), st.integers(1, 40)), st.integers())
def test_drawing_keeps_the_order_and_is_repeatable(count: int, most: int | None, seed: int) -> None:
    data = many(count)
    drawn = sampled(data, most, seed)
    assert drawn == sampled(data, most, seed)
    assert len(drawn.cases) == min(count, most or count)
    assert list(drawn.cases) == [case for case in data.cases if case in drawn.cases]
    assert (drawn is data) == (len(drawn.cases) == count)
    assert (drawn.digest == data.digest) == (drawn is data)


def test_other_seeds_draw_others() -> None:
    assert len({sampled(many(50), 10, seed).digest for seed in range(20)}) > 15


def test_cases_are_chosen_by_any_of_some_tags() -> None:
    drawn = sampled(many(12), None, 0, tags=["even", "all"])
    assert all({"even", "all"} & set(case.tags) for case in drawn.cases)
    assert drawn.facts["of"] == 12
    with pytest.raises(InputError, match=r"No case of 'many' has the tag 'evn'\. Its tags are all, even"):
        sampled(many(12), None, 0, tags=["evn"])
    with pytest.raises(InputError, match="Cannot draw 0 cases"):
        sampled(many(12), 0, 0)


def test_documents_may_stand_for_their_spans() -> None:
    spans = (Gold(document="a", quote="x"), Gold(document="a", quote="y"), Gold(document="b"))
    data = DataSet(name="own", cases=(replace(BASE, needs=(Need(alternatives=spans, grade=2),)),), digest="x")
    whole = whole_documents(data)
    expected = Need(alternatives=(Gold(document="a"), Gold(document="b")), grade=2)
    assert whole.cases == (replace(BASE, needs=(expected,)),)
    assert whole.digest == data_digest(whole.cases, ())


BASE = Case(case_id="q", question="Why?", needs=(Need(alternatives=(Gold(document="a", quote="x"),)),))
TEXT = CorpusDocument(document="a", title="A", text="x")


@pytest.mark.parametrize(
    "case",
    [
        replace(BASE, case_id="r"),
        replace(BASE, question="Who?"),
        replace(BASE, needs=()),
        replace(BASE, needs=(Need(alternatives=(Gold(document="a", quote="x", start=0),)),)),
        replace(BASE, needs=(Need(alternatives=BASE.needs[0].alternatives, grade=2),)),
        replace(BASE, answers=("x",)),
        replace(BASE, answerable=False),
        replace(BASE, history=(Turn("user", "x"),)),
    ],
)
def test_all_that_matters_of_a_question_is_in_the_digest(case: Case) -> None:
    assert data_digest([case], [TEXT]) != data_digest([BASE], [TEXT])


def test_documents_are_in_the_digest_and_tags_and_order_are_not() -> None:
    other = replace(BASE, case_id="r")
    digest = data_digest([BASE, other], [TEXT])
    assert data_digest([other, replace(BASE, tags=("x",))], [TEXT]) == digest
    assert data_digest([BASE, other], [replace(TEXT, text="y")]) != digest
    assert data_digest([BASE, other], []) != digest


async def test_documents_are_brought_into_a_collection_of_their_own(desk: refdesk.Desk, squad: Path) -> None:
    data, events = read_data(squad), list[IngestEvent]()
    summary = await ingest_data(desk, data, collection="own", on_event=events.append)
    assert summary is not None
    assert (summary.documents, len(events) > 0) == (1, True)
    stored = await desk.document("0001-001", collections="own")
    assert (stored.title, stored.text) == ("Leave", "Thirty days of leave.")
    again = await ingest_data(desk, data, collection="own")
    assert again is not None
    assert again.embedded == 0


async def test_other_documents_in_the_collection_are_refused(desk: refdesk.Desk, squad: Path) -> None:
    await desk.ingest_text("Other.", source_id="other", collection="own")
    with pytest.raises(InputError, match="'own' holds 1 documents that are not of 'leave'"):
        await ingest_data(desk, read_data(squad), collection="own")


async def test_data_without_documents_brings_nothing(
    desk: refdesk.Desk, questions: Path, tmp_path: Path
) -> None:
    assert await ingest_data(desk, read_data(questions, corpus=False), collection="own") is None
    assert not (tmp_path / "library").exists()


async def test_both_ways_to_bring_a_corpus_bring_the_same(desk: refdesk.Desk, folder: Path) -> None:
    await ingest_corpus(desk, read_beir(folder), collection="own")
    summary = await ingest_data(desk, read_data(folder), collection="own")
    assert summary is not None
    assert summary.embedded == 0


async def test_gold_is_looked_for_in_the_stored_documents(
    desk: refdesk.Desk, squad: Path, questions: Path
) -> None:
    await ingest_data(desk, read_data(squad), collection="own")
    seen: list[str] = []
    own = await stored_gold(desk, read_data(squad), collection="own", on_text=seen.append)
    assert own == {"0001-001": "Thirty days of leave."}
    assert seen == ["0001-001"]
    assert lost_gold(read_data(squad).cases, own) == ()

    other = read_data(questions)
    lost = lost_gold(other.cases, await stored_gold(desk, other, collection="own"))
    assert [(one.case_id, one.gold.document, one.missing) for one in lost] == [
        ("a", "leave", True),
        ("b", "leave", True),
        ("c", "leave", True),
        ("c", "gone", True),
    ]
    assert list(lost_in_words(lost)) == ["2 gold documents are missing, and will not be found: leave, gone."]
    assert quoted_documents(other) == ("leave",)
    with pytest.raises(NotFound):
        await stored_gold(desk, other, collection="nowhere")


def test_a_data_set_is_counted(questions: Path, squad: Path) -> None:
    counts = overview(read_data(questions)).to_json()
    names = ("cases", "answerable", "with_gold", "alternatives", "gold_documents", "gold_spans", "documents")
    assert [counts[name] for name in names] == [3, 3, 3, 1, 2, 2, 1]
    assert counts["tags"] == {"x": 2, "y": 1}
    assert (overview(read_data(squad)).answerable, overview(read_data(squad)).with_answers) == (1, 1)
