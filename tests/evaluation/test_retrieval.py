import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from refdesk.documents import Hit, Mode
from refdesk.errors import StoreError
from refdesk.evaluation.beir import read_beir
from refdesk.evaluation.report import WAYS, Way
from refdesk.evaluation.retrieval import evaluate_retrieval
from refdesk.testing.rerankers import sample_hit

pytestmark = pytest.mark.anyio

FOUND = {
    "How many days of leave?": ("library", "leave", "library"),
    "Do Erlang processes share memory?": ("library",),
}


class CannedSearch:
    """Finds what it was told to, and for reranked searches the reverse."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Mode, int, bool]] = []

    async def __call__(self, question: str, mode: Mode, top_k: int, rerank: bool) -> Sequence[Hit]:
        self.asked.append((question, mode, top_k, rerank))
        names = FOUND[question][::-1] if rerank else FOUND[question]
        return [sample_hit(f"{name} {at}", source_id=name) for at, name in enumerate(names)]


async def test_every_query_is_searched_in_every_way(folder: Path) -> None:
    search, seen = CannedSearch(), []
    report = await evaluate_retrieval(
        read_beir(folder), search, top_k=7, on_query=lambda way, query: seen.append((way.name, query))
    )
    assert [way.name for way in report.ways] == ["keyword", "vector", "hybrid", "hybrid+rerank"]
    assert search.asked == [(text, way.mode, 7, way.rerank) for way in WAYS for text in FOUND]
    assert len(seen) == 8
    assert (report.data, report.documents, report.queries, report.top_k) == ("tiny set", 4, 2, 7)


async def test_scores_are_of_documents(folder: Path) -> None:
    report = await evaluate_retrieval(read_beir(folder), CannedSearch(), ways=[Way("hybrid")])
    way = report.ways[0]
    first, second = way.queries
    assert first.documents == ("library", "leave")
    assert (first.scores["Recall@2"], first.scores["MRR@10"]) == (1.0, 1.0)
    assert second.scores["Recall@100"] == 0.0
    assert way.scores["Recall@2"] == 0.5
    assert 0 <= way.p50 <= way.p95


async def test_a_report_becomes_json(folder: Path) -> None:
    report = await evaluate_retrieval(read_beir(folder), CannedSearch(), ways=[Way("hybrid", rerank=True)])
    short, long = report.to_json(), report.to_json(per_query=True)
    assert json.loads(json.dumps(short))["ways"][0]["name"] == "hybrid+rerank"
    assert "queries" not in short["ways"][0]
    assert [one["query_id"] for one in long["ways"][0]["queries"]] == ["q1", "q2"]
    json.dumps(long)


async def test_judged_documents_that_are_not_there_are_warned_of(folder: Path) -> None:
    (folder / "qrels" / "test.tsv").write_text("q1\tgone\t1\nq1\tleave\t1\n")
    report = await evaluate_retrieval(read_beir(folder), CannedSearch())
    assert "lacks 1 judged" in report.warnings[0]


async def test_a_failing_search_ends_the_run(folder: Path) -> None:
    async def failing(question: str, mode: Mode, top_k: int, rerank: bool) -> Sequence[Hit]:
        raise StoreError("The store is away.")

    with pytest.raises(StoreError, match="away"):
        await evaluate_retrieval(read_beir(folder), failing)
