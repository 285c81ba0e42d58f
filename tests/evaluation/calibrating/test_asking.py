"""Questions that are asked of a real library, as its pipeline asks them."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.evaluation.conftest import asked

import refdesk
from refdesk.documents import Hit
from refdesk.errors import InputError, NotFound, SourceError, StepError
from refdesk.evaluation.calibrating.asking import Asked, Found, ask_all, desk_ask, reranker_of, sample
from refdesk.evaluation.datasets.beir import read_beir, read_queries
from refdesk.evaluation.searching.retrieval import ingest_corpus
from refdesk.steps import Rerank
from refdesk.testing import HashingEmbedder

pytestmark = pytest.mark.anyio
OFF = {"o1": "Who won the cup?"}


async def test_questions_score_as_in_the_pipeline(folder: Path, tmp_path: Path) -> None:
    data = read_beir(folder)
    async with refdesk.aopen(tmp_path / "lib", embedder=HashingEmbedder(), evidence=1) as desk:
        await ingest_corpus(desk, data, collection="tiny")
        rows = await ask_all(data, OFF, desk_ask(desk, collection="tiny"))
        pipeline = refdesk.Pipeline((refdesk.steps.Search(), Rerank(), refdesk.steps.Answer()))
        context = await desk.run(pipeline, data.queries["q1"], collections="tiny")
    assert [(one.query_id, one.on_topic, one.right) for one in rows] == [
        ("q1", True, True),
        ("q2", True, True),
        ("o1", False, False),
    ]
    assert rows[0].score == max(context.rerank_scores.values())
    assert rows[0].documents == ("leave",)
    assert {one.reranker for one in rows} == {context.reranker}
    assert rows[2].score is not None
    assert rows[0].score > rows[2].score


async def test_a_reranker_of_ones_own_is_asked(folder: Path, tmp_path: Path) -> None:
    def last(question: str, hits: Sequence[Hit]) -> list[int]:
        return [sum(hit.source_id == "library" for hit in [one]) for one in hits]

    data = read_beir(folder)
    async with refdesk.aopen(
        tmp_path / "lib", embedder=HashingEmbedder(), reranker="none", evidence=1
    ) as desk:
        await ingest_corpus(desk, data, collection="tiny")
        ask = desk_ask(desk, collection="tiny", rerank=Rerank(reranker=last, on_error="stop"))
        found = await ask("Do Erlang processes share memory?")
        assert (found.score, found.documents) == (1.0, ("library",))
        with pytest.raises(InputError, match="no reranker scores"):
            await desk_ask(desk, collection="tiny")("leave")
        with pytest.raises(NotFound):
            await desk_ask(desk, collection="tny")("leave")
        with pytest.raises(StepError):
            await desk_ask(
                desk, collection="tiny", rerank=Rerank(reranker=lambda question, hits: "x", on_error="stop")
            )("leave")


async def test_an_empty_collection_scores_nothing(tmp_path: Path) -> None:
    async with refdesk.aopen(tmp_path / "lib", embedder=HashingEmbedder()) as desk:
        await desk.create_collection("empty")
        found = await desk_ask(desk, collection="empty")("Anything?")
    assert (found.score, found.documents, found.reranker) == (None, (), "")


async def test_what_is_known_is_not_asked_again(folder: Path) -> None:
    questions: list[str] = []
    told: list[Asked] = []

    async def ask(question: str) -> Found:
        questions.append(question)
        return Found(reranker="mine", score=0.5, documents=("erlang", "leave"))

    data = read_beir(folder)
    known = asked(0.9, name="q1")
    changed = asked(0.9, name="q2")
    same = replace(known, question=data.queries["q1"])
    rows = await ask_all(
        data, {}, ask, known={(True, "q1"): same, (True, "q2"): changed}, on_asked=told.append
    )
    assert questions == [data.queries["q2"]]
    assert rows == tuple(told)
    assert rows[0] is same
    assert (rows[1].score, rows[1].right) == (0.5, True)


async def test_evidence_is_right_by_its_grade(folder: Path) -> None:
    (folder / "qrels" / "test.tsv").write_text("q1\tleave\t1\nq1\tlibrary\t0\n")

    async def ask(question: str) -> Found:
        return Found(reranker="mine", score=0.5, documents=("library",))

    [row] = await ask_all(read_beir(folder), {}, ask)
    assert not row.right


def test_samples_are_drawn_alike_and_stay_in_order() -> None:
    questions = {f"q{number}": str(number) for number in range(100)}
    drawn = sample(questions, 10, 7)
    assert drawn == sample(dict(reversed(questions.items())), 10, 7)
    assert list(drawn) == [name for name in questions if name in drawn]
    assert len(drawn) == 10
    assert sample(questions, 10, 8) != drawn
    assert sample(questions, None, 7) == sample(questions, 200, 7) == questions


def test_the_one_reranker() -> None:
    assert reranker_of([asked(None), asked(0.1)]) == "mine"


def test_questions_come_from_folders_and_files(folder: Path, tmp_path: Path) -> None:
    assert len(read_queries(folder)) == len(read_queries(folder / "queries.jsonl")) == 3
    text = tmp_path / "off.txt"
    text.write_text("Who won?\n\n  What is the weather?  \n", "utf-8")
    assert list(read_queries(text).values()) == ["Who won?", "What is the weather?"]
    (tmp_path / "empty.txt").write_text("\n")
    for missing in (tmp_path / "empty.txt", tmp_path / "none.txt", tmp_path):
        with pytest.raises(SourceError):
            read_queries(missing)


def test_questions_about_what_is_in_a_library_need_no_corpus(folder: Path) -> None:
    (folder / "corpus.jsonl").unlink()
    data = read_beir(folder, corpus=False)
    assert (data.documents, data.unknown_documents, list(data.queries)) == ((), 0, ["q1", "q2"])
    with pytest.raises(SourceError):
        read_beir(folder)
